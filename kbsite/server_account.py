"""The operating system account that the embedded PostgreSQL runs under.

It is the account of this process, unless that is root, whom PostgreSQL refuses. Root's server runs under the owner of the data directory, and under the
account ``cuebase``, made on first use, where that owner is root too. The account is let through closed parent directories by an access control list that
names it alone and lets it pass, not list or read; modes are never widened, so root's home stays closed to everyone else.
"""

import logging
import os
import pwd
import shutil
import stat
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

NAME = "cuebase"
_ACL = "system.posix_acl_access"
_NO_ID = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Account:
    """Who owns the server's files; ``switch`` says that a process must change to it first."""

    uid: int
    gid: int
    switch: bool

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments that make ``subprocess.run`` run as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}


def account_for(*directories: Path) -> Account:
    """Choose the server's account by the first of the directories that exists. Raises LookupError when there is none to choose and none can be made."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    owner = next((found.stat().st_uid for found in directories if found.exists()), 0)
    entry = _account_of(owner) if owner else _own_account()
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def open_way(path: Path, account: Account) -> None:
    """Let the account pass through the parents of a path. Raises OSError where the file system keeps no access control lists."""
    if not account.switch or _reaches(path, account):
        return
    for parent in _closed(path):
        _let_pass(parent, account)
    if not _reaches(path, account):
        raise PermissionError(f"The account {pwd.getpwuid(account.uid).pw_name} cannot reach {path}.")


def _account_of(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise LookupError(f"The data directory belongs to the user id {uid}, which has no account here.") from None


def _own_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        _make_account()
    return pwd.getpwnam(NAME)


def _make_account() -> None:
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        raise LookupError("PostgreSQL does not run as root, and there is no useradd to make it an account.")
    command = [program, "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", NAME]
    made = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if made.returncode != 0 and not _exists():
        raise LookupError(f"PostgreSQL does not run as root, and no account could be made for it: {made.stderr.strip()}")
    logger.info("Made the system account %s for PostgreSQL, which does not run as root.", NAME)


def _exists() -> bool:
    return any(entry.pw_name == NAME for entry in pwd.getpwall())


def _reaches(path: Path, account: Account) -> bool:
    command = ["/bin/sh", "-c", 'test -r "$1" && test -x "$1"', "sh", str(path)]
    return subprocess.run(command, check=False, cwd="/", timeout=30, **account.options).returncode == 0


def _closed(path: Path) -> Iterator[Path]:
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            yield parent


def _let_pass(directory: Path, account: Account) -> None:
    # Where somebody wrote a list already, adding to it could widen what its mask holds back.
    if not hasattr(os, "setxattr") or _ACL in os.listxattr(directory):
        raise PermissionError(f"The account {pwd.getpwuid(account.uid).pw_name} may not pass through {directory}.")
    mode = directory.stat().st_mode
    owner, group, others = (mode >> 6) & 7, (mode >> 3) & 7, mode & 7
    entries = ((0x01, owner, _NO_ID), (0x02, 1, account.uid), (0x04, group, _NO_ID), (0x10, group | 1, _NO_ID), (0x20, others, _NO_ID))
    os.setxattr(directory, _ACL, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))
    logger.info("Let the account of PostgreSQL pass through %s.", directory)
