"""Read what a search needs of the lexicon, by one statement: a consistent snapshot, whatever
changes meanwhile, and the segments of it that are scanned: every pack, and all unmerged entries.

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
from citations.lexical.postings import PACK, Postings, Words, from_block, from_lengths
from citations.library.filters import ResolvedFilter

INLINE = 4096  # postings of a block that is fetched at once; larger ones are cached
_ALL = (1 << 31) - 1

Run = tuple[int, int]  # consecutive positions [first, end)
Mask = NDArray[np.bool_]
Slots = NDArray[Any]


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


@dataclass(slots=True)
class Pack:
    """A pack with the lengths of its chunks and, by term of the query, its postings there.

    ``counts`` are the chunks with a term; ``skylines`` bound the scores of long postings.
    """

    number: int
    version: int
    chunks: int
    tokens: int
    lengths: NDArray[Any] = field(default_factory=lambda: np.empty(0, np.uint8))
    counts: dict[str, int] = field(default_factory=dict)
    postings: dict[str, Postings] = field(default_factory=dict)
    skylines: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Snapshot:
    """The lexicon at one moment; ``runs`` and ``positions`` may be found (None: all)."""

    packs: list[Pack]
    tail: list[UnmergedEntry]
    dead: list[UnmergedEntry]
    runs: list[Run] | None
    positions: NDArray[np.int64] | None
    _in_tail: dict[str, list[tuple[int, Postings]]] = field(default_factory=dict)

    def size(self) -> tuple[int, int]:
        """Return the number of chunks, and of their tokens."""
        entries = [(1, entry) for entry in self.tail] + [(-1, entry) for entry in self.dead]
        return (
            sum(pack.chunks for pack in self.packs) + sum(n * entry.count for n, entry in entries),
            sum(pack.tokens for pack in self.packs) + sum(n * entry.tokens for n, entry in entries),
        )

    def containing(self, term: str) -> int:
        """Count the chunks with a term."""
        merged = sum(pack.counts.get(term, 0) for pack in self.packs)
        tail = sum(postings.n for _, postings in self.in_tail(term))
        dead = (entry.words.find(term) for entry in self.dead)
        return merged + tail - sum(postings.n for postings in dead if postings)

    def in_tail(self, term: str) -> list[tuple[int, Postings]]:
        """Return the postings of a term in unmerged entries, with the numbers of these."""
        if term not in self._in_tail:
            self._in_tail[term] = [
                (number, postings)
                for number, entry in enumerate(self.tail)
                if (postings := entry.words.find(term))
            ]
        return self._in_tail[term]


@dataclass(frozen=True, slots=True)
class LexicalSegment:
    """Chunks that are searched together; a slot is a chunk's number among them.

    ``runs`` are the positions of its slots, ascending; a pack's only run may be longer than its
    lengths. ``key`` identifies the segment and its version.
    """

    key: tuple[Any, ...]
    runs: Sequence[Run]
    lengths: NDArray[Any]
    postings: dict[str, Postings]
    skylines: dict[str, bytes]

    @property
    def size(self) -> int:
        return len(self.lengths)

    def having(self, term: str) -> Slots:
        return self.postings[term].slots if term in self.postings else np.empty(0, np.int64)

    def positions(self, slots: Slots) -> NDArray[np.int64]:
        if len(self.runs) == 1:
            return np.asarray(slots.astype(np.int64) + self.runs[0][0])
        firsts, starts = self._table
        owners = np.searchsorted(starts, slots, side="right") - 1
        return np.asarray(slots - starts[owners] + firsts[owners])

    def inside(self, positions: NDArray[np.int64]) -> Slots:
        """Return the slots of those positions that are in this segment."""
        slots = self._at(positions)
        real = slots < self.size
        slots, positions = slots[real], positions[real]
        return np.asarray(slots[self.positions(slots) == positions])

    def overlaps(self, run: Run) -> bool:
        return run[0] < self.runs[-1][1] and run[1] > self.runs[0][0]

    def covered(self, runs: Sequence[Run]) -> Mask:
        """Mark the slots whose positions are in one of the runs, which do not overlap."""
        borders = self._at(np.array(runs, np.int64).reshape(-1, 2))
        starts, ends = (np.bincount(column, minlength=self.size + 1) for column in borders.T)
        return np.asarray(np.cumsum((starts - ends)[:-1]) > 0)

    def _at(self, positions: NDArray[np.int64]) -> Slots:
        """Return for each position the slot of the first position at or after it; else the size."""
        firsts, starts = self._table
        owners = np.maximum(np.searchsorted(firsts, positions, side="right") - 1, 0)
        ends = np.append(starts[1:], self.size)
        slots = positions - firsts[owners] + starts[owners]
        return np.asarray(np.clip(slots, starts[owners], ends[owners]))

    @property
    def _table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first position and the first slot of each run."""
        firsts, ends = np.array(self.runs, np.int64).T
        return firsts, np.cumsum(ends - firsts) - (ends - firsts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFilter:
    """Stored terms: chunks must have all of ``required`` and none of ``excluded``."""

    required: Sequence[str] = ()
    excluded: Sequence[str] = ()


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
    """Return values by name, cached or decoded from what ``load`` fetches. Raises ``Gone``."""
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
    rows = fetch(sql, parameters)
    kinds = {kind: [row for row in rows if row[0] == kind] for kind in range(5)}
    entries = _read_entries(kinds[_ENTRY])
    return Snapshot(
        packs=_read_packs(kinds[_PACK], kinds[_BLOCK]),
        tail=[entry for entry in entries if not entry.dead],
        dead=[entry for entry in entries if entry.dead],
        runs=sorted((row[2], row[3]) for row in kinds[_RUN]) if sources is not None else None,
        positions=np.array(kinds[_POSITIONS][0][9] or [], np.int64) if kinds[_POSITIONS] else None,
    )


def _read_entries(rows: list[Row]) -> list[UnmergedEntry]:
    # An entry that died before it was merged has never counted.
    relevant = {row[2]: row for row in rows if row[6] != _DEAD}
    inline = [(pk, row[8]) for pk, row in relevant.items() if row[8] is not None]
    words = cached(
        {pk: ("entry", pk) for pk in relevant},
        load=lambda missing: inline or fetch(_ENTRY_DATA, [missing]),
        decode=Words.from_bytes,
    )
    ordered = sorted(relevant.values(), key=lambda row: int(row[3]))
    return [
        UnmergedEntry(pk, first, count, tokens, dead=bool(flags & _DEAD), words=words[pk])
        for _, _, pk, first, count, tokens, flags, *_ in ordered
    ]


def _read_packs(rows: list[Row], blocks: list[Row]) -> list[Pack]:
    packs = {row[2]: Pack(*row[2:6]) for row in rows}
    numbers = {row[2] for row in blocks}
    inline = {row[2]: row[8] for row in rows if row[8] is not None}
    lengths = cached(
        {number: ("lengths", number, packs[number].version) for number in numbers},
        load=lambda missing: (
            inline.items()
            or [
                (number, data)
                for number, version, data in fetch(_PACK_DATA, [missing])
                if version == packs[number].version
            ]
        ),
        decode=from_lengths,
    )
    for number in numbers:
        packs[number].lengths = lengths[number]
    large = {(row[1], row[2]): row for row in blocks if row[8] is None}
    postings = cached(
        {name: ("block", *name, row[3]) for name, row in large.items()},
        load=lambda missing: _block_data(missing, large),
        decode=from_block,
    )
    for _, term, number, _, count, _, _, skyline, data, _ in blocks:
        pack = packs[number]
        pack.counts[term] = count
        pack.postings[term] = postings[term, number] if data is None else from_block(data)
        if skyline:
            pack.skylines[term] = skyline
    return sorted(packs.values(), key=lambda pack: pack.number)


def _block_data(
    names: list[tuple[str, int]], large: dict[tuple[str, int], Row]
) -> list[tuple[Any, ...]]:
    rows = fetch(_BLOCK_DATA, [list(column) for column in zip(*names, strict=True)])
    return [
        ((term, number), data)
        for term, number, version, data in rows
        if version == large[term, number][3]
    ]


_PACK_DATA = "SELECT pack, version, data FROM citations_lexpack WHERE pack = ANY(%s)"
_ENTRY_DATA = "SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)"
_BLOCK_DATA = """
    SELECT term, pack, version, data
    FROM unnest(%s::text[], %s::bigint[]) AS requested (term, pack)
    JOIN citations_lexblock USING (term, pack)
"""


# Segments


def segments(snapshot: Snapshot, terms: Iterable[str]) -> list[LexicalSegment]:
    """Return the segments with any of the stored terms."""
    found = [
        LexicalSegment(
            key=("pack", pack.number, pack.version),
            runs=((pack.number * PACK, (pack.number + 1) * PACK),),
            lengths=pack.lengths,
            postings=pack.postings,
            skylines=pack.skylines,
        )
        for pack in snapshot.packs
        if pack.postings
    ]
    tail = _of_tail(snapshot, terms) if snapshot.tail else None
    return [*found, tail] if tail and tail.postings else found


def allowed(snapshot: Snapshot, segment: LexicalSegment, terms: TermFilter) -> Mask | None:
    """Mark the slots that may be found. None: all of them."""
    mask = _within_filter(snapshot, segment)
    if not terms.required and not terms.excluded:
        return mask
    mask = np.ones(segment.size, bool) if mask is None else mask
    for term in terms.required:
        has_term = np.zeros(segment.size, bool)
        has_term[segment.having(term)] = True
        mask &= has_term
    for term in terms.excluded:
        mask[segment.having(term)] = False
    return mask


def _within_filter(snapshot: Snapshot, segment: LexicalSegment) -> Mask | None:
    mask: Mask | None = None
    if snapshot.runs is not None:
        mask = segment.covered(snapshot.runs)
    elif dead := [entry.run for entry in snapshot.dead if segment.overlaps(entry.run)]:
        mask = ~segment.covered(sorted(dead))
    if snapshot.positions is not None:
        timed = np.zeros(segment.size, bool)
        timed[segment.inside(snapshot.positions)] = True
        mask = timed if mask is None else mask & timed
    return mask


def _of_tail(snapshot: Snapshot, terms: Iterable[str]) -> LexicalSegment:
    starts = np.cumsum([0, *(entry.count for entry in snapshot.tail)]).astype(np.uint32)
    return LexicalSegment(
        key=("tail", *(entry.pk for entry in snapshot.tail)),
        runs=[entry.run for entry in snapshot.tail],
        lengths=np.concatenate([entry.words.lengths for entry in snapshot.tail]),
        postings={
            term: _joined(starts, found) for term in terms if (found := snapshot.in_tail(term))
        },
        skylines={},
    )


def _joined(starts: NDArray[np.uint32], parts: Sequence[tuple[int, Postings]]) -> Postings:
    numbers, postings = zip(*parts, strict=True)
    slots = np.concatenate([part.slots for part in postings], dtype=np.uint32)
    slots += np.repeat(starts[[*numbers]], [part.n for part in postings])
    return Postings(slots, np.concatenate([part.pairs()[1] for part in postings]))
