"""The worker beside the web server: a process of its own, started again when it dies."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

logger = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0  # seconds between two starts of a worker that dies again and again
STEADY_SECONDS = 60.0  # a worker that lived so long is started again without a pause
STOP_SECONDS = 8.0


class Worker:
    """Keeps one worker alive while the block runs. Killing it loses nothing: what it did is taken up by the next."""

    def __init__(self) -> None:
        self._command = [sys.executable, "-m", "kbsite.cli", "worker", "--with-parent"]
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._supervise, name="worker-supervisor", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        with self._lock:
            process = self._process
        if process is not None:
            _end(process)
        self._thread.join(STOP_SECONDS)

    def _supervise(self) -> None:
        pause = 0.0
        while not self._ending.wait(pause):
            started = time.monotonic()
            process = self._start()
            if process is None:
                return
            code = process.wait()
            pause = (
                1.0
                if time.monotonic() - started > STEADY_SECONDS
                else min(max(1.0, pause * 2), LONGEST_PAUSE)
            )
            if not self._ending.is_set():
                logger.warning(
                    "The worker ended (%s); another one starts in %.0f s.", _how(code), pause
                )

    def _start(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._ending.is_set():
                return None
            # Its standard input is the sign of life: it ends when this process does, however that happens. A session of its own keeps Ctrl-C from it.
            # Its log goes to the error output; what Celery prints beside it is of no use.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=_environment(),
            )
            return self._process


def _environment() -> dict[str, str]:
    # The package need not be installed: a worker finds it where this process did.
    root = str(Path(__file__).resolve().parents[2])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", "")))),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        process.send_signal(number)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.info("The worker did not end in time.")
    if process.stdin:
        process.stdin.close()


def _how(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
