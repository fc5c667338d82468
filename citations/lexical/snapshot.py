"""Read what a search needs of the lexicon, by one statement: a consistent snapshot, whatever
changes meanwhile.

Large immutable data are fetched afterwards unless they are cached. If they are gone by then, all is
read again at once.
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

INLINE = 4096  # postings of a block that is fetched at once; larger ones are cached
_ALL = (1 << 31) - 1

Run = tuple[int, int]  # consecutive positions [first, end)


@dataclass(frozen=True, slots=True)
class UnmergedEntry:
    """A source's entry that is not in the packs yet or, if ``dead``, must no longer be."""

    pk: int
    first: int
    count: int
    tokens: int
    dead: bool
    words: Words

    @property
    def run(self) -> Run:
        return self.first, self.first + self.count


@dataclass(frozen=True, slots=True)
class PostingBlock:
    """A term's postings in one pack; ``skyline`` bounds the scores of long ones."""

    version: int
    n: int
    skyline: bytes
    postings: Postings


@dataclass(slots=True)
class Pack:
    """A pack with its blocks of the query's terms, and the lengths of its chunks if it has any
    block.
    """

    number: int
    version: int
    chunks: int
    tokens: int
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.uint8))
    blocks: dict[str, PostingBlock] = field(default_factory=dict)


@dataclass(slots=True)
class Snapshot:
    """The lexicon at one moment, restricted to some terms.

    ``runs`` are the positions that may be found (None: all), ``positions`` those of a time range.
    """

    packs: list[Pack]
    tail: list[UnmergedEntry]
    dead: list[UnmergedEntry]
    runs: list[Run] | None
    positions: NDArray[np.int64] | None
    _in_tail: dict[str, list[tuple[int, Postings]]] = field(default_factory=dict)

    @property
    def chunks(self) -> int:
        return (
            sum(pack.chunks for pack in self.packs)
            + sum(entry.count for entry in self.tail)
            - sum(entry.count for entry in self.dead)
        )

    @property
    def tokens(self) -> int:
        return (
            sum(pack.tokens for pack in self.packs)
            + sum(entry.tokens for entry in self.tail)
            - sum(entry.tokens for entry in self.dead)
        )

    def containing(self, term: str) -> int:
        """Count the chunks with a term."""
        merged = sum(pack.blocks[term].n for pack in self.packs if term in pack.blocks)
        dead = (entry.words.find(term) for entry in self.dead)
        return (
            merged
            + sum(postings.n for _, postings in self.in_tail(term))
            - sum(postings.n for postings in dead if postings)
        )

    def in_tail(self, term: str) -> list[tuple[int, Postings]]:
        """Return the postings of a term in unmerged entries, with the numbers of these."""
        if term not in self._in_tail:
            self._in_tail[term] = [
                (number, postings)
                for number, entry in enumerate(self.tail)
                if (postings := entry.words.find(term))
            ]
        return self._in_tail[term]


def read(terms: Iterable[str], resolved: ResolvedFilter | None = None) -> Snapshot:
    """Read what a search for stored terms needs."""
    terms = list(terms)
    try:
        return _read(terms, resolved, inline=INLINE)
    except Gone:
        return _read(terms, resolved, inline=_ALL)


class Gone(LookupError):
    """Data were merged or deleted between two statements."""


def fetch(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement with binary results: Django's cursors receive bytes as hexadecimal text."""
    with (
        connection.cursor(),
        connection.wrap_database_errors,
        psycopg.Cursor(connection.connection) as cursor,
    ):
        return cursor.execute(sql, parameters, binary=True).fetchall()


def cached(
    keys: dict[Any, Any],
    *,
    load: Callable[[list[Any]], Iterable[tuple[Any, Any]]],
    decode: Callable[[bytes], Any],
) -> dict[Any, Any]:
    """Return values by name: cached under their keys, or decoded from what ``load`` fetches. Raises
    ``Gone`` if any is missing.
    """
    values = {name: CACHE.get(key) for name, key in keys.items()}
    missing = [name for name, value in values.items() if value is None]
    if missing:
        for name, data in load(missing):
            values[name] = value = decode(data)
            CACHE.keep(keys[name], value, value.nbytes)
    if any(value is None for value in values.values()):
        raise Gone
    return values


# Reading

_PACK, _ENTRY, _BLOCK, _RUN, _POSITIONS = range(5)
_DEAD = 2  # a flag; 1 stands for what is merged

Row = tuple[Any, ...]  # kind, term, four numbers, flags, skyline, data, positions

_BASE = """
    SELECT 0, '', pack::bigint, version, count::bigint, tokens, 0, NULL::bytea,
        CASE WHEN %(whole)s THEN data END, NULL::bigint[] FROM citations_lexpack
    UNION ALL SELECT 1, '', id, first, count, tokens,
        merged::int + 2 * (source_id IS NULL)::int, NULL, CASE WHEN %(whole)s THEN data END, NULL
        FROM citations_lexentry WHERE NOT merged OR source_id IS NULL
    UNION ALL SELECT 2, term, pack, version, count, 0, 0, skyline,
        CASE WHEN count <= %(inline)s THEN data END, NULL
        FROM citations_lexblock WHERE term = ANY(%(terms)s)
"""
_OF_SOURCES = """
    UNION ALL SELECT 3, '', first, first + count, 0, 0, 0, NULL, NULL, NULL
        FROM citations_lexentry WHERE source_id = ANY(%(sources)s)
"""
_OF_TIMES = """
    UNION ALL SELECT 4, '', 0, 0, 0, 0, 0, NULL, NULL, array_agg(position ORDER BY position)
        FROM citations_chunk WHERE "end" > %(start)s AND start < %(end)s
            AND (%(sources)s::bigint[] IS NULL OR source_id = ANY(%(sources)s))
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
        end = 1 << 62 if resolved.end is None else max(resolved.end, start + 1)
        parameters |= {"start": start, "end": end}
    return _decoded(fetch(sql, parameters), narrowed=sources is not None)


def _decoded(rows: list[Row], *, narrowed: bool) -> Snapshot:
    kinds = {kind: [row for row in rows if row[0] == kind] for kind in range(5)}
    entries = _read_entries(kinds[_ENTRY])
    return Snapshot(
        packs=_read_packs(kinds[_PACK], kinds[_BLOCK]),
        tail=[entry for entry in entries if not entry.dead],
        dead=[entry for entry in entries if entry.dead],
        runs=sorted((row[2], row[3]) for row in kinds[_RUN]) if narrowed else None,
        positions=np.array(kinds[_POSITIONS][0][9] or [], np.int64) if kinds[_POSITIONS] else None,
    )


def _read_entries(rows: list[Row]) -> list[UnmergedEntry]:
    # An entry that died before it was merged has never counted.
    relevant = {row[2]: row for row in rows if row[6] != _DEAD}
    inline = [(pk, row[8]) for pk, row in relevant.items() if row[8] is not None]
    words = cached(
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
    numbers = {row[2] for row in blocks}
    inline = {row[2]: row[8] for row in rows if row[8] is not None}
    lengths = cached(
        {number: ("lengths", number, packs[number].version) for number in numbers},
        load=lambda missing: inline.items() or _pack_data(missing, packs),
        decode=from_lengths,
    )
    for number in numbers:
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
    postings = cached(
        {name: ("block", *name, row[3]) for name, row in large.items()},
        load=lambda missing: _block_data(missing, large),
        decode=from_block,
    )
    for _, term, number, version, n, _, _, skyline, data, _ in rows:
        packs[number].blocks[term] = PostingBlock(
            version, n, skyline, postings[term, number] if data is None else from_block(data)
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
    SELECT term, pack, version, data
    FROM unnest(%s::text[], %s::bigint[]) AS requested (term, pack)
    JOIN citations_lexblock USING (term, pack)
"""
