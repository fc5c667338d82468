"""What the tests of `kb` may ask for."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kbsite import boot
from kbsite.cli.app import app
from kbsite.library.local import LocalLibrary
from tests.instance import Instance
from tests.makers import caption_json, make_cues
from tests.programs import run_python
from tests.serving import KB
from transcripts.models import Collection


@dataclass(frozen=True)
class Ran:
    """A command's exit code and output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.out)


Kb = Callable[..., Ran]


@pytest.fixture
def kb(db: None, monkeypatch: pytest.MonkeyPatch) -> Kb:
    """Run a command in this process, against the database of the tests."""
    monkeypatch.setenv(
        "COLUMNS", "200"
    )  # the folders of the tests have long names, which tables would wrap
    monkeypatch.setattr(
        boot, "boot", lambda **_: None
    )  # the tests' database runs, and Django is set up
    monkeypatch.setattr(LocalLibrary, "close", lambda _: None)  # and goes on

    return run_here


def run_here(*arguments: object, stdin: str | bytes | None = None, code: int = 0) -> Ran:
    """Run a command in this process."""
    result = CliRunner().invoke(
        app, [str(argument) for argument in arguments], input=stdin, prog_name="kb"
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return Ran(code=result.exit_code, out=result.stdout, err=result.stderr)


@pytest.fixture
def library(db: None) -> Collection:
    """The collection that things go to when none is named."""
    return Collection.objects.default()


def kb_in(instance: Instance, *arguments: str, code: int = 0, stdin: str = "") -> str:
    done = run_python(*KB, *arguments, code=code, environment=instance.environment, stdin=stdin)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Instance, Path]]:
    """A library of two talks, and its backup."""
    folder = tmp_path_factory.mktemp("backup")
    (folder / "captions").mkdir()
    for name in ("one", "two"):
        (folder / "captions" / f"{name}.json").write_bytes(
            caption_json(make_cues(12), id=name, lang="en")
        )
    with Instance(folder / "home") as instance:
        kb_in(instance, "add", str(folder / "captions"))
        kb_in(instance, "db", "backup", str(folder / "library.backup"))
        yield instance, folder / "library.backup"
