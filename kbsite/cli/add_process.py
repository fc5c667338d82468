"""Adding in a process of its own: `kb add`, whose report is read. Whoever waits stays free to draw, and may leave at any time."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final

from transcripts.errors import InvalidInput, KnowledgeBaseError

COMMAND: Final = (sys.executable, "-m", "kbsite.cli", "add", "--wait", "--json")
STOP_SECONDS: Final = 5.0


class Adder:
    """Runs `kb add` for one thing after another, at once if need be, and ends what runs when it is closed."""

    def __init__(self, *, collection: str = "", command: tuple[str, ...] = COMMAND) -> None:
        self._command = (*command, *(("--collection", collection) if collection else ()))
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, what: str) -> str:
        """Add an address, a file or a folder, and wait until it is found by meaning. Raises ``KnowledgeBaseError`` when nothing was added."""
        if "\0" in what:
            raise InvalidInput("This is neither an address nor a file.")
        process = self._start(what)
        try:
            out, err = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return _outcome(what, out, err)

    def close(self) -> None:
        """Stop what is being added; what is read and embedded stays."""
        with self._lock:
            self._is_closed = True
            running = [*self._running]
        for process in running:
            process.send_signal(signal.SIGINT)  # the one that it notes its state at
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
                continue
            process.kill()

    def _start(self, what: str) -> subprocess.Popen[str]:
        named = what if "://" in what else str(Path(what).expanduser())
        pipes: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        with self._lock:
            if self._is_closed:
                raise KnowledgeBaseError("Nothing more is added now.")
            # A session of its own keeps the terminal's Ctrl-C from it.
            process = subprocess.Popen(
                [*self._command, "--", named],
                text=True,
                errors="replace",
                start_new_session=True,
                **pipes,
            )
            self._running.add(process)
        return process


def _outcome(what: str, out: str, err: str) -> str:
    try:
        report = json.loads(out)
    except ValueError:
        told = [line for line in err.strip().splitlines() if line] or [f"“{what}” was not added."]
        raise KnowledgeBaseError(
            told[0].removeprefix("Error: "), hint=" ".join(told[1:])[:300]
        ) from None
    problems = report["problems"]
    count = report["added"] + report["updated"] + report["unchanged"] + len(report["documents"])
    if problems and not count:
        raise KnowledgeBaseError(problems[0]["message"], hint=problems[0]["hint"])
    if not count and not any(job["state"] == "done" for job in report["jobs"]):
        raise KnowledgeBaseError("No captions and no documents are there: nothing was added.")
    left = f", {len(problems)} left out: {problems[0]['message']}" if problems else ""
    return f"Added {count or len(report['jobs'])}: {what}{left}"
