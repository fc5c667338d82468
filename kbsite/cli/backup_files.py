"""Files of backups: their content, manifest and checksum, dated names, rotation and schedule.

A backup is a dump in the custom format of pg_dump, a line with its manifest as JSON, and a line
with the SHA-256 of both. pg_restore reads such a file and ignores the lines. All of it may be
encrypted.

The manifest says when and by what a backup was made, and what each table contains. Rows are counted
and hashed in the snapshot that is dumped, and again before a restore is committed. The checksum of
a table does not depend on the order of its rows.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, Self

from django.db import connection
from psycopg import sql

from kbsite.cli import backup_keys
from transcripts.core.errors import InvalidInput, Unavailable

_MANIFEST: Final = b"\ncuebase-backup manifest "
_CHECKSUM: Final = b"\ncuebase-backup sha256 "
_LINE_BYTES: Final = len(_CHECKSUM) + 64 + 1
_END_BYTES: Final = 1 << 18  # a manifest is shorter
_BLOCK_BYTES: Final = 1 << 20
APPS = ("transcripts", "citations", "kbsite")

# Rows are compared as text, which these settings determine.
_SETTINGS = """
SET LOCAL TimeZone = 'UTC';
SET LOCAL DateStyle = 'ISO, MDY';
SET LOCAL IntervalStyle = 'postgres';
SET LOCAL bytea_output = 'hex';
SET LOCAL extra_float_digits = 1;
SET LOCAL statement_timeout = 0;
"""
_TABLES = """
SELECT c.relname FROM pg_catalog.pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND NOT EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
)
ORDER BY c.relname
"""
_CONTENTS = (
    "SELECT count(*) AS rows, coalesce(sum(('x' || left("
    "encode(sha256(convert_to(_row::text, 'UTF8')), 'hex'), 15"
    "))::bit(60)::bigint), 0)::text AS checksum FROM public.%I AS _row"
)
_CHECK = """
DO $check$
DECLARE
    expected record;
    actual record;
BEGIN
    FOR expected IN SELECT * FROM (VALUES {tables}) AS t (name, rows, checksum) LOOP
        EXECUTE format({contents}, expected.name) INTO actual;
        IF (actual.rows, actual.checksum) IS DISTINCT FROM (expected.rows, expected.checksum) THEN
            RAISE EXCEPTION 'The table % differs from the manifest.', expected.name;
        END IF;
    END LOOP;
END
$check$;
"""


class TableContents(NamedTuple):
    """How many rows a table has, and the sum of their hashes."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """When and by what a backup was made, and what it contains."""

    made: str  # ISO 8601, in UTC
    version: str  # of Cuebase
    migrations: list[str]
    tables: dict[str, TableContents]

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables.values())

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        value = json.loads(text)
        tables = {name: TableContents(*contents) for name, contents in value["tables"].items()}
        return cls(**{**value, "tables": tables})

    def check_script(self) -> str:
        """Return SQL that fails inside a transaction if any table differs from the manifest."""
        tables = sql.SQL(", ").join(
            sql.SQL("({}, {}, {})").format(name, table.rows, table.checksum)
            for name, table in self.tables.items()
        )
        check = sql.SQL(_CHECK).format(tables=tables, contents=_CONTENTS)
        return _SETTINGS + check.as_string()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBackup:
    """A file that is undamaged: its manifest, its SHA-256 and whether it is encrypted."""

    manifest: Manifest
    sha256: str
    encrypted: bool


def write(dump: BinaryIO, manifest: Manifest, file: BinaryIO, *, keys: Sequence[Any]) -> None:
    """Write a dump, its manifest and the checksum of both to the disk, encrypted for ``keys``."""
    content = _EndedDump(dump, manifest)
    if keys:
        backup_keys.encrypt(content, file, keys)
    else:
        shutil.copyfileobj(content, file, _BLOCK_BYTES)
    file.flush()
    os.fsync(file.fileno())


def check(path: Path, *, keys: Sequence[Any] = (), copy: BinaryIO | None = None) -> CheckedBackup:
    """Read all of a backup, decrypt it if needed, and write it to ``copy`` if wanted.

    Raises ``InvalidInput`` if any bit of the file was changed, or if no key fits.
    """
    content = _CheckedContent(copy)
    try:
        with path.open("rb") as file:
            encrypted = file.peek(len(backup_keys.HEAD)).startswith(backup_keys.HEAD)
            if encrypted:
                backup_keys.decrypt(path, file, content, keys)
            else:
                shutil.copyfileobj(file, content, _BLOCK_BYTES)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}.") from error
    sha256, manifest = content.finish(path)
    return CheckedBackup(manifest=manifest, sha256=sha256, encrypted=encrypted)


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


class _EndedDump:
    """A dump that is read once, then its manifest, then the checksum of both."""

    def __init__(self, dump: BinaryIO, manifest: Manifest) -> None:
        self._dump = dump
        self._manifest = _MANIFEST + manifest.to_json()
        self._digest = hashlib.sha256()
        self._end: BytesIO | None = None

    def read(self, size: int = _BLOCK_BYTES) -> bytes:
        if self._end is None:
            if block := self._dump.read(size):
                self._digest.update(block)
                return block
            self._digest.update(self._manifest)
            self._end = BytesIO(self._manifest + _line(self._digest.hexdigest()))
        return self._end.read(size)


class _CheckedContent:
    """Hashes the bytes written to it, except for the last line, and keeps the end."""

    def __init__(self, copy: BinaryIO | None) -> None:
        self._copy = copy
        self._digest = hashlib.sha256()
        self._end = bytearray()

    def write(self, block: bytes) -> int:
        if self._copy:
            self._copy.write(block)
        self._end += block
        if (surplus := len(self._end) - _END_BYTES) > 0:
            self._digest.update(self._end[:surplus])
            del self._end[:surplus]
        return len(block)

    def finish(self, path: Path) -> tuple[str, Manifest]:
        """Return the SHA-256 and the manifest. Raises ``InvalidInput`` for a damaged file."""
        content, line = bytes(self._end[:-_LINE_BYTES]), bytes(self._end[-_LINE_BYTES:])
        self._digest.update(content)
        sha256 = self._digest.hexdigest()
        hint = "Use another backup."
        if not line.startswith(_CHECKSUM):
            text = f"{path} is not a backup of Cuebase, or damaged: no checksum ends it."
            raise InvalidInput(text, hint=hint)
        if line != _line(sha256):
            raise InvalidInput(f"{path} is damaged: its checksum does not match.", hint=hint)
        return sha256, Manifest.from_json(content.rpartition(_MANIFEST)[2])


def _line(sha256: str) -> bytes:
    return _CHECKSUM + sha256.encode() + b"\n"


@contextmanager
def snapshot() -> Iterator[tuple[str, Manifest]]:
    """Open a snapshot of the library for pg_dump; give its name and its manifest."""
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        try:
            cursor.execute(_SETTINGS)
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_export_snapshot()")
            yield str(cursor.fetchone()[0]), _read_manifest(cursor)
        finally:
            cursor.execute("ROLLBACK")


def _read_manifest(cursor: Any) -> Manifest:
    cursor.execute(
        "SELECT app || '.' || name FROM django_migrations WHERE app = ANY(%s) ORDER BY 1",
        [list(APPS)],
    )
    migrations = [str(row[0]) for row in cursor.fetchall()]
    cursor.execute(_TABLES)
    tables = {}
    for table, *_ in cursor.fetchall():
        cursor.execute("SELECT format(%s, %s::text)", [_CONTENTS, table])
        cursor.execute(cursor.fetchone()[0])
        tables[str(table)] = TableContents(*cursor.fetchone())
    return Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("cuebase"),
        migrations=migrations,
        tables=tables,
    )
