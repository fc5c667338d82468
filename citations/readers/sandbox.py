"""The parent's side of the child processes that read files nobody should read in their own process: started when needed, reused, restarted, killed in time."""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_ANSWER = 256 * 1024**2  # bytes
PASSED_ENVIRONMENT = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
)  # of the environment: a hostile file must find no passwords there
GRACE = 2.0  # seconds that the child has to end itself before it is killed


class ChildExited(Exception):
    """The child ended instead of answering."""


class ChildTimeout(ChildExited):
    """The child did not answer in time."""


@dataclass(frozen=True, slots=True)
class ChildReply:
    """What a child answered: facts, and bytes."""

    head: dict[str, Any]
    blobs: tuple[bytes, ...]


class ChildProcess:
    """A process that runs ``program`` (see ``pdfium`` for how they talk), one request at a time; any thread may ask.

    It belongs to the process that started it: after a fork the new process starts its own. It ends with its parent.
    """

    def __init__(self, program: Path, *, grace: float = GRACE) -> None:
        self._program, self._grace = program, grace
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._abandoned: list[
            subprocess.Popen[bytes]
        ] = []  # the parent's own, after a fork: not ours to end
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.close)

    def ask(self, request: dict[str, Any], *, seconds: float) -> ChildReply:
        """Return the answer. A child that ends after it has worked before is tried once more in a new process: it may have been idle, or out of memory
        for what came before.

        Raises:
            Ended: it ended, twice or in a new process.
            TookTooLong: it was killed after ``seconds``.
        """
        with self._lock:
            was_fresh = self._start()
            try:
                return self._exchange(request, seconds)
            except ChildTimeout:
                raise
            except ChildExited:
                if was_fresh:
                    raise
            self._start()
            return self._exchange(request, seconds)

    def close(self) -> None:
        """End the process, if there is one, even in the middle of a request; the next request starts another."""
        process = self._process
        if not self._lock.acquire(timeout=self._grace):
            if process is not None:
                process.kill()  # whoever asks is told
            return
        try:
            self._stop()
        finally:
            self._lock.release()

    @property
    def pid(self) -> int | None:
        """The process that runs now, if any."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _start(self) -> bool:
        """Make sure that there is a process; says whether it is a new one."""
        if self._process is not None and self._process.poll() is None:
            return False
        self._stop()
        command = [
            sys.executable,
            "-P",
            str(self._program),
        ]  # -P: the files beside the program must not stand in for modules of the same name
        environment = {name: os.environ[name] for name in PASSED_ENVIRONMENT if name in os.environ}
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=nothing,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
        return True

    def _exchange(self, request: dict[str, Any], seconds: float) -> ChildReply:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ChildExited("there is no process")
        deadline = time.monotonic() + seconds + self._grace
        try:
            process.stdin.write(json.dumps({**request, "seconds": seconds}).encode() + b"\n")
            reader = _Reader(process.stdout.fileno(), deadline)
            head = json.loads(reader.take(int.from_bytes(reader.take(4), "big")))
            return ChildReply(head, tuple(reader.take(size) for size in head["blobs"]))
        except ChildTimeout:
            self._stop()
            raise
        except (ChildExited, OSError, ValueError, KeyError, TypeError) as error:
            ended_by_alarm = self._stop() == -signal.SIGALRM
            raise (ChildTimeout if ended_by_alarm else ChildExited)(str(error)) from error

    def _stop(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            return process.wait(0.2)  # closed pipes end it, unless it is in the middle of something
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        if self._process is not None:
            self._abandoned.append(self._process)
            self._process = None


class _Reader:
    """Takes bytes from a pipe until a moment of the monotonic clock."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor, self._deadline = descriptor, deadline
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN | select.POLLHUP)

    def take(self, size: int) -> bytes:
        """Return exactly ``size`` bytes."""
        if not 0 <= size <= MAX_ANSWER:
            raise ChildExited("an answer of an impossible size")
        parts = bytearray()
        while len(parts) < size:
            left = self._deadline - time.monotonic()
            if left <= 0 or not self._ready.poll(left * 1000):
                raise ChildTimeout("no answer in time")
            part = os.read(self._descriptor, min(size - len(parts), 1 << 20))
            if not part:
                raise ChildExited("it ended")
            parts += part
        return bytes(parts)
