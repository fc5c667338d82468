"""The worker process beside the web server, restarted when it dies."""

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

MAX_PAUSE = 60.0  # seconds between two starts of a worker that keeps dying
STEADY_SECONDS = 60.0  # a worker that lived this long is restarted without backing off
STOP_SECONDS = 8.0


class Worker:
    """Keeps one worker alive while the block runs. A killed worker loses no work."""

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
            is_steady = time.monotonic() - started > STEADY_SECONDS
            pause = 1.0 if is_steady else min(max(1.0, pause * 2), MAX_PAUSE)
            if not self._ending.is_set():
                cause = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
                logger.warning("The worker ended (%s); restarting it in %.0f s.", cause, pause)

    def _start(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._ending.is_set():
                return None
            # Its standard input ends when this process does, however that happens. A session of
            # its own shields it from Ctrl-C. Its log goes to the error output.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env=_environment(),
            )
            return self._process


def _environment() -> dict[str, str]:
    # The package need not be installed: the worker finds it where this process did.
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    return {**os.environ, "PYTHONPATH": path}


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
