"""Run programs to their end, and keep what they write."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import fork_server

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 240  # seconds


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
