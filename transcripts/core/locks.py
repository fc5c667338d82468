"""Every PostgreSQL advisory lock of the application.

A session lock belongs to one database connection and ends with it, so a killed process leaves none
behind. Take and release it on the same thread. A transaction lock ends with its transaction.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.db import InterfaceError, OperationalError, connection


class Lock(IntEnum):
    """The first key of each lock, "CU" and two letters, and a comment on its second key."""

    JOB = 0x43554542  # job id: one process does the job
    SOURCE = 0x43554543  # source id: one process indexes the source
    GUIDE = 0x43554755  # guide id: one process makes the guide
    ABSTRACTS = 0x43554142  # request id: one process has the abstracts of a source written
    SPACE = 0x4355454D  # embedding space id: one process builds the space
    SPACE_SWITCH = 0x43555357  # writers of chunks and vectors share it; a switch takes it alone
    HNSW_INDEX = 0x43554958  # one process builds a nearest-neighbour index
    LEXICON_MERGE = 0x43554C4D  # one process merges postings
    LEXICON_RENEWAL = 0x43554C52  # one process indexes words again that another version indexed
    LEXICON_POSITION = 0x43554C50  # taken in SQL (citations/migrations/0001_squashed…)
    ARCHIVE = 0x43554152  # archive id: one process makes the file
    TOPICS = 0x4355544F  # collection id: one transaction changes its topics
    WINDOWS = 0x43554C56  # one process claims lecture windows
    DOCUMENT = 0x4355444F  # hash of collection and bytes: one process stores this file
    SCHEMA = 0x43554D49  # one process migrates the database
    VERSION = 0x43555645  # hash of an address: one change that names a version at a time
    DELIVERY = 0x43555748  # delivery id: one process sends the message to a webhook
    DELETION = 0x4355444C  # deletion id: one process carries it out
    LISTENING = 0x43554C49  # one process listens to a recording
    SCHEDULE = 0x43555343  # one worker sends the recurring tasks


_of_thread = threading.local()  # held: the session locks of this thread


@contextmanager
def hold(lock: Lock, key: int | None = None, *, wait: bool = False) -> Iterator[bool]:
    """Hold a session lock during the block; yield False if another session holds it already."""
    if wait:
        _select("pg_advisory_lock", lock, key)
    elif not _select("pg_try_advisory_lock", lock, key):
        yield False
        return
    _of_thread.held = held_before = getattr(_of_thread, "held", 0) + 1
    try:
        yield True
    finally:
        _of_thread.held = held_before - 1
        try:
            _select("pg_advisory_unlock", lock, key)
        except (OperationalError, InterfaceError):
            connection.close()  # the lock has ended with the session


def keep(lock: Lock) -> bool:
    """Take a session lock until the connection ends; return False if another session holds it.

    Call it again to learn whether it is still held: a session may take its own lock repeatedly.
    """
    return _select("pg_try_advisory_lock", lock, None)


def release_connection() -> None:
    """Give the database connection of this thread back: whoever waits needs none, unless it is in a
    transaction or holds a session lock.
    """
    if not connection.in_atomic_block and not getattr(_of_thread, "held", 0):
        connection.close()


def is_held(lock: Lock, key: int) -> bool:
    """Return whether any session holds the lock."""
    return key in held_keys(lock)


def held_keys(lock: Lock) -> list[int]:
    """Return the second keys with which sessions hold the lock, this session included."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted"
            " AND classid = %s AND objsubid = 2"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            [lock.value],
        )
        return [key for (key,) in cursor.fetchall()]


def hold_for_transaction(lock: Lock, key: int | None = None, *, shared: bool = False) -> None:
    """Wait for a lock, and hold it until the transaction ends."""
    _select("pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock", lock, key)


def try_for_transaction(lock: Lock) -> bool:
    """Hold a lock until the transaction ends; return False if another session holds it."""
    return _select("pg_try_advisory_xact_lock", lock, None)


def _select(function: str, lock: Lock, key: int | None) -> bool:
    keys = [lock.value] if key is None else [lock.value, key]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}({', '.join(['%s'] * len(keys))})", keys)
        return bool(cursor.fetchone()[0])
