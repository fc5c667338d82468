"""Run programs to their end, and keep what they write; skip the tests of those not installed."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import fork_server

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 240  # seconds


def require(missing: str) -> None:
    """Skip the test if something is ``missing``, except in CI, where it has to be there.

    Call it outside blocks that catch exceptions: they would catch the skip, too.
    """
    if missing and os.environ.get("CI"):
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)


def find_program(*names: str) -> str:
    """Return the path of the first of these programs that is installed; "" if none is."""
    return next(filter(None, map(shutil.which, names)), "")


def require_program(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, except in CI."""
    require("" if find_program(name) else f"{name} is not installed")
    return find_program(name)


def run_program(
    *command: str | Path,
    code: int | None = 0,
    environment: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a command; fail if it does not end with ``code`` (None: it may end with any)."""
    process = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )
    assert code is None or process.returncode == code, process.stdout + process.stderr
    return process


def run_python(
    *arguments: str | Path,
    code: int | None = 0,
    environment: Mapping[str, str],
    cwd: Path = ROOT,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run Python with ``-m MODULE`` or ``-c CODE``, forked from one that has its libraries; fail if
    it does not end with ``code`` (None: it may end with any).
    """
    process = fork_server.run(
        *map(str, arguments), environment=environment, cwd=cwd, stdin=stdin, timeout=PATIENCE
    )
    assert code is None or process.returncode == code, process.stdout + process.stderr
    return process
