"""Which server runs on a data directory, and where it is reached: a lock that its process holds, with a note in the locked file."""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbsite import settings
from transcripts.errors import Conflict, Unavailable

NAME = "serve.lock"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A running server."""

    pid: int
    url: str


@dataclass(frozen=True, slots=True)
class Lock:
    """The right to be the only server."""

    descriptor: int

    def tell(self, url: str) -> None:
        """Write down where the server is reached."""
        self._write({"pid": os.getpid(), "url": url})

    def _write(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, data, 0)


@contextlib.contextmanager
def only_server(data_dir: Path) -> Iterator[Lock]:
    """Be the only server of a data directory while the block runs. Raises ``Conflict``, naming the one that is, ``Unavailable``."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(data_dir / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(
            f"The data directory {data_dir} cannot be used: {error.strerror}.",
            hint="Set YOUTUBE_KB_DATA_DIR to another one.",
        ) from error
    try:
        _take(descriptor, data_dir)
        yield Lock(descriptor)
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def find(data_dir: Path) -> RunningServer | None:
    """Return the server that runs on a data directory, None when there is none."""
    try:
        descriptor = os.open(data_dir / NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor)
    finally:
        os.close(descriptor)
    return None


def public_url() -> str:
    """Return where the server is reached, without a trailing slash: as the settings say, or where one runs now, or would."""
    if settings.OPTIONS["PUBLIC_URL"].is_set:
        return str(settings.PUBLIC_URL).rstrip("/")
    server = find(Path(settings.DATA_DIR))
    return server.url if server else f"http://127.0.0.1:{settings.PORT}"


def _take(descriptor: int, data_dir: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = _read(descriptor)
        where = f" at {other.url} (process {other.pid})" if other else ""
        raise Conflict(
            f"Cuebase runs already on {data_dir}{where}.",
            hint="`kb user link` makes a new sign-in link for it. For a second one beside it, set YOUTUBE_KB_DATA_DIR to another directory, and --port.",
        ) from None


def _read(descriptor: int) -> RunningServer | None:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        found = json.loads(os.pread(descriptor, 4096, 0))
        return RunningServer(pid=int(found["pid"]), url=str(found["url"]))
    return None
