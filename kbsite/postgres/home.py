"""The directories of an embedded server: their paths, their owner, their PostgreSQL version."""

import contextlib
import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from kbsite.postgres import programs
from kbsite.postgres.account import Account, account_for
from kbsite.postgres.errors import OtherVersion, OwnedByAnother, PathUnusable

PORT = 5432  # names the socket file; nothing listens on the network
_SOCKET_PATH_LIMIT = 100  # bytes; the kernels allow 103 (macOS) and 107 (Linux)


@dataclass(frozen=True, slots=True)
class Home:
    """The directories of one embedded server."""

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
    """Derive the directories from the path alone, the same in every process."""
    root = data_dir.expanduser().resolve() / "postgres"
    is_short = len(os.fsencode(socket_path(root))) <= _SOCKET_PATH_LIMIT
    # libpq takes a comma for the end of a host name.
    if is_short and "," not in str(root) and str(root).isprintable():
        return Home(root, root)
    # Not TMPDIR or XDG_RUNTIME_DIR: they differ between a service and a login shell.
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()
    return Home(root, Path("/tmp") / f"cuebase-{digest[:16]}")


def socket_path(directory: Path) -> Path:
    """Return the file in a socket directory that clients connect to."""
    return directory / f".s.PGSQL.{PORT}"


# Preparation


def prepare(home: Home) -> Account:
    """Create and check the directories, and return the account that the server runs under.

    Raises EmbeddedPostgresError, LookupError or OSError.
    """
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
        mode = home.sockets.lstat().st_mode
        if not stat.S_ISDIR(mode) or mode & 0o077:
            raise PathUnusable(
                f"{home.sockets} must be a directory that is closed to other users.",
                hint=f"Remove {home.sockets} and start again.",
            )
    return account


def _make_directory(path: Path, account: Account) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account.switch and path.lstat().st_uid == 0 and not any(path.iterdir()):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _check_owner(path: Path, account: Account) -> None:
    owner = path.lstat().st_uid
    if owner != account.uid:
        names = f"{_user_name(owner)}; the server would run as {_user_name(account.uid)}"
        raise OwnedByAnother(f"{path} belongs to the user {names}.")


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_version(home: Home) -> None:
    if not home.data.is_dir() or not any(home.data.iterdir()):
        return
    with contextlib.suppress(FileNotFoundError):
        version = (home.data / "PG_VERSION").read_text(errors="replace")[:8].strip()
        if version == str(programs.MAJOR_VERSION):
            return
        raise OtherVersion(
            f"The database in {home.data} is of PostgreSQL {version}; "
            f"PostgreSQL {programs.MAJOR_VERSION} is bundled.",
            hint=f"Dump it with pg_dump of PostgreSQL {version}, move the directory away, start "
            "again and load the dump; or set YOUTUBE_KB_DATA_DIR to another directory.",
        )
    raise PathUnusable(f"{home.data} is not empty and is no PostgreSQL database.")
