"""The disk: no space on it, or a quota that is used up, as an expected error; and files that appear
when they are whole.
"""

import errno
import tempfile
from pathlib import Path
from typing import Final

from transcripts.core.errors import Retry, Unavailable

_NUMBERS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SQLSTATE: Final = "53100"  # disk_full of PostgreSQL


class StorageFull(Unavailable):
    """There is no space left on a disk of the server."""

    code = "storage_full"
    default_message = "No space is left on the server's disk."
    retry = Retry.SPACE
    default_hint = "Free space on it; what was added before is safe, and work goes on by itself."


def storage_full(error: BaseException) -> StorageFull | None:
    """Return the expected error if a full disk caused this one, or None."""
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else None
        if number in _NUMBERS or getattr(cause, "sqlstate", None) == _SQLSTATE:
            return StorageFull()
        cause = cause.__cause__
    return None


def make_private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step for its readers; of one that cannot be written, nothing stays."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        part = Path(file.name)
        try:
            file.write(data)
            file.flush()
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
