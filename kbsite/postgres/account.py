"""The operating system account that the embedded PostgreSQL runs under.

It is the account of this process, except for root, as PostgreSQL refuses to run as root. Root's
server runs as the owner of the data directory; if that is root too, as ``cuebase``, an account
that is created on first use. Access control lists let this account alone pass, not list or read,
closed parent directories. Modes never change: root's home stays closed to everyone else.
"""

import contextlib
import logging
import os
import pwd
import shutil
import stat
import struct
import subprocess
from dataclasses import dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

NAME = "cuebase"
# An access control list for the kernel: a version, then entries of tag, rights and id, by tag.
_ACL = "system.posix_acl_access"
_VERSION = struct.pack("<I", 2)
_ENTRY = struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_MASKED = (_USER, _GROUP, _NAMED_GROUP)
_NO_ID = 0xFFFFFFFF
_PASS = 1


@dataclass(frozen=True, slots=True)
class Account:
    """The owner of the server's files; with ``switch``, processes must change to it."""

    uid: int
    gid: int
    switch: bool

    @property
    def options(self) -> dict[str, Any]:
        """Return arguments for ``subprocess.run`` to run as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}


def account_for(*directories: Path) -> Account:
    """Choose the server's account by the owner of the first directory that exists.

    Raises LookupError if there is none and none can be created.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switch=False)
    owner = next((path.stat().st_uid for path in directories if path.exists()), 0)
    try:
        entry = pwd.getpwuid(owner) if owner else _own_account()
    except KeyError:
        raise LookupError(
            f"The data directory belongs to the user id {owner}, which has no account here."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid, switch=True)


def open_way(path: Path, account: Account) -> None:
    """Let the account pass through a path's parents.

    Raises OSError if the file system has no access control lists.
    """
    if not account.switch or _reaches(path, account):
        return
    for parent in reversed(path.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            _let_pass(parent, account)
    if not _reaches(path, account):
        raise PermissionError(
            f"The account {pwd.getpwuid(account.uid).pw_name} cannot reach {path}."
        )


def has_access_list(path: Path) -> bool:
    """Return whether an access control list gives somebody rights of their own to a path."""
    with contextlib.suppress(OSError):  # the file system knows no attributes
        return hasattr(os, "listxattr") and _ACL in os.listxattr(path)
    return False


def _own_account() -> pwd.struct_passwd:
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(NAME)
    program = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        raise LookupError(
            "PostgreSQL does not run as root, and there is no useradd to create an account."
        )
    kind = ("--system", "--user-group", "--no-create-home")
    places = ("--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin")
    command = [program, *kind, *places, NAME]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if run.returncode != 0 and not any(entry.pw_name == NAME for entry in pwd.getpwall()):
        raise LookupError(
            "PostgreSQL does not run as root, and no account could be created for it: "
            f"{run.stderr.strip()}"
        )
    logger.info("Created the system account %s for PostgreSQL, which does not run as root.", NAME)
    return pwd.getpwnam(NAME)


def _reaches(path: Path, account: Account) -> bool:
    command = ["/bin/sh", "-c", 'test -r "$1" && test -x "$1"', "sh", str(path)]
    return (
        subprocess.run(command, check=False, cwd="/", timeout=30, **account.options).returncode == 0
    )


def _let_pass(directory: Path, account: Account) -> None:
    if not hasattr(os, "setxattr"):
        raise PermissionError(
            f"The account {pwd.getpwuid(account.uid).pw_name} may not pass through {directory}."
        )
    old = _entries(directory)
    # Drop rights that the mask withholds before widening the mask: nobody else gains any.
    mask = next((rights for tag, rights, _ in old if tag == _MASK), 7)
    new = {
        (tag, owner): rights & mask if tag in _MASKED else rights
        for tag, rights, owner in old
        if tag != _MASK
    }
    new[_USER, account.uid] = new.get((_USER, account.uid), 0) | _PASS
    new[_MASK, _NO_ID] = reduce(or_, (rights for (tag, _), rights in new.items() if tag in _MASKED))
    packed = b"".join(
        _ENTRY.pack(tag, rights, owner) for (tag, owner), rights in sorted(new.items())
    )
    os.setxattr(directory, _ACL, _VERSION + packed)
    logger.info("Let the account of PostgreSQL pass through %s.", directory)


def _entries(directory: Path) -> list[tuple[int, int, int]]:
    if has_access_list(directory):
        return list(_ENTRY.iter_unpack(os.getxattr(directory, _ACL)[len(_VERSION) :]))
    mode = directory.stat().st_mode
    return [
        (_OWNER, (mode >> 6) & 7, _NO_ID),
        (_GROUP, (mode >> 3) & 7, _NO_ID),
        (_OTHERS, mode & 7, _NO_ID),
    ]
