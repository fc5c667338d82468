"""Child processes that read files no other process should parse: started when needed, reused,
restarted after a failure, killed after a time limit."""

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
_ROOT = Path(__file__).parents[2]
GRACE = 2.0  # seconds for the child to end itself before it is killed


class ChildExited(Exception):
    """The child ended instead of answering."""


class ChildKilled(ChildExited):
    """Something else killed the child, such as a kernel without memory."""


class ChildTimeout(ChildExited):
    """The child did not answer in time."""


class ChildBusy(Exception):
    """The child answers other requests."""


def child_environment() -> dict[str, str]:
    """Return the environment of a child, which finds the project there: a hostile file must find no
    passwords.
    """
    names = ("PATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
    paths = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(_ROOT))))
    return {name: os.environ[name] for name in names if name in os.environ} | {"PYTHONPATH": paths}


@dataclass(frozen=True, slots=True)
class ChildReply:
    """A child's answer: a JSON object and binary data."""

    head: dict[str, Any]
    blobs: tuple[bytes, ...]


class ChildProcess:
    """A process that runs ``program`` and answers one request at a time, of any thread.

    ``child_loop`` has the program's side. The process belongs to the process that started it: after
    a fork the new process starts its own. It ends with its parent.
    """

    def __init__(self, program: Path, *, grace: float = GRACE) -> None:
        self._program, self._grace = program, grace
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._abandoned: list[subprocess.Popen[bytes]] = []  # the parent's, after a fork
        os.register_at_fork(after_in_child=self._forget)
        atexit.register(self.close)

    def ask(self, request: dict[str, Any], *, seconds: float, turn: float = -1) -> ChildReply:
        """Return the answer; retry once in a new process if a reused one ends, or one was killed.

        A reused one may have been idle for too long, or be out of memory. Raises ``ChildExited``
        if the new process ends, too, ``ChildTimeout`` after ``seconds``, and ``ChildBusy`` if other
        requests take more than ``turn`` seconds; -1 waits for them.
        """
        lock = self._lock
        if not lock.acquire(timeout=turn):
            raise ChildBusy
        try:
            was_fresh = self._start()
            try:
                return self._exchange(request, seconds)
            except ChildTimeout:
                raise
            except ChildExited as error:
                if was_fresh and not isinstance(error, ChildKilled):
                    raise
            self._start()
            return self._exchange(request, seconds)
        finally:
            lock.release()

    def close(self) -> None:
        """End the process, even during a request; the next request starts another."""
        process = self._process
        if not self._lock.acquire(timeout=self._grace):
            if process is not None:
                process.kill()  # the thread in ``ask`` gets an error
            return
        try:
            self._stop()
        finally:
            self._lock.release()

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _start(self) -> bool:
        """Start the process unless it runs; return whether it is new."""
        if self._process is not None and self._process.poll() is None:
            return False
        self._stop()
        self._process = subprocess.Popen(
            # -P: modules beside the program must not shadow others.
            [sys.executable, "-P", str(self._program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            env=child_environment(),
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
            head = json.loads(reader.read(int.from_bytes(reader.read(4), "big")))
            return ChildReply(head, tuple(reader.read(size) for size in head["blobs"]))
        except ChildTimeout:
            self._stop()
            raise
        except Exception as error:  # a hostile file may have made it answer anything
            kinds = {-signal.SIGALRM: ChildTimeout, -signal.SIGKILL: ChildKilled}
            raise kinds.get(self._stop() or 0, ChildExited)(str(error)) from error

    def _stop(self) -> int | None:
        """End the process; return its code unless it had to be killed."""
        process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            return process.wait(0.2)  # closed pipes end it unless it is busy
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    def _forget(self) -> None:
        self._lock = threading.Lock()
        if self._process is not None:
            self._abandoned.append(self._process)
            self._process = None


class _Reader:
    """Reads from a pipe until a deadline of the monotonic clock."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        self._descriptor, self._deadline = descriptor, deadline
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN | select.POLLHUP)

    def read(self, size: int) -> bytes:
        """Return exactly ``size`` bytes."""
        if not 0 <= size <= MAX_ANSWER:
            raise ChildExited("an answer of an impossible size")
        data = bytearray()
        while len(data) < size:
            remaining = self._deadline - time.monotonic()
            if remaining <= 0 or not self._poll.poll(remaining * 1000):
                raise ChildTimeout("no answer in time")
            part = os.read(self._descriptor, min(size - len(data), 1 << 20))
            if not part:
                raise ChildExited("it ended")
            data += part
        return bytes(data)
