"""The lock of a data directory's one server; the locked file names process and address."""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from transcripts.core.errors import Conflict, Unavailable
from transcripts.core.work.disk import make_private_folder

NAME = "serve.lock"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """The process that serves a data directory, and its address."""

    pid: int
    url: str


@contextlib.contextmanager
def only_server(data_dir: Path) -> Iterator[Callable[[str], None]]:
    """Hold the lock; yield a function that writes this server's address into the locked file.

    Raises ``Conflict`` if another server holds the lock, ``Unavailable``.
    """
    try:
        make_private_folder(data_dir)
        descriptor = os.open(data_dir / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(
            f"The data directory {data_dir} is not usable: {error.strerror}.",
            hint="Set YOUTUBE_KB_DATA_DIR to another one.",
        ) from error

    def write_url(url: str) -> None:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)

    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = _read(descriptor)
            where = f" at {other.url} (process {other.pid})" if other else ""
            raise Conflict(
                f"Cuebase already runs on {data_dir}{where}.",
                hint="`kb user link` makes a new sign-in link for it. To run a second server,"
                " set YOUTUBE_KB_DATA_DIR to another directory, and --port.",
            ) from None
        yield write_url
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def find(data_dir: Path) -> RunningServer | None:
    """Return the server of a data directory, or None if none runs."""
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
    """Return the server's address without a trailing slash: set, running, or the default one."""
    if settings.OPTIONS["PUBLIC_URL"].is_set:
        return str(settings.PUBLIC_URL).rstrip("/")
    server = find(Path(settings.DATA_DIR))
    return server.url if server else f"http://127.0.0.1:{settings.PORT}"


def _read(descriptor: int) -> RunningServer | None:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        content = json.loads(os.pread(descriptor, 4096, 0))
        return RunningServer(pid=int(content["pid"]), url=str(content["url"]))
    return None
