"""`kb add` in a child process, for the terminal interface, which stays responsive meanwhile."""

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
    """Runs `kb add` for each target, concurrently if called so, until it is closed."""

    def __init__(self, *, collection: str = "", command: tuple[str, ...] = COMMAND) -> None:
        self._command = (*command, *(("--collection", collection) if collection else ()))
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, target: str) -> str:
        """Add an address, a file or a folder, and wait until it is embedded; return a summary.

        Raises ``KnowledgeBaseError`` if nothing was added.
        """
        if "\0" in target:
            raise InvalidInput("This is neither an address nor a file.")
        process = self._start(target)
        try:
            out, err = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return _summary(target, out, err)

    def close(self) -> None:
        """Interrupt the running processes; stored and embedded content stays."""
        with self._lock:
            self._is_closed = True
            running = [*self._running]
        for process in running:
            process.send_signal(signal.SIGINT)  # `kb add` saves its state on this one
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
                continue
            process.kill()

    def _start(self, target: str) -> subprocess.Popen[str]:
        name = target if "://" in target else str(Path(target).expanduser())
        with self._lock:
            if self._is_closed:
                raise KnowledgeBaseError("The program is closing: nothing more is added.")
            process = subprocess.Popen(
                [*self._command, "--", name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # shields it from the terminal's Ctrl-C
            )
            self._running.add(process)
        return process


def _summary(target: str, out: str, err: str) -> str:
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        lines = [line for line in err.strip().splitlines() if line]
        message, *hints = lines or [f"“{target}” was not added."]
        raise KnowledgeBaseError(
            message.removeprefix("Error: "), hint=" ".join(hints)[:300]
        ) from None
    problems = report["problems"]
    count = report["added"] + report["updated"] + report["unchanged"] + len(report["documents"])
    if problems and not count:
        raise KnowledgeBaseError(problems[0]["message"], hint=problems[0]["hint"])
    if not count and not any(job["state"] == "done" for job in report["jobs"]):
        raise KnowledgeBaseError("No captions and no documents found: nothing was added.")
    failed = f", {len(problems)} not added: {problems[0]['message']}" if problems else ""
    return f"Added {count or len(report['jobs'])}: {target}{failed}"
