"""Files of backups: their checksum, dated names, rotation and schedule.

A backup is a dump in the custom format of pg_dump and one more line, with the SHA-256 of all
before it. pg_restore reads such a file and ignores the line.
"""

import hashlib
import os
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

from transcripts.errors import InvalidInput, Unavailable

_MARK: Final = b"\ncuebase-backup sha256 "
_LINE_BYTES: Final = len(_MARK) + 64 + 1
_BLOCK_BYTES: Final = 1 << 20


def append_checksum(path: Path) -> None:
    """End a dump with the line of its checksum, and write all of it to the disk."""
    with path.open("r+b") as stream:
        stream.write(_line(_sha256(stream, path.stat().st_size)))
        stream.flush()
        os.fsync(stream.fileno())


def check_checksum(path: Path) -> str:
    """Return a backup's SHA-256. Raises ``InvalidInput`` if any bit of the file was changed."""
    try:
        with path.open("rb") as stream:
            sha256 = _sha256(stream, path.stat().st_size - _LINE_BYTES)
            line = stream.read(_LINE_BYTES + 1)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error
    if line == _line(sha256):
        return sha256
    hint = "Use another backup."
    if line.startswith(_MARK):
        raise InvalidInput(f"{path} is damaged: its checksum does not match.", hint=hint)
    text = f"{path} is not a backup of Cuebase, or damaged: no checksum ends it."
    raise InvalidInput(text, hint=hint)


def dated(path: Path) -> Path:
    """Return the path with the time (UTC) in its name: ``library-20261122-131700.backup``."""
    return path.with_name(f"{path.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}{path.suffix}")


def rotate(path: Path, written: Path, *, keep: int) -> list[Path]:
    """Delete all dated files of a path but the newest ``keep``, ``written`` among them."""
    others = [file for file in _dated_files(path) if file.name != written.name]
    deleted = others[: max(len(others) - keep + 1, 0)]
    for file in deleted:
        file.unlink(missing_ok=True)
    return deleted


def seconds_until_due(path: Path, *, every: int) -> float:
    """Return how long to wait until the newest dated file of a path is ``every`` seconds old."""
    times = [file.stat().st_mtime for file in _dated_files(path)]
    age = time.time() - max(times, default=0)
    # A file from the future, written before the clock was set back, must not stop the schedule.
    return every - age if 0 <= age < every else 0


def _dated_files(path: Path) -> list[Path]:
    """Return the dated files of a path, oldest first, and no other file of the folder."""
    name = re.compile(rf"{re.escape(path.stem)}-\d{{8}}-\d{{6}}{re.escape(path.suffix)}")
    folder = path.absolute().parent
    return sorted(file for file in folder.glob("*") if name.fullmatch(file.name))


def _sha256(stream: BinaryIO, size: int) -> str:
    """Read ``size`` bytes and return their SHA-256 in hexadecimal digits."""
    digest = hashlib.sha256()
    while size > 0 and (block := stream.read(min(size, _BLOCK_BYTES))):
        digest.update(block)
        size -= len(block)
    return digest.hexdigest()


def _line(sha256: str) -> bytes:
    return _MARK + sha256.encode() + b"\n"
