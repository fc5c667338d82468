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
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

NAME = "cuebase"
# The kernel's form of an access control list: a version, then entries of tag, rights and id in the order of their tags.
_ACL = "system.posix_acl_access"
_VERSION = struct.pack("<I", 2)
_ENTRY = struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_MASKED = (_USER, _GROUP, _NAMED_GROUP)
_NO_ID = 0xFFFFFFFF
_PASS = 1


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
        raise PermissionError(
            f"The account {pwd.getpwuid(account.uid).pw_name} cannot reach {path}."
        )


def _account_of(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise LookupError(
            f"The data directory belongs to the user id {uid}, which has no account here."
        ) from None


def _own_account() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        _make_account()
    return pwd.getpwnam(NAME)


def _make_account() -> None:
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        raise LookupError(
            "PostgreSQL does not run as root, and there is no useradd to make it an account."
        )
    command = [
        program,
        "--system",
        "--user-group",
        "--no-create-home",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/usr/sbin/nologin",
        NAME,
    ]
    made = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if made.returncode != 0 and not _exists():
        raise LookupError(
            f"PostgreSQL does not run as root, and no account could be made for it: {made.stderr.strip()}"
        )
    logger.info("Made the system account %s for PostgreSQL, which does not run as root.", NAME)


def _exists() -> bool:
    return any(entry.pw_name == NAME for entry in pwd.getpwall())


def _reaches(path: Path, account: Account) -> bool:
    command = ["/bin/sh", "-c", 'test -r "$1" && test -x "$1"', "sh", str(path)]
    return (
        subprocess.run(command, check=False, cwd="/", timeout=30, **account.options).returncode == 0
    )


def _closed(path: Path) -> Iterator[Path]:
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            yield parent


def _let_pass(directory: Path, account: Account) -> None:
    if not hasattr(os, "setxattr"):
        raise PermissionError(
            f"The account {pwd.getpwuid(account.uid).pw_name} may not pass through {directory}."
        )
    old = _entries(directory)
    # Rights that the mask holds back are dropped before the mask is widened: nobody else gains any.
    mask = next((rights for tag, rights, _ in old if tag == _MASK), 7)
    kept = {
        (tag, owner): rights & mask if tag in _MASKED else rights
        for tag, rights, owner in old
        if tag != _MASK
    }
    kept[_USER, account.uid] = kept.get((_USER, account.uid), 0) | _PASS
    kept[_MASK, _NO_ID] = reduce(
        or_, (rights for (tag, _), rights in kept.items() if tag in _MASKED)
    )
    packed = b"".join(
        _ENTRY.pack(tag, rights, owner) for (tag, owner), rights in sorted(kept.items())
    )
    os.setxattr(directory, _ACL, _VERSION + packed)
    logger.info("Let the account of PostgreSQL pass through %s.", directory)


def _entries(directory: Path) -> list[tuple[int, int, int]]:
    if _ACL in os.listxattr(directory):
        return [
            (tag, rights, owner)
            for tag, rights, owner in _ENTRY.iter_unpack(
                os.getxattr(directory, _ACL)[len(_VERSION) :]
            )
        ]
    mode = directory.stat().st_mode
    return [
        (_OWNER, (mode >> 6) & 7, _NO_ID),
        (_GROUP, (mode >> 3) & 7, _NO_ID),
        (_OTHERS, mode & 7, _NO_ID),
    ]
