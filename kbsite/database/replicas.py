"""Read replicas: which of them may answer, and what a caller has written that it must have.

Positions are bytes of the primary's write-ahead log.
"""

import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import Error, connection, connections

MAX_LAG: Final = 2.0  # seconds that a replica may be behind what others than the caller have done
LEFT_OUT: Final = 1.0  # seconds until a replica that was late or dead is asked again

logger = logging.getLogger(__name__)
watchers: list[Callable[[str], None]] = []  # called with the server that answers a read

_POSITION: Final = "(pg_current_wal_lsn() - '0/0')::bigint"
# Without a wait for the disk, a commit may be beyond what is written.
_COMMITTED: Final = (
    "(CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()"
    " ELSE pg_current_wal_lsn() END - '0/0')::bigint"
)
_CLUSTER: Final = "(SELECT system_identifier FROM pg_control_system())"
_REPLAYED: Final = f"""
    SELECT {_CLUSTER}, coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint
    WHERE pg_is_in_recovery()
"""
_NEEDED: Final = f"""
    SELECT {_CLUSTER}, CASE WHEN NOT pg_is_in_recovery() THEN {_POSITION} END,
        coalesce((SELECT position FROM kbsite_writeposition WHERE user_id = %s), 0)
"""
_REMEMBER: Final = f"""
    INSERT INTO kbsite_writeposition (user_id, position)
    SELECT id, {_COMMITTED} FROM auth_user WHERE id = %s
    ON CONFLICT (user_id) DO UPDATE SET position = excluded.position
"""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a replica must be: one of a cluster, and as far as a position."""

    cluster: int
    position: int


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A replica, by the name in its address. ``lag`` is the bytes that it has not replayed; None
    with the ``problem`` for which it is left out, whatever it has replayed.
    """

    name: str
    lag: int | None
    problem: str = ""


class _Seen:
    """What this process has seen: where the primary was, lately, and which replicas failed."""

    cluster = position = 0
    at = -MAX_LAG
    turns = itertools.count()
    left_out: dict[str, float]


_seen = _Seen()
_seen.left_out = {}


def count_read(server: str) -> None:
    """Tell the watchers who has answered a read, or has to: a "replica" or the "primary"."""
    for watcher in watchers:
        watcher(server)


def names() -> list[str]:
    """Return the aliases of the replicas among Django's databases."""
    return list(settings.REPLICAS)


def needed_by(user: int | None) -> Needed | None:
    """Return what a replica must be to answer a user, or nobody in particular (None).

    None where the primary is away, so that a replica has answered this.
    """
    with connection.cursor() as cursor:
        cursor.execute(_NEEDED, [user])
        cluster, current, written = cursor.fetchone()
    if current is None:
        return None
    if monotonic() - _seen.at > MAX_LAG or cluster != _seen.cluster:
        _seen.cluster, _seen.position, _seen.at = cluster, current, monotonic()
    return Needed(cluster, max(written, min(_seen.position, current)))


def remember(user: int) -> None:
    """Remember that a user has written: replicas answer them from there on. The write is over."""
    with connection.cursor() as cursor:
        cursor.execute(_REMEMBER, [user])


def borrow(needed: Needed) -> Any:
    """Return a connection to the next replica that is as far as that; None if there is none."""
    return next((lent for alias in _in_turn() if (lent := _borrow(alias, needed))), None)


def borrow_any() -> Any:
    """Return a connection to a replica of the cluster that was last seen, however far."""
    return borrow(Needed(_seen.cluster, 0))


def states() -> Iterator[ReplicaState]:
    """Ask each replica how far it is."""
    if not names():
        return
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_CLUSTER}, {_POSITION}")
        cluster, position = cursor.fetchone()
    for alias in names():
        yield _state(alias, Needed(cluster, position))


def _state(alias: str, primary: Needed) -> ReplicaState:
    place = connections[alias].settings_dict
    name = place["HOST"] or place["OPTIONS"].get("host", "this machine")
    name = f"{name}:{place['PORT']}" if place["PORT"] else name
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(_REPLAYED)
            row = cursor.fetchone()
    except Error:
        return ReplicaState(name, None, "does not answer")
    finally:
        connections[alias].close()
    if row is None:
        return ReplicaState(name, None, "is no replica, but a primary")
    if row[0] != primary.cluster:
        return ReplicaState(name, None, "is a replica of another primary")
    return ReplicaState(name, max(primary.position - row[1], 0))


def _in_turn() -> Iterator[str]:
    aliases, turn = names(), next(_seen.turns)
    for number in range(len(aliases)):
        alias = aliases[(turn + number) % len(aliases)]
        if _seen.left_out.get(alias, 0.0) < monotonic():
            yield alias


def _borrow(alias: str, needed: Needed) -> Any:
    """Return a connection to this replica; leave it out for a moment if it is late or dead."""
    wrapper: Any = connections[alias]
    lent = None
    try:
        lent = wrapper.get_new_connection(wrapper.get_connection_params())
        row = lent.execute(_REPLAYED).fetchone()
        if row and row[0] == needed.cluster and row[1] >= needed.position:
            return lent
        # Late for this caller alone, it may be in time for the next.
        is_late = not row or row[0] != needed.cluster or row[1] < _seen.position
    except (Error, psycopg.Error) as error:
        logger.warning("%s is left out: %s", alias, type(error).__name__)
        is_late = True
    if is_late:
        _seen.left_out[alias] = monotonic() + LEFT_OUT
    if lent is not None:
        with suppress(psycopg.Error):
            wrapper.pool.putconn(lent)
    return None
