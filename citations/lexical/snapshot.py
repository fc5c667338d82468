"""Read what a search needs of the lexicon, by one statement: a consistent snapshot, whatever
changes meanwhile. The same statement decides what the caller may read, and so what is counted.

Large immutable data are fetched afterwards unless they are cached. If they are gone by then, all is
read again at once.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
import psycopg
from django.db import connection
from numpy.typing import NDArray

from citations.caches import CACHE
from citations.lexical.postings import Postings, Runs, Words, from_block, from_lengths, from_runs
from citations.library.filters import ResolvedFilter
from transcripts.text.terms import Codes
from transcripts.text.tokenizer import TOKENIZER_VERSION

INLINE = 4096  # postings of a block that is fetched at once; larger ones are cached
_ALL = (1 << 31) - 1
_PAIR: Final = struct.Struct("<II")

Run = tuple[int, int]  # consecutive positions [first, end)
Terms = Mapping[str, Mapping[str, float]]  # of each word of a query, and what each counts
TermsBy = Callable[[Codes], Terms]  # by the stemmers of the library's languages


@dataclass(frozen=True, slots=True)
class UnmergedEntry:
    """A source's entry that is not in the packs yet."""

    pk: int
    first: int
    count: int
    words: Words
    is_outdated: bool  # indexed by the tokenizer's version before

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

    def skyline(self, term: str) -> Sequence[tuple[int, int]]:
        """Return pairs of frequency and length that no posting of a term exceeds in both."""
        if term in self.skylines:
            return [*_PAIR.iter_unpack(self.skylines[term])]
        slots, frequencies = self.postings[term].pairs()
        return [(int(frequencies.max()), int(self.lengths[slots].min()))]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The lexicon at one moment.

    ``terms`` are those of each word of the query, ``before`` those in what the tokenizer's version
    before has indexed, which in the packs are the ``outdated`` runs; packs and tail have what is
    stored of them. The statistics are those of the ``readable`` runs (None: of everything but the
    ``dead`` ones), which have so many ``chunks`` and ``tokens``. ``runs`` and ``positions`` may be
    found (None: all that counts).
    """

    terms: Terms
    before: Terms
    packs: list[Pack]
    tail: list[UnmergedEntry]
    dead: Runs
    outdated: Runs
    readable: Runs | None
    chunks: int
    tokens: int
    runs: Runs | None
    positions: NDArray[np.int64] | None
    codes: frozenset[str]  # of the stemmers of what is indexed


def read(terms: TermsBy, resolved: ResolvedFilter, *, before: TermsBy | None = None) -> Snapshot:
    """Read what a search for words needs, whose terms are given, also those ``before`` if these are
    others.
    """
    inline = INLINE
    while True:
        codes = tuple(_CODES)
        own = terms(codes)
        try:
            state = _read(own, before(codes) if before else own, resolved, inline=inline)
        except Gone:
            inline = _ALL
            continue
        if state.codes <= _CODES.keys():
            return state
        _CODES.update(dict.fromkeys(sorted(state.codes)))


_CODES: Final = {"": None}  # those known so far: a new language is rare


def runs_of(collections: Iterable[int]) -> dict[int, Runs]:
    """Return the runs of the chunks of each collection that has any."""
    return {pk: from_runs(data) for pk, data in fetch(_RUNS_OF, [[*collections]])}


def narrowed(state: Snapshot, readable: Runs) -> Snapshot:
    """Return a snapshot whose statistics are those of a part of its readable runs, but for
    ``tokens``.
    """
    firsts = {*readable[:, 0].tolist()}
    return replace(
        state,
        readable=readable,
        tail=[entry for entry in state.tail if entry.first in firsts],
        chunks=int((readable[:, 1] - readable[:, 0]).sum()),
    )


class Gone(LookupError):
    """Data were merged or deleted between two statements."""


def fetch(sql: str, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Run a statement with binary results: Django's cursors receive bytes as hexadecimal text."""
    with connection.wrap_database_errors:
        connection.close_if_health_check_failed()
        connection.ensure_connection()
        with psycopg.Cursor(connection.connection) as cursor:
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

_PACK, _ENTRY, _BLOCK, _READABLE, _FOUND, _POSITIONS, _BEFORE = range(7)
_DEAD, _OUTDATED = 2, 4  # flags; 1 stands for what is merged


class _Row(NamedTuple):
    """A row of ``_statement``; columns that its kind does not have are 0, "" or None."""

    kind: int
    term: str  # of a block; the codes of a pack's stemmers, or an entry's
    number: int  # of the pack, also of a block's; the id of an entry
    version: int  # of the pack, also of a block's; of an entry, the position of its first chunk
    chunks: int
    tokens: int
    flags: int  # of an entry: 1 if it is merged, plus ``_DEAD``, plus ``_OUTDATED``
    runs: bytes | None  # of a pack's dead chunks; the skyline of a block
    data: bytes | None
    positions: list[int] | None


_RUNS = "string_agg(int8send(first) || int8send(first + count), ''::bytea ORDER BY first)"
_BASE = f"""
    SELECT 0, codes, pack::bigint, version, count::bigint, tokens, 0, dead,
        CASE WHEN %(whole)s THEN data END, NULL::bigint[] FROM citations_lexpack
    UNION ALL SELECT 1, code, id, first, count, tokens,
        merged::int + 2 * (source_id IS NULL)::int + 4 * (tokenizer_version < %(version)s)::int,
        NULL, CASE WHEN %(whole)s THEN data END, NULL
        FROM citations_lexentry WHERE NOT merged OR source_id IS NULL
    UNION ALL SELECT 2, term, pack, version, count, 0, 0, skyline,
        CASE WHEN count <= %(inline)s THEN data END, NULL
        FROM citations_lexblock WHERE term = ANY(string_to_array(%(terms)s, E'\n'))
    UNION ALL SELECT 6, '', 0, 0, 0, 0, 0, NULL, {_RUNS}, NULL FROM citations_lexentry
        WHERE tokenizer_version < %(version)s AND merged AND source_id IS NOT NULL
"""
_OF_READER = f"""
    UNION ALL SELECT 3, '', 0, 0, coalesce(sum(count), 0), coalesce(sum(tokens), 0)::bigint, 0,
        NULL, {_RUNS}, NULL
        FROM citations_source source JOIN citations_lexentry ON source_id = source.id
        WHERE collection_id = ANY(%(readable)s)
"""
_RUNS_OF = f"""
    SELECT collection_id, {_RUNS}
    FROM citations_source source JOIN citations_lexentry ON source_id = source.id
    WHERE collection_id = ANY(%s) GROUP BY collection_id
"""
_OF_SOURCES = f"""
    UNION ALL SELECT 4, '', 0, 0, 0, 0, 0, NULL, {_RUNS}, NULL
        FROM citations_lexentry WHERE source_id = ANY(%(sources)s)
"""
_OF_PASSAGES = """
    UNION ALL SELECT 5, '', 0, 0, 0, 0, 0, NULL, NULL, array_agg(position ORDER BY position)
        FROM citations_chunk chunk
        WHERE (%(sources)s::bigint[] IS NULL OR source_id = ANY(%(sources)s)) AND
"""


def _read(terms: Terms, before: Terms, resolved: ResolvedFilter, *, inline: int) -> Snapshot:
    distinct = [*{*chain.from_iterable((*terms.values(), *before.values()))}]
    kinds: list[list[_Row]] = [[] for _ in range(7)]
    for row in map(_Row._make, fetch(*_statement(distinct, resolved, inline))):
        kinds[row.kind].append(row)
    readable, matching = _runs(kinds[_READABLE]), _runs(kinds[_FOUND])
    living = [row for row in kinds[_ENTRY] if not row.flags & _DEAD]
    # An entry that died before it was merged has never counted.
    dead = [row for row in kinds[_ENTRY] if row.flags & _DEAD and row.flags & 1]
    counted = kinds[_READABLE] or [*kinds[_PACK], *living]
    uncounted = [] if kinds[_READABLE] else dead
    return Snapshot(
        terms=terms,
        before=before,
        packs=_read_packs(kinds[_PACK], kinds[_BLOCK]),
        tail=_read_entries(living, readable),
        dead=_dead(kinds[_PACK], dead),
        outdated=from_runs(kinds[_BEFORE][0].data or b""),
        readable=readable,
        chunks=sum(row.chunks for row in counted) - sum(row.chunks for row in uncounted),
        tokens=sum(row.tokens for row in counted) - sum(row.tokens for row in uncounted),
        runs=matching,
        positions=_positions(kinds[_POSITIONS]),
        codes=frozenset(code for row in (*kinds[_PACK], *living) for code in row.term.split(" ")),
    )


def _statement(
    terms: list[str], resolved: ResolvedFilter, inline: int
) -> tuple[str, dict[str, Any]]:
    sources = None if resolved.sources is None else list(resolved.sources)
    sql, parameters = _BASE, {"inline": inline, "whole": inline == _ALL, "terms": "\n".join(terms)}
    parameters["version"] = TOKENIZER_VERSION
    if resolved.readable is not None:
        sql += _OF_READER
        parameters["readable"] = [*resolved.readable]
    if resolved.narrows_sources and sources is not None:
        sql += _OF_SOURCES
        parameters["sources"] = sources
    if resolved.narrows_passages:
        sql += _OF_PASSAGES + resolved.passages_sql("chunk")
        parameters |= {"sources": sources, **resolved.passage_values}
    return sql, parameters


def _positions(rows: list[_Row]) -> "NDArray[np.int64] | None":
    return np.array(rows[0].positions or [], np.int64) if rows else None


def _runs(rows: list[_Row]) -> Runs | None:
    """Decode the runs of the only row, or return None where there is none."""
    return from_runs(rows[0].data or b"") if rows else None


def _dead(packs: list[_Row], entries: list[_Row]) -> Runs:
    """Return the runs of chunks that are gone although packs still have their postings."""
    swept = from_runs(b"".join(row.runs or b"" for row in packs))
    ends = [(row.version, row.version + row.chunks) for row in entries]
    waiting = np.array(ends, np.int64).reshape(-1, 2)
    runs = np.concatenate((swept, waiting))
    return runs[runs[:, 0].argsort()]


def _read_entries(rows: list[_Row], readable: Runs | None) -> list[UnmergedEntry]:
    """Read the words of unmerged entries in the order of their positions."""
    firsts = None if readable is None else {*readable[:, 0].tolist()}
    relevant = {row.number: row for row in rows if firsts is None or row.version in firsts}
    inline = [(pk, row.data) for pk, row in relevant.items() if row.data is not None]
    words = cached(
        {pk: ("entry", pk) for pk in relevant},
        load=lambda missing: inline or fetch(_ENTRY_DATA, [missing]),
        decode=Words.from_bytes,
    )
    ordered = sorted(relevant.values(), key=lambda row: row.version)
    return [
        UnmergedEntry(
            row.number,
            row.version,
            row.chunks,
            words[row.number],
            is_outdated=bool(row.flags & _OUTDATED),
        )
        for row in ordered
    ]


def _read_packs(rows: list[_Row], blocks: list[_Row]) -> list[Pack]:
    packs = {row.number: Pack(row.number, row.version, row.chunks, row.tokens) for row in rows}
    numbers = {row.number for row in blocks}
    inline = {row.number: row.data for row in rows if row.data is not None}
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
    large = {(row.term, row.number): row for row in blocks if row.data is None}
    postings = cached(
        {name: ("block", *name, row.version) for name, row in large.items()},
        load=lambda missing: _block_data(missing, large),
        decode=from_block,
    )
    for row in blocks:
        pack, name = packs[row.number], (row.term, row.number)
        pack.counts[row.term] = row.chunks
        pack.postings[row.term] = postings[name] if row.data is None else from_block(row.data)
        if row.runs:
            pack.skylines[row.term] = row.runs
    return sorted(packs.values(), key=lambda pack: pack.number)


def _block_data(
    names: list[tuple[str, int]], large: dict[tuple[str, int], _Row]
) -> list[tuple[Any, ...]]:
    rows = fetch(_BLOCK_DATA, [list(column) for column in zip(*names, strict=True)])
    return [
        ((term, number), data)
        for term, number, version, data in rows
        if version == large[term, number].version
    ]


_PACK_DATA = "SELECT pack, version, data FROM citations_lexpack WHERE pack = ANY(%s)"
# The words of an entry that was merged meanwhile are in the packs.
_ENTRY_DATA = "SELECT id, data FROM citations_lexentry WHERE id = ANY(%s) AND NOT merged"
_BLOCK_DATA = """
    SELECT term, pack, version, data
    FROM unnest(%s::text[], %s::bigint[]) AS requested (term, pack)
    JOIN citations_lexblock USING (term, pack)
"""
