"""Advisory locks exclude other connections, and all of them stand in one table."""

import re
from pathlib import Path

import psycopg
import pytest
from django.db import connection, transaction

from transcripts.core import locks
from transcripts.core.locks import Lock

ROOT = Path(__file__).resolve().parents[3]
MIGRATION = ROOT / "citations/migrations/0001_initial.py"


def other_connection() -> "psycopg.Connection[tuple[bool]]":
    values = connection.settings_dict
    return psycopg.connect(
        dbname=values["NAME"],
        user=values["USER"],
        password=values["PASSWORD"],
        host=values["HOST"],
        port=values["PORT"],
        autocommit=True,
    )


def is_free_for(other: "psycopg.Connection[tuple[bool]]", *keys: int) -> bool:
    marks = ", ".join(["%s"] * len(keys))
    row = other.execute(f"SELECT pg_try_advisory_lock({marks})", keys).fetchone()
    if row and row[0]:
        other.execute(f"SELECT pg_advisory_unlock({marks})", keys)
    return bool(row and row[0])


@pytest.mark.django_db
def test_a_session_lock_excludes_other_connections_until_the_block_ends() -> None:
    with other_connection() as other:
        with locks.hold(Lock.JOB, 7) as held:
            assert held
            assert locks.is_held(Lock.JOB, 7)
            assert not is_free_for(other, Lock.JOB, 7)
            assert is_free_for(other, Lock.JOB, 8)
            assert is_free_for(other, Lock.SOURCE, 7)
        assert is_free_for(other, Lock.JOB, 7)
        other.execute("SELECT pg_advisory_lock(%s, 7)", [Lock.JOB.value])
        with locks.hold(Lock.JOB, 7) as held:
            assert not held
        assert locks.is_held(Lock.JOB, 7)
        # Closing the connection would release it too, but not before the server notices.
        other.execute("SELECT pg_advisory_unlock(%s, 7)", [Lock.JOB.value])
        assert not locks.is_held(Lock.JOB, 7)


@pytest.mark.django_db(transaction=True)
def test_a_transaction_lock_ends_with_its_transaction() -> None:
    with other_connection() as other:
        with transaction.atomic():
            assert locks.try_for_transaction(Lock.LEXICON_MERGE)
            locks.hold_for_transaction(Lock.DOCUMENT, -5)
            assert not is_free_for(other, Lock.LEXICON_MERGE)
            assert not is_free_for(other, Lock.DOCUMENT, -5)
        assert is_free_for(other, Lock.LEXICON_MERGE)
        assert is_free_for(other, Lock.DOCUMENT, -5)


def test_no_other_module_takes_an_advisory_lock() -> None:
    paths = [
        path
        for package in ("transcripts", "citations", "kbsite")
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"pg_\w*advisory", path.read_text())
    ]
    assert sorted(paths) == sorted([MIGRATION, ROOT / "transcripts/core/locks.py"])


def test_the_migration_uses_the_number_in_the_table() -> None:
    numbers = re.findall(r"0x4355\w+", MIGRATION.read_text())
    assert [int(number, 16) for number in numbers] == [Lock.LEXICON_POSITION]
