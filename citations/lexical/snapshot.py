"""What one search sees of the lexicon: read by a single statement, so that whatever is stored, deleted or merged meanwhile, it is of one moment.

What is large and never changes is fetched afterwards unless this process still has it. Should it be gone by then, everything is read again at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

from citations.caches import CACHE
from citations.lexical.postings import Postings, Words, from_block, from_lengths
from citations.library.filters import ResolvedFilter

INLINE = (
    4096  # postings of a block that is fetched at once; larger ones are kept, being asked for again
)
_ALL = (1 << 31) - 1

Run = tuple[int, int]  # the first of some consecutive places, and the first that does not belong


@dataclass(frozen=True, slots=True)
class UnmergedEntry:
    """A source's entry that the packs do not hold yet, or (``dead``) should no longer hold."""

    pk: int
    first: int
    count: int
    tokens: int
    dead: bool
    words: Words

    @property
    def run(self) -> Run:
        """Its places."""
        return self.first, self.first + self.count


@dataclass(frozen=True, slots=True)
class PostingBlock:
    """A term's postings in one pack. ``sky`` are the pairs that bound their scores; few postings have none."""

    version: int
    n: int
    sky: bytes
    postings: Postings


@dataclass(slots=True)
class Pack:
    """A pack, and its blocks of the terms that were asked for; ``lengths`` are those of its chunks where there is any block."""

    number: int
    version: int
    chunks: int
    tokens: int
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.uint8))
    blocks: dict[str, PostingBlock] = field(default_factory=dict)


@dataclass(slots=True)
class Snapshot:
    """The lexicon at one moment, as far as some terms resolved.

    ``runs`` are the places that the search may find (None: all), ``places`` the single ones of a time range.
    """

    packs: list[Pack]
    tail: list[UnmergedEntry]
    dead: list[UnmergedEntry]
    runs: list[Run] | None
    places: NDArray[np.int64] | None
    _in_tail: dict[str, list[tuple[int, Postings]]] = field(default_factory=dict)

    @property
    def chunks(self) -> int:
        """Count the chunks there are."""
        return (
            sum(pack.chunks for pack in self.packs)
            + sum(entry.count for entry in self.tail)
            - sum(entry.count for entry in self.dead)
        )

    @property
    def tokens(self) -> int:
        """Count their words."""
        return (
            sum(pack.tokens for pack in self.packs)
            + sum(entry.tokens for entry in self.tail)
            - sum(entry.tokens for entry in self.dead)
        )

    def containing(self, term: str) -> int:
        """Count the chunks that say a term."""
        merged = sum(pack.blocks[term].n for pack in self.packs if term in pack.blocks)
        dead = (entry.words.find(term) for entry in self.dead)
        return (
            merged
            + sum(postings.n for _, postings in self.in_tail(term))
            - sum(postings.n for postings in dead if postings)
        )

    def in_tail(self, term: str) -> list[tuple[int, Postings]]:
        """Return where entries outside the packs say a term, each with its number among them."""
        found = self._in_tail.get(term)
        if found is None:
            found = [
                (number, postings)
                for number, entry in enumerate(self.tail)
                if (postings := entry.words.find(term))
            ]
            self._in_tail[term] = found
        return found


def read(terms: Iterable[str], resolved: ResolvedFilter | None = None) -> Snapshot:
    """Read what a search for these (stored) terms needs."""
    terms = list(terms)
    try:
        return _read(terms, resolved, inline=INLINE)
    except Gone:
        return _read(terms, resolved, inline=_ALL)


class Gone(LookupError):
    """Something was merged or deleted between two statements."""


def fetch(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement whose results come in PostgreSQL's binary form: Django's own cursors get bytes as hexadecimal text."""
    with (
        connection.cursor(),
        connection.wrap_database_errors,
        psycopg.Cursor(connection.connection) as cursor,
    ):
        return cursor.execute(sql, parameters, binary=True).fetchall()


def kept(
    keys: dict[Any, Any],
    *,
    load: Callable[[list[Any]], Iterable[tuple[Any, Any]]],
    decode: Callable[[bytes], Any],
) -> dict[Any, Any]:
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
_DEAD = 2  # a flag; 1 stands for what is merged

Row = tuple[Any, ...]  # kind, term, four numbers, flags, sky, data, places

_BASE = """
    SELECT 0, '', pack::bigint, version, count::bigint, tokens, 0, NULL::bytea, CASE WHEN %(whole)s THEN data END, NULL::bigint[] FROM citations_lexpack
    UNION ALL SELECT 1, '', id, first, count, tokens, merged::int + 2 * (source_id IS NULL)::int, NULL, CASE WHEN %(whole)s THEN data END, NULL
        FROM citations_lexentry WHERE NOT merged OR source_id IS NULL
    UNION ALL SELECT 2, term, pack, version, count, 0, 0, skyline, CASE WHEN count <= %(inline)s THEN data END, NULL
        FROM citations_lexblock WHERE term = ANY(%(terms)s)
"""
_OF_SOURCES = """
    UNION ALL SELECT 3, '', first, first + count, 0, 0, 0, NULL, NULL, NULL FROM citations_lexentry WHERE source_id = ANY(%(sources)s)
"""
_OF_TIMES = """
    UNION ALL SELECT 4, '', 0, 0, 0, 0, 0, NULL, NULL, array_agg(position ORDER BY position) FROM citations_chunk
        WHERE "end" > %(start)s AND start < %(end)s AND (%(sources)s::bigint[] IS NULL OR source_id = ANY(%(sources)s))
"""


def _read(terms: list[str], resolved: ResolvedFilter | None, *, inline: int) -> Snapshot:
    sources = None if resolved is None or resolved.sources is None else list(resolved.sources)
    parameters: dict[str, Any] = {
        "inline": inline,
        "whole": inline == _ALL,
        "terms": terms,
        "sources": sources,
    }
    sql = _BASE + (_OF_SOURCES if sources is not None else "")
    if resolved is not None and resolved.narrows_time:
        sql += _OF_TIMES
        start = resolved.start or 0
        parameters |= {
            "start": start,
            "end": 1 << 62 if resolved.end is None else max(resolved.end, start + 1),
        }
    return _understood(fetch(sql, parameters), narrowed=sources is not None)


def _understood(rows: list[Row], *, narrowed: bool) -> Snapshot:
    kinds: dict[int, list[Row]] = {
        kind: [row for row in rows if row[0] == kind] for kind in range(5)
    }
    entries = _read_entries(kinds[_ENTRY])
    return Snapshot(
        packs=_read_packs(kinds[_PACK], kinds[_BLOCK]),
        tail=[entry for entry in entries if not entry.dead],
        dead=[entry for entry in entries if entry.dead],
        runs=sorted((row[2], row[3]) for row in kinds[_RUN]) if narrowed else None,
        places=np.array(kinds[_PLACES][0][9] or [], np.int64) if kinds[_PLACES] else None,
    )


def _read_entries(rows: list[Row]) -> list[UnmergedEntry]:
    relevant = {
        row[2]: row for row in rows if row[6] != _DEAD
    }  # one that died before it was merged was never counted
    inline = [(pk, row[8]) for pk, row in relevant.items() if row[8] is not None]
    words = kept(
        {pk: ("entry", pk) for pk in relevant},
        load=lambda missing: inline or _entry_data(missing),
        decode=Words.from_bytes,
    )
    ordered = sorted(relevant.values(), key=lambda row: int(row[3]))
    return [
        UnmergedEntry(pk, first, count, tokens, dead=bool(flags & _DEAD), words=words[pk])
        for _, _, pk, first, count, tokens, flags, *_ in ordered
    ]


def _entry_data(pks: list[int]) -> list[Row]:
    return fetch("SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)", [pks])


def _read_packs(rows: list[Row], blocks: list[Row]) -> list[Pack]:
    packs = {row[2]: Pack(*row[2:6]) for row in rows}
    wanted = {row[2] for row in blocks}
    inline = {row[2]: row[8] for row in rows if row[8] is not None}
    lengths = kept(
        {number: ("lengths", number, packs[number].version) for number in wanted},
        load=lambda missing: inline.items() or _pack_data(missing, packs),
        decode=from_lengths,
    )
    for number in wanted:
        packs[number].lengths = lengths[number]
    _add_blocks(packs, blocks)
    return sorted(packs.values(), key=lambda pack: pack.number)


def _pack_data(numbers: list[int], packs: dict[int, Pack]) -> list[tuple[Any, ...]]:
    rows = fetch(
        "SELECT pack, version, data FROM citations_lexpack WHERE pack = ANY(%s)", [numbers]
    )
    return [(number, data) for number, version, data in rows if version == packs[number].version]


def _add_blocks(packs: dict[int, Pack], rows: list[Row]) -> None:
    large = {(row[1], row[2]): row for row in rows if row[8] is None}
    postings = kept(
        {name: ("block", *name, row[3]) for name, row in large.items()},
        load=lambda missing: _block_data(missing, large),
        decode=from_block,
    )
    for _, term, number, version, n, _, _, sky, data, _ in rows:
        packs[number].blocks[term] = PostingBlock(
            version, n, sky, postings[term, number] if data is None else from_block(data)
        )


def _block_data(
    names: list[tuple[str, int]], large: dict[tuple[str, int], Row]
) -> list[tuple[Any, ...]]:
    terms, numbers = [name[0] for name in names], [name[1] for name in names]
    rows = fetch(_BLOCK_DATA, [terms, numbers])
    return [
        ((term, number), data)
        for term, number, version, data in rows
        if version == large[term, number][3]
    ]


_BLOCK_DATA = """
    SELECT term, pack, version, data FROM unnest(%s::text[], %s::bigint[]) AS wanted (term, pack) JOIN citations_lexblock USING (term, pack)
"""
