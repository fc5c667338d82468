"""Help: every command and option explains itself, and nothing heavy is loaded for it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from kbsite.cli.app import COMMANDS, app, load
from tests.programs import run_program

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "django",
    "celery",
    "psycopg",
    "uvicorn",
    "torch",
    "sentence_transformers",
    "keybert",
    "yt_dlp",
    "youtube_transcript_api",
    "mcp",
    "requests",
    "environ",
)
FROM_TYPER = {"install_completion", "show_completion", "help"}


def every_command() -> Iterator[tuple[str, Any]]:
    """Walk the tree of commands."""

    def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield path, command
        for name, sub in getattr(command, "commands", {}).items():
            yield from walk(f"{path} {name}", sub)

    yield "kb", typer.main.get_command(app)
    for name in COMMANDS:
        yield from walk(f"kb {name}", load(name))


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(path, command, id=path) for path, command in every_command()]
)
def test_a_command_and_its_options_have_help(path: str, command: Any) -> None:
    assert command.help, path
    silent = [
        parameter.name
        for parameter in command.params
        if parameter.name not in FROM_TYPER and not getattr(parameter, "help", None)
    ]
    assert not silent


@pytest.mark.parametrize("name", COMMANDS)
def test_only_the_program_itself_offers_to_install_completion(name: str) -> None:
    assert "install_completion" not in {parameter.name for parameter in load(name).params}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_shows_the_first_line_of_a_command_s_help(name: str) -> None:
    assert COMMANDS[name].help == load(name).help.partition("\n")[0]


@pytest.mark.parametrize("path", [path for path, _ in every_command()])
def test_help_is_shown(path: str) -> None:
    result = CliRunner().invoke(app, [*path.split()[1:], "--help"], prog_name="kb")
    assert result.exit_code == 0
    assert "Usage:" in result.stdout


@pytest.mark.parametrize(
    ("name", "commands"),
    [("highlights", ["import"]), ("collections", ["add", "delete"]), ("jobs", ["retry"])],
)
def test_a_command_that_lists_says_what_to_type_for_one_that_it_does_not_have(
    name: str, commands: list[str]
) -> None:
    command = load(name)
    result = CliRunner().invoke(app, [name, "list"], prog_name="kb", env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert f"There is no `kb {name} list`. `kb {name}` alone lists" in result.stderr
    assert {*commands} <= command.commands.keys()
    for other in commands:
        assert f"`kb {name} {other}`" in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["no-such-command"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
sys.argv = ["kb", *{arguments!r}]
from kbsite.cli import main
try:
    main()
except SystemExit:
    pass
from kbsite.cli.app import COMMANDS
modules = [f"kbsite.cli.{{entry.target.partition(':')[0]}}" for entry in COMMANDS.values()]
print([name for name in (*{HEAVY!r}, *modules) if name in sys.modules], file=sys.stderr)
"""
    process = run_program(sys.executable, "-c", code)
    assert process.stderr.strip().splitlines()[-1] == "[]"


def test_help_answers_within_half_a_second() -> None:
    command = [sys.executable, "-m", "kbsite.cli", "--help"]
    took = []
    for _ in range(5):
        before = os.times()
        subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=True)
        after = os.times()
        # Seconds of work, not of waiting for a busy machine.
        took.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        if took[-1] < 0.5:
            break
        time.sleep(0.2)
    assert min(took) < 0.5


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [("kb sea", 1, {"search"}), ("kb db ba", 2, {"backup"}), ("kb show --fu", 2, {"--full"})],
)
def test_the_shell_completes_commands_and_options(
    words: str, position: int, expected: set[str]
) -> None:
    completion = {"_KB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(position)}
    process = run_program(
        sys.executable,
        "-c",
        "from kbsite.cli import main; main()",
        environment={**os.environ, **completion},
    )
    assert set(process.stdout.split()) == expected


def test_the_version_is_printed() -> None:
    result = CliRunner().invoke(app, ["--version"], prog_name="kb")
    assert result.stdout.startswith("kb ")
    assert result.exit_code == 0
