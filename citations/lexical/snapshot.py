"""What one search sees of the lexicon: read by a single statement, so that whatever is stored, deleted or merged meanwhile, it is of one moment.

What is large and never changes is fetched afterwards unless this process still has it. Should it be gone by then, everything is read again at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import psycopg
from django.db import connection

from citations.filters import Reach
from citations.lexical.cache import CACHE
from citations.lexical.postings import Words

INLINE = 4096  # postings of a block that is fetched at once; larger ones are kept, being asked for again
_EVERYTHING = 1 << 31

Run = tuple[int, int]  # the first of some consecutive places, and the first that does not belong


class Pack(NamedTuple):
    """What is known of a pack before its lengths are read."""

    pack: int
    version: int
    chunks: int
    tokens: int


class Block(NamedTuple):
    """What is known of a block; ``data`` is None where it is large."""

    term: str
    pack: int
    version: int
    n: int
    sky: bytes
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A source's entry that the packs do not hold, or (``dead``) should not hold."""

    pk: int
    first: int
    count: int
    tokens: int
    merged: bool
    dead: bool
    words: Words


@dataclass(slots=True)
class Snapshot:
    """The lexicon at one moment, as far as some terms reach.

    ``runs`` are the places that the search may find (None: all), ``places`` the single ones of a time range.
    """

    packs: list[Pack] = field(default_factory=list)
    tail: list[Entry] = field(default_factory=list)
    dead: list[Entry] = field(default_factory=list)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    runs: list[Run] | None = None
    places: "np.ndarray[Any, Any] | None" = None

    @property
    def chunks(self) -> int:
        """Count the chunks there are."""
        return sum(pack.chunks for pack in self.packs) + sum(entry.count for entry in self.tail) - sum(entry.count for entry in self.dead)

    @property
    def tokens(self) -> int:
        """Count their words."""
        return sum(pack.tokens for pack in self.packs) + sum(entry.tokens for entry in self.tail) - sum(entry.tokens for entry in self.dead)

    def containing(self, term: str) -> int:
        """Count the chunks that say a term."""
        merged = sum(block.n for block in self.blocks.get(term, ()))
        return merged + _said(self.tail, term) - _said(self.dead, term)


def read(terms: Iterable[str], reach: Reach | None = None) -> Snapshot:
    """Read what a search for these (stored) terms needs."""
    terms = list(terms)
    try:
        return _read(terms, reach, inline=INLINE)
    except Gone:
        return _read(terms, reach, inline=_EVERYTHING)


class Gone(LookupError):
    """Something was merged or deleted between two statements."""


def fetch(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement whose results come in PostgreSQL's binary form: Django's own cursors get bytes as hexadecimal text."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(sql, parameters, binary=True).fetchall()


def kept(keys: dict[Any, Any], *, load: Callable[[list[Any]], Iterable[tuple[Any, Any]]], decode: Callable[[bytes], Any]) -> dict[Any, Any]:
    """Return values by name: from memory by their keys, or else decoded from what ``load`` fetches. Raises ``Gone`` if that is not all."""
    found = {name: CACHE.get(key) for name, key in keys.items()}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        for name, data in load(missing):
            found[name] = value = decode(data)
            CACHE.keep(keys[name], value, value.nbytes)
    if any(value is None for value in found.values()):
        raise Gone
    return found


# Reading

_PACK, _ENTRY, _BLOCK, _RUN, _PLACES = range(5)
_MERGED, _DEAD = 1, 2

_BASE = """
    SELECT 0, '', pack::bigint, version, count::bigint, tokens, 0, NULL::bytea, NULL::bytea, NULL::bigint[] FROM citations_lexpack
    UNION ALL SELECT 1, '', id, first, count, tokens, merged::int + 2 * (source_id IS NULL)::int, NULL, CASE WHEN %(whole)s THEN data END, NULL
        FROM citations_lexentry WHERE NOT merged OR source_id IS NULL
    UNION ALL SELECT 2, term, pack, version, n, 0, 0, sky, CASE WHEN n <= %(inline)s THEN data END, NULL
        FROM citations_lexblock WHERE term = ANY(%(terms)s)
"""
_OF_SOURCES = """
    UNION ALL SELECT 3, '', first, first + count, 0, 0, 0, NULL, NULL, NULL FROM citations_lexentry WHERE source_id = ANY(%(sources)s)
"""
_OF_TIMES = """
    UNION ALL SELECT 4, '', 0, 0, 0, 0, 0, NULL, NULL, array_agg(place ORDER BY place) FROM citations_chunk
        WHERE "end" > %(start)s AND start < %(end)s AND (%(sources)s::bigint[] IS NULL OR source_id = ANY(%(sources)s))
"""


def _read(terms: list[str], reach: Reach | None, *, inline: int) -> Snapshot:
    sources = None if reach is None or reach.sources is None else list(reach.sources)
    parameters: dict[str, Any] = {"inline": inline, "whole": inline == _EVERYTHING, "terms": terms, "sources": sources}
    sql = _BASE + (_OF_SOURCES if sources is not None else "")
    if reach is not None and reach.narrows_time:
        sql += _OF_TIMES
        start = reach.start or 0
        parameters |= {"start": start, "end": 1 << 62 if reach.end is None else max(reach.end, start + 1)}
    return _understood(fetch(sql, parameters), narrowed=sources is not None)


def _understood(rows: list[tuple[Any, ...]], *, narrowed: bool) -> Snapshot:
    found = Snapshot(runs=[] if narrowed else None)
    entries: list[tuple[Any, ...]] = []
    for kind, term, a, b, c, d, flags, sky, data, places in rows:
        if kind == _PACK:
            found.packs.append(Pack(a, b, c, d))
        elif kind == _ENTRY:
            entries.append((a, b, c, d, flags, data))
        elif kind == _BLOCK:
            found.blocks.setdefault(term, []).append(Block(term, a, b, c, sky, data))
        elif kind == _RUN and found.runs is not None:
            found.runs.append((a, b))
        elif kind == _PLACES:
            found.places = np.array(places or [], np.int64)
    _add_entries(found, entries)
    return found


def _add_entries(found: Snapshot, rows: list[tuple[Any, ...]]) -> None:
    relevant = {row[0]: row for row in rows if row[4] != _DEAD}  # one that died before it was merged was never counted
    inline = [(pk, row[5]) for pk, row in relevant.items() if row[5] is not None]
    words = kept({pk: ("entry", pk) for pk in relevant}, load=lambda missing: inline or _entries(missing), decode=Words.from_bytes)
    for pk, first, count, tokens, flags, _ in sorted(relevant.values(), key=lambda row: int(row[1])):
        entry = Entry(pk, first, count, tokens, merged=bool(flags & _MERGED), dead=bool(flags & _DEAD), words=words[pk])
        (found.dead if entry.dead else found.tail).append(entry)


def _entries(pks: list[int]) -> list[tuple[Any, ...]]:
    return fetch("SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)", [pks])


def _said(entries: Iterable[Entry], term: str) -> int:
    return sum(len(postings.slots) for entry in entries if (postings := entry.words.find(term)))
