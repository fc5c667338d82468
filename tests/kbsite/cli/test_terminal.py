"""What a terminal shows: advice that can be typed, and a log that people read."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbsite.cli import terminal
from tests.programs import PATIENCE, ROOT, run_program

LOGGED = """
import logging
from kbsite import boot
boot.set_up()
logging.getLogger("kbsite").info("Converting.")
"""


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    terminal._program.cache_clear()
    yield
    terminal._program.cache_clear()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    program = tmp_path / "my venv" / "kb"
    program.parent.mkdir()
    program.touch(mode=0o755)
    return program


def test_advice_names_the_program_as_it_was_called(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/kb", "serve"])
    assert terminal.typed("`kb list` or `kb add`") == "`.venv/bin/kb list` or `.venv/bin/kb add`"
    terminal._program.cache_clear()
    monkeypatch.setattr(sys, "argv", [str(installed), "serve"])
    assert terminal.typed("`kb list`") == f"`'{installed}' list`"


def test_advice_says_kb_where_that_is_on_the_path_or_called_otherwise(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(installed), "serve"])
    monkeypatch.setenv("PATH", str(installed.parent), prepend=os.pathsep)
    assert terminal.typed("`kb list`") == "`kb list`"
    terminal._program.cache_clear()
    monkeypatch.setattr(sys, "argv", [str(ROOT / "kbsite" / "cli" / "__main__.py")])
    assert terminal.typed("`kb list`") == "`kb list`"


def test_a_port_in_use_is_answered_with_a_command_that_keeps_the_sample(tmp_path: Path) -> None:
    kb = Path(sys.executable).with_name("kb")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = {"YOUTUBE_KB_DATA_DIR": str(tmp_path), "PORT": str(port)}
        settings |= {"PATH": os.defpath, "DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
        environment = os.environ | settings
        ran = run_program(kb, "serve", "--sample", code=8, environment=environment)
    assert re.search(rf"`{kb} serve --sample --port \d+`", ran.stderr)


def test_the_log_has_times_and_loggers_except_on_a_terminal() -> None:
    command = [sys.executable, "-c", LOGGED]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
    ran = run_program(*command, environment=environment)
    assert ran.stderr.endswith(" INFO kbsite: Converting.\n")
    plain = run_program(*command, environment=environment | {"LOG_FORMAT": "plain"})
    assert plain.stderr == "Converting.\n"
    main, terminal_end = os.openpty()
    subprocess.run(command, env=environment, stderr=terminal_end, check=True, timeout=PATIENCE)
    assert os.read(main, 1000) == b"Converting.\r\n"
    os.close(main)
    os.close(terminal_end)
