"""The manifest of a backup: when and by what it was made, and what each table contains.

Rows are counted and hashed in the snapshot that is dumped, and again before a restore is committed.
The checksum of a table does not depend on the order of its rows.
"""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple, Self

from django.db import connection
from psycopg import sql

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
