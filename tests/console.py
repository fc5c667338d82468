"""A process of an instance that runs pieces of code, one after the other: each would take longer to
start than to run.

It is its own program: ``python -m tests.console`` reads JSON strings of code, one a line, and
answers each with what the code printed, or with its traceback.
"""

import json
import os
import subprocess
import sys
import threading
from code import InteractiveInterpreter
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from django.db import connections

from kbsite import boot

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 240.0  # seconds for a piece of code


class Console:
    """Runs code in a process that is set up and keeps no database connection in between."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        command, pipe = [sys.executable, "-m", "tests.console"], subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=PATIENCE)

    def run(self, code: str) -> str:
        """Return what the code prints; fail with its traceback."""
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        print(json.dumps(code), file=requests, flush=True)
        overdue = threading.Timer(PATIENCE, self._process.kill)
        overdue.start()
        line = answers.readline()
        overdue.cancel()
        assert line, f"the console ended, or took {PATIENCE:.0f} s"
        answer = json.loads(line)
        assert not answer["error"], answer["error"]
        return str(answer["printed"])


class _Piece(InteractiveInterpreter):
    """A piece of code with names of its own; ``error`` is its traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.error = ""

    def write(self, data: str) -> None:
        """Keep what goes wrong."""
        self.error += data


def main() -> None:
    boot.boot()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library writes is no answer
    for line in sys.stdin:
        piece = _Piece()
        with redirect_stdout(StringIO()) as printed:
            piece.runcode(compile(json.loads(line), "<console>", "exec"))
        connections.close_all()
        answer = {"printed": printed.getvalue(), "error": piece.error}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
