"""The wheel works outside the tree, in an environment that holds what it requires and no more."""

import os
import re
import signal
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import cache_from_source
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests import sources
from tests.serving import Serving, until

PACKAGES = ("citations", "kbsite", "transcripts", "templates")
QUESTION = "What is exponential backoff?"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from tracked files alone."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    sources.copy_to(source)
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(out), str(source))
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *build], check=True, cwd=source)
    (made,) = out.glob("cuebase-*.whl")
    return made


@pytest.fixture(scope="module")
def kb(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment with the wheel and the packages of requirements-core.lock,
    which are linked instead of downloaded.
    """
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    (site,) = environment.glob("lib/python*/site-packages")
    for line in (sources.ROOT / "requirements-core.lock").read_text().splitlines():
        link(line.partition("==")[0], site)
    python = environment / "bin" / "python"
    install = ["--python", str(python), "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, env=clean())
    return environment / "bin" / "kb"


def link(name: str, site: Path) -> None:
    """Make an installed distribution's modules visible in another environment, compiled where they
    are: each of its first processes would compile thousands of them.
    """
    installed = distribution(name)
    for file in installed.files or ():
        if ".." in file.parts or "__pycache__" in file.parts:
            continue
        place(Path(str(installed.locate_file(file))), site / file)
        if file.suffix == ".py":
            compiled = Path(cache_from_source(str(installed.locate_file(file))))
            if compiled.exists():
                place(compiled, Path(cache_from_source(str(site / file))))


def place(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(file)


def clean() -> dict[str, str]:
    """The environment without what leads back to the tree."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def served(kb: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """`kb serve` of the environment, in an empty folder, with the built-in model and the sample,
    which is indexed.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        patch.setenv("HOME", str(folder))
        server = Serving(
            folder / "home",
            "--sample",
            program=(str(kb),),
            folder=folder,
            EMBEDDING_PROVIDER="local",
        )
        token = server.json("token", "create", "waiting")["token"]
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:

            def has_indexed() -> bool:
                page = http.get(f"{server.url}/api/v1/sources").json()
                return bool(page["total"] == page["counts"]["ready"] == 5)

            until(has_indexed, seconds=240)
        yield server
        server.end(signal.SIGTERM)


def test_the_wheel_holds_every_file_of_its_packages(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    moved = {"kbsite/cuebase/": "cuebase/", "templates/": "kbsite/templates/"}
    expected = sources.tracked(*PACKAGES)
    for old, new in moved.items():
        expected = [
            f"{new}{name.removeprefix(old)}" if name.startswith(old) else name for name in expected
        ]
    missing = {name for name in expected if name not in held}
    assert missing == {"kbsite/templates", "kbsite/templates/static/.gitkeep"}  # the link; empty
    tops = {name.partition("/")[0] for name in held if ".dist-info/" not in name}
    assert tops == {"citations", "cuebase", "kbsite", "transcripts"}


def test_nothing_in_the_environment_needs_torch(kb: Path) -> None:
    names = ("torch", "transformers", "sklearn", "scipy", "sentence_transformers", "keybert")
    code = f"from importlib.util import find_spec\nprint([n for n in {names} if find_spec(n)])"
    ran = [str(kb.with_name("python")), "-I", "-c", code]
    assert subprocess.check_output(ran, text=True).strip() == "[]"


def test_the_demonstration_runs_from_an_empty_folder(kb: Path, tmp_path: Path) -> None:
    settings = {"YOUTUBE_KB_DATA_DIR": str(tmp_path / "home"), "EMBEDDING_PROVIDER": "fake"}
    environment = {**clean(), **settings, "HOME": str(tmp_path)}
    for name in ("DJANGO_SETTINGS_MODULE", "DATABASE_URL"):
        environment.pop(name, None)
    output = subprocess.check_output(
        [str(kb), "demo"], cwd=tmp_path, env=environment, text=True, timeout=240
    )
    assert "kb show how-bm25-ranks" in output
    assert "a rare word should count more" in output


def test_the_first_journey_goes_from_signing_in_to_a_cited_answer(
    served: Serving, browser: Browser
) -> None:
    page = browser.new_page()
    page.set_default_timeout(30_000)
    page.goto(served.link)
    expect(page.get_by_role("link", name="When a service says no").first).to_be_visible()
    assert page.evaluate("document.styleSheets.length")
    page.goto(f"{served.url}/search/?q=why+should+a+rare+word+count+more")
    expect(page.get_by_text("How BM25 ranks").first).to_be_visible()
    page.goto(f"{served.url}/ask/")
    page.get_by_role("textbox").last.fill(QUESTION)
    page.keyboard.press("Enter")
    # The talk or the textbook, by what is embedded at that moment.
    expect(page.locator(".claim").first).to_contain_text(re.compile("doubling|twice as long"))
    page.close()


def test_mcp_finds_and_quotes(served: Serving) -> None:
    token = served.json("token", "create", "wheel")["token"]
    call = {"name": "search_knowledge_base", "arguments": {"query": QUESTION}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    reply = httpx.post(f"{served.url}/mcp", json=message, headers=headers, timeout=30)
    assert reply.status_code == 200
    assert "When a service says no" in reply.text
