"""The server process of the embedded PostgreSQL: how it starts and ends.

Callers hold the lock that keeps two processes from starting or stopping it at once.
"""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import time
from pathlib import Path

from kbsite.postgres import errors
from kbsite.postgres.account import Account, open_way
from kbsite.postgres.home import PORT, Home, socket_path
from kbsite.postgres.programs import START_SECONDS, process_options, program, programs, run

DATABASE = "cuebase"
ROLE = "cuebase"
STOP_SECONDS = 60
_ROOM_FOR_WAL = 32 * 1024 * 1024  # bytes: two WAL segments
_NO_PROCESS = 2**31 - 2  # above every system's highest process id
_LOG_CHARACTERS = 3000
_PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of Linux
_EXEC_SECONDS = 10  # to read a program's first pages from a slow disk
_ACCEPTING, _REJECTING, _SILENT = 0, 1, 2  # exit codes of pg_isready

# Written once, into the new database: ALTER SYSTEM and postgresql.conf can change them.
_INITIAL_SETTINGS = {
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "max_connections": "200",
    "max_wal_size": "1GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
    "log_min_error_statement": "panic",  # statements contain keys of sessions
}
# One file per weekday, truncated a week later.
_LOG_SETTINGS = {
    "logging_collector": "on",
    "log_filename": "server-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}
# The shell hands the server to init, so that it outlives this process and leaves no zombie; the
# log is this start's alone.
_LAUNCHER = (
    'umask 077; mkdir -p "$1/log" && log=$1/log/start.log && : >"$log" || exit 1; shift; '
    '"$@" </dev/null >"$log" 2>&1 & echo $!'
)
_FAST_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class _Leftovers(errors.StartFailed):
    """Processes of a killed server are still ending."""


_SIGNS: dict[str, type[errors.EmbeddedPostgresError]] = {
    "No space left on device": errors.DiskFull,
    "Disk quota exceeded": errors.DiskFull,
    "Read-only file system": errors.NotWritable,
    "Permission denied": errors.NotWritable,
    "pre-existing shared memory block": _Leftovers,
}
_MESSAGES: dict[type[errors.EmbeddedPostgresError], str] = {
    errors.DiskFull: "No space is left on the disk for the database",
    errors.NotWritable: "PostgreSQL may not write to its files",
    errors.StartFailed: "PostgreSQL could not be started",
    _Leftovers: "Processes of a killed PostgreSQL do not end",
}


def bring_up(home: Home, account: Account, *, fast: bool) -> None:
    """Start the server and create the database unless it answers already.

    Takes at most ``START_SECONDS``. Raises EmbeddedPostgresError or OSError.
    """
    if _answers(home):
        return
    deadline = time.monotonic() + START_SECONDS
    pid = _written_pid(home.pid_file)
    if not _lives(pid, home) or not _await_ready(pid, home, deadline):
        _launch_until_ready(home, account, deadline, fast=fast)
    if _answers(home):
        return
    place = (*_address(home), f"--username={ROLE}", "--maintenance-db=postgres")
    created = run("createdb", *place, DATABASE)
    if created.returncode != 0:
        raise _failure(home, created.stderr)


def is_running(home: Home) -> bool:
    """Return whether the server lives, at the cost of reading two small files if it does."""
    return _lives(_written_pid(home.pid_file), home)


def stop(home: Home) -> None:
    """Stop the server if it runs; wait for at most ``STOP_SECONDS`` and a little."""
    pid = _written_pid(home.pid_file)
    fast_then_immediate = ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 5))
    for number, seconds in fast_then_immediate:
        if pid is None or not _is_postmaster(pid, home):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while _is_postmaster(pid, home) and time.monotonic() < deadline:
            time.sleep(0.01)


# Starting


def _launch_until_ready(home: Home, account: Account, deadline: float, *, fast: bool) -> None:
    open_way(home.root, account)
    open_way(programs(), account)
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
    # An unfinished database never has the real name, and the one that a killed start is still
    # making has another.
    _remove_unfinished(home)
    unfinished = home.root / f"new-{secrets.token_hex(4)}"
    created = _initdb(unfinished, account, "C.UTF-8", fast=fast)
    if created.returncode != 0 and "invalid locale name" in created.stderr:
        created = _initdb(unfinished, account, "C", fast=fast)
    if created.returncode != 0:
        error = _failure(home, created.stderr)  # measures the free space, so before the removal
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
    # The built-in C.UTF-8 sorts and folds alike on every machine; the C library's locale only
    # classifies characters.
    options = [
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        f"--locale={locale}",
        "--lc-messages=C",
        "--encoding=UTF8",
        "--auth-local=trust",
        "--auth-host=reject",
        f"--username={ROLE}",
        *(["--no-sync"] if fast else []),
    ]
    # An interrupted initdb leaves the files of "mmap" in the directory that is removed; each
    # start of the server sets its own kind.
    settings = _INITIAL_SETTINGS | {"dynamic_shared_memory_type": "mmap"}
    options += [f"--set={name}={value}" for name, value in settings.items()]
    return run("initdb", *options, "-D", str(directory), account=account)


def _launch(home: Home, account: Account, deadline: float, *, fast: bool) -> None:
    socket = socket_path(home.sockets)
    for file in (home.pid_file, socket.with_name(f"{socket.name}.lock")):
        _disown(file)
    server = [str(program("postgres")), "-D", str(home.data), *_arguments(home, fast=fast)]
    command = ["/bin/sh", "-c", _LAUNCHER, "sh", str(home.root), *server]
    sizes = {file: file.stat().st_size for file in home.log.glob("server-*.log")}
    launched = subprocess.run(
        command, check=False, capture_output=True, text=True, **process_options(account)
    )
    if launched.returncode != 0:
        raise _failure(home, launched.stderr)
    if not _await_ready(int(launched.stdout), home, deadline):
        raise _failure(home, _log_since(home, sizes))


def _arguments(home: Home, *, fast: bool) -> list[str]:
    sockets, memory = str(home.sockets).replace('"', '""'), "posix"
    # Containers often have 64 MB, less than a parallel index build needs; a file has no limit.
    with contextlib.suppress(OSError):
        memory = "posix" if shutil.disk_usage("/dev/shm").total >= 1024**3 else "mmap"
    settings = _LOG_SETTINGS | {
        "log_directory": str(home.log),
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": f'"{sockets}"',
        "unix_socket_permissions": "0700",
        "dynamic_shared_memory_type": memory,
        **(_FAST_SETTINGS if fast else {}),
    }
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _await_ready(pid: int | None, home: Home, deadline: float) -> bool:
    # The file comes first: the server logs every refused connection.
    while not (_says_ready(home) and _status(home) == _ACCEPTING):
        if not _lives(pid, home):
            return False
        if time.monotonic() > deadline:
            raise errors.StartTimeout(
                f"PostgreSQL did not answer within {START_SECONDS} s.\n{_log_since(home, {})}"
            )
        time.sleep(0.03)
    return True


def _failure(home: Home, output: str) -> errors.EmbeddedPostgresError:
    kind = next((kind for sign, kind in _SIGNS.items() if sign in output), errors.StartFailed)
    if shutil.disk_usage(home.root).free < _ROOM_FOR_WAL:  # the log may be missing, too
        kind = errors.DiskFull
    return kind(f"{_MESSAGES[kind]} in {home.root}.\n{output.strip()[-_LOG_CHARACTERS:]}".rstrip())


def _log_since(home: Home, sizes: dict[Path, int]) -> str:
    parts = []
    for file in sorted(home.log.glob("*.log")):
        with contextlib.suppress(OSError), file.open("rb") as stream:
            size = file.stat().st_size
            since = sizes.get(file, 0) if size >= sizes.get(file, 0) else 0
            stream.seek(max(since, size - _LOG_CHARACTERS))
            parts.append(stream.read(_LOG_CHARACTERS).decode(errors="replace"))
    return "\n".join(parts)


# Process ids


def _disown(file: Path) -> None:
    """Make a stale lock file name no living process.

    PostgreSQL would take any process of that id and user for the old server. The rest of the file
    stays: by it PostgreSQL finds processes of the old server that still write to the data.
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
    """Check that a living process is the server of this directory, not one that got its id."""
    if pid is None or pid <= 0:
        return False
    if (_PROC / "self/cmdline").exists():
        with contextlib.suppress(OSError):
            return b"\0-D\0%s\0" % os.fsencode(home.data) in _command_line(pid)
        return False
    command = ["ps", "-ww", "-o", "args=", "-p", str(pid)]
    listed = subprocess.run(command, check=False, capture_output=True, timeout=30).stdout
    return b" -D %s " % os.fsencode(home.data) in listed


def _command_line(pid: int) -> bytes:
    """Read a process's command line; wait while it is empty, between two programs."""
    deadline = time.monotonic() + _EXEC_SECONDS
    while not (line := (_PROC / f"{pid}/cmdline").read_bytes()) and time.monotonic() < deadline:
        state, *_, flags = (_PROC / f"{pid}/stat").read_bytes().rpartition(b")")[2].split()[:7]
        if state in (b"Z", b"X") or int(flags) & _KERNEL_THREAD:  # they never have one
            break
        time.sleep(0.01)
    return line


# Clients


def _answers(home: Home) -> bool:
    if not socket_path(home.sockets).exists():
        return False
    user = ("--no-password", f"--username={ROLE}", f"--dbname={DATABASE}")
    return run("psql", *_address(home), *user, "--no-psqlrc", "-c", "SELECT 1").returncode == 0


def _status(home: Home) -> int:
    code = run("pg_isready", *_address(home), f"--username={ROLE}", "--dbname=postgres").returncode
    return code if code in (_ACCEPTING, _REJECTING) else _SILENT


def _address(home: Home) -> list[str]:
    return [f"--host={home.sockets}", f"--port={PORT}"]
