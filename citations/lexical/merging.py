"""Merge the postings of entries into packs, and remove those of deleted sources."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import psycopg
from django.db import connection, transaction
from numpy.typing import NDArray

from citations.lexical.postings import (
    PACK,
    Postings,
    Words,
    from_block,
    from_lengths,
    from_runs,
    skyline,
    to_block,
    to_lengths,
    to_runs,
)
from citations.lexical.snapshot import fetch
from transcripts.core import locks
from transcripts.core.locks import Lock

DEAD_SHARE = 0.1  # of a pack's chunks, beyond which its blocks are rewritten without them
SPARE = 32  # entries outside the packs that need no merge
FEW = 64  # postings that need no skyline
USUAL = 256  # chunks of a typical entry
_BATCH = PACK  # chunks of one transaction; a larger source gets its own
_ROWS = 4096  # blocks of one statement

NO_WORDS = Words.build(())
Key = tuple[int, str]  # pack and term
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MergeEntry:
    """An entry to gather, or to sweep out; then its words do not matter."""

    pk: int
    first: int
    count: int
    merged: bool
    code: str
    words: Words = NO_WORDS

    @property
    def packs(self) -> range:
        """The packs of its positions."""
        return range(self.first // PACK, (self.first + self.count - 1) // PACK + 1)

    def within(self, pack: int) -> tuple[slice, slice]:
        """Return its chunks in a pack, and their slots."""
        start, stop = max(self.first, pack * PACK), min(self.first + self.count, (pack + 1) * PACK)
        chunks, slots = (
            slice(start - origin, max(start, stop) - origin) for origin in (self.first, pack * PACK)
        )
        return chunks, slots


@dataclass(slots=True)
class MergePack:
    """A pack that a merge changes: the lengths of its chunks, and which are ``dead``, by slot."""

    number: int
    chunks: int = 0
    lengths: NDArray[Any] = field(default_factory=lambda: np.zeros(PACK, np.uint32))
    dead: Mask = field(default_factory=lambda: np.zeros(PACK, bool))
    dropped: Mask | None = None  # the slots that all blocks leave out from now on
    codes: set[str] = field(default_factory=set)
    grows: bool = False

    @property
    def is_rewritten(self) -> bool:
        """Whether its lengths change, and some or all of its blocks."""
        return self.grows or self.dropped is not None

    @property
    def tokens(self) -> int:
        return int(self.lengths[~self.dead].sum(dtype=np.int64))

    def gather(self, entry: MergeEntry) -> None:
        owned, slots = entry.within(self.number)
        self.lengths[slots] = entry.words.lengths[owned]
        self.codes.add(entry.code)
        self.grows = True
        self.chunks += slots.stop - slots.start

    def bury(self, entry: MergeEntry) -> None:
        _, slots = entry.within(self.number)
        self.dead[slots] = True
        self.chunks -= slots.stop - slots.start

    def drop_dead(self) -> None:
        """Drop the dead slots if they are too many to be skipped by every search."""
        dead = np.count_nonzero(self.dead)
        if dead > DEAD_SHARE * (self.chunks + dead):
            self.dropped, self.dead = self.dead, np.zeros(PACK, bool)
            self.lengths[self.dropped] = 0


class PackPostings(NamedTuple):
    """Postings within a pack: ascending slots, and frequencies."""

    slots: NDArray[Any]
    frequencies: NDArray[Any]


def merge(*, spare: int = SPARE) -> int:
    """Gather entries into packs and sweep deleted ones, once more than ``spare`` or large ones
    wait; return how many.

    Searches continue and find the same throughout. Each transaction takes about 65,000 chunks; a
    killed one has no effect. Does nothing while another process merges.
    """
    done = _merge_some(spare)
    while done and (step := _merge_some(0)):
        done += step
    return done


@transaction.atomic
def _merge_some(spare: int) -> int:
    """Merge one batch of entries. An interruption has no effect."""
    if not locks.try_for_transaction(Lock.LEXICON_MERGE):
        return 0
    rows = fetch(_OPEN, [])
    if len(rows) <= spare and sum(row[3] for row in rows) <= spare * USUAL:
        return 0
    chunks = np.cumsum([row[3] for row in rows])
    chosen = rows[: max(1, int(np.searchsorted(chunks, _BATCH, side="right")))]
    living = _read_living([row[1:] for row in chosen if not row[0]])
    dead = [MergeEntry(*row[1:]) for row in chosen if row[0]]
    _rewrite(living, [entry for entry in dead if entry.merged])
    # The words of merged entries are in the packs.
    update = "UPDATE citations_lexentry SET merged = true, data = '' WHERE id = ANY(%b)"
    _execute(update, [[entry.pk for entry in living]])
    _execute("DELETE FROM citations_lexentry WHERE id = ANY(%b)", [[entry.pk for entry in dead]])
    return len(chosen)


def _read_living(rows: Sequence[tuple[Any, ...]]) -> list[MergeEntry]:
    sql = "SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)"
    data = dict(fetch(sql, [[row[0] for row in rows]]))
    return [replace(MergeEntry(*row), words=Words.from_bytes(data[row[0]])) for row in rows]


# Entries that another transaction is about to delete are skipped until it ends.
_OPEN = """
    SELECT source_id IS NULL, id, first, count, merged, code FROM citations_lexentry
    WHERE NOT merged OR source_id IS NULL ORDER BY first FOR UPDATE SKIP LOCKED
"""


def _execute(sql: str, parameters: Sequence[Any]) -> None:
    with (
        connection.cursor(),
        connection.wrap_database_errors,
        psycopg.Cursor(connection.connection) as cursor,
    ):
        cursor.execute(sql, parameters)


def _rewrite(living: Sequence[MergeEntry], dead: Sequence[MergeEntry]) -> None:
    """Write the packs that the entries take part in, and the blocks that gain or drop chunks."""
    if not living and not dead:
        return
    version = int(fetch("SELECT nextval('citations_lexversion')", [])[0][0])
    packs = _change_packs(living, dead)
    _write_packs([pack for pack in packs.values() if pack.is_rewritten], version)
    _write_dead([pack for pack in packs.values() if not pack.is_rewritten])
    dropping = [number for number, pack in packs.items() if pack.dropped is not None]
    added = _collect_postings(living)
    keys = sorted({*added, *fetch(_READ_KEYS, [dropping])})
    for batch in (keys[start : start + _ROWS] for start in range(0, len(keys), _ROWS)):
        stored = fetch(_READ_BLOCKS, [[pack for pack, _ in batch], [term for _, term in batch]])
        old = {(pack, term): from_block(data) for pack, term, data in stored}
        united = (
            (key, _merge_block(old.get(key), added.get(key), packs[key[0]].dropped))
            for key in batch
        )
        _write_blocks([(key, new) for key, new in united if new is not None], packs, version)


# Packs


def _change_packs(living: Sequence[MergeEntry], dead: Sequence[MergeEntry]) -> dict[int, MergePack]:
    packs = _read_packs(sorted({pack for entry in (*living, *dead) for pack in entry.packs}))
    for entry in dead:
        for number in entry.packs:
            packs[number].bury(entry)
    for pack in packs.values():
        pack.drop_dead()
    for entry in living:
        for number in entry.packs:
            packs[number].gather(entry)
    return packs


def _read_packs(numbers: Sequence[int]) -> dict[int, MergePack]:
    """Return the packs as they are, empty where they are new."""
    packs = {number: MergePack(number) for number in numbers}
    sql = "SELECT pack, count, codes, data, dead FROM citations_lexpack WHERE pack = ANY(%s)"
    for number, chunks, codes, data, dead in fetch(sql, [numbers]):
        pack, lengths = packs[number], from_lengths(data)
        pack.codes.update(codes.split(" "))
        pack.chunks = chunks
        pack.lengths[: len(lengths)] = lengths
        for first, end in (from_runs(dead) - number * PACK).tolist():
            pack.dead[first:end] = True
    return packs


def _write_packs(packs: Sequence[MergePack], version: int) -> None:
    rows = [
        (
            *(pack.number, version, pack.chunks, pack.tokens, " ".join(sorted(pack.codes))),
            to_lengths(pack.lengths[: int(np.flatnonzero(pack.lengths).max(initial=-1)) + 1]),
            _dead_runs(pack),
        )
        for pack in packs
    ]
    if rows:
        _execute(_WRITE_PACKS, [list(column) for column in zip(*rows, strict=True)])


def _write_dead(packs: Sequence[MergePack]) -> None:
    """Write which chunks of packs are dead; whatever else they have stays as it is."""
    rows = [(pack.number, pack.chunks, pack.tokens, _dead_runs(pack)) for pack in packs]
    if rows:
        _execute(_WRITE_DEAD, [list(column) for column in zip(*rows, strict=True)])


def _dead_runs(pack: MergePack) -> bytes:
    borders = np.flatnonzero(np.diff(pack.dead, prepend=False, append=False))
    return to_runs(borders.reshape(-1, 2) + pack.number * PACK)


_WRITE_PACKS = """
    INSERT INTO citations_lexpack (pack, version, count, tokens, codes, data, dead)
    SELECT * FROM unnest(%b::int[], %b::bigint[], %b::int[], %b::bigint[], %b::text[], %b::bytea[],
        %b::bytea[])
    ON CONFLICT (pack) DO UPDATE SET version = excluded.version, count = excluded.count,
        tokens = excluded.tokens, codes = excluded.codes, data = excluded.data, dead = excluded.dead
"""
_WRITE_DEAD = """
    UPDATE citations_lexpack pack
    SET count = changed.count, tokens = changed.tokens, dead = changed.dead
    FROM unnest(%b::int[], %b::int[], %b::bigint[], %b::bytea[])
        AS changed (pack, count, tokens, dead)
    WHERE pack.pack = changed.pack
"""


# Blocks


def _collect_postings(entries: Sequence[MergeEntry]) -> dict[Key, PackPostings]:
    """Collect the postings of entries, which are ordered by position, by pack and term."""
    numbers: dict[str, int] = {}
    owners = [
        np.array([numbers.setdefault(term, len(numbers)) for term in entry.words.terms], np.int64)
        for entry in entries
    ]
    if not numbers:
        return {}
    pairs = zip(owners, entries, strict=True)
    terms = np.concatenate([np.repeat(own, np.diff(entry.words.starts)) for own, entry in pairs])
    positions = np.concatenate([entry.words.slots + np.int64(entry.first) for entry in entries])
    frequencies = np.concatenate([entry.words.frequencies for entry in entries])
    keys = (positions // PACK) * len(numbers) + terms
    order = np.argsort(keys, kind="stable")
    keys, frequencies = keys[order], frequencies[order]
    slots = (positions[order] % PACK).astype(np.uint16)
    borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    names = list(numbers)
    return {
        (int(key) // len(names), names[int(key) % len(names)]): PackPostings(
            slots[start:stop], frequencies[start:stop]
        )
        for key, (start, stop) in zip(keys[borders[:-1]].tolist(), pairwise(borders), strict=True)
    }


_READ_KEYS = "SELECT pack, term FROM citations_lexblock WHERE pack = ANY(%s)"
_READ_BLOCKS = """
    SELECT pack, term, data FROM unnest(%s::int[], %s::text[]) AS requested (pack, term)
    JOIN citations_lexblock USING (pack, term)
"""


def _merge_block(
    old: Postings | None, added: PackPostings | None, dropped: Mask | None
) -> PackPostings | None:
    """Return the new postings of a block; None if it had none and gets none."""
    if old is None:
        return added
    slots, frequencies = old.pairs()
    if dropped is not None:
        stays = ~dropped[slots]
        slots, frequencies = slots[stays], frequencies[stays]
    if added is None:
        return PackPostings(slots, frequencies)
    slots = np.concatenate((slots, added.slots))
    order = np.argsort(slots, kind="stable")
    return PackPostings(slots[order], np.concatenate((frequencies, added.frequencies))[order])


def _write_blocks(
    blocks: Sequence[tuple[Key, PackPostings]], packs: dict[int, MergePack], version: int
) -> None:
    empty = [key for key, postings in blocks if not len(postings.slots)]
    if empty:
        _execute(_DELETE_BLOCKS, [[pack for pack, _ in empty], [term for _, term in empty]])
    rows = [
        (
            term,
            pack,
            version,
            len(slots),
            skyline(frequencies, packs[pack].lengths[slots]) if len(slots) > FEW else b"",
            to_block(slots, frequencies),
        )
        for (pack, term), (slots, frequencies) in blocks
        if len(slots)
    ]
    if rows:
        _execute(_WRITE_BLOCKS, [list(column) for column in zip(*rows, strict=True)])


_DELETE_BLOCKS = """
    DELETE FROM citations_lexblock USING unnest(%b::int[], %b::text[]) AS empty (pack, term)
    WHERE citations_lexblock.pack = empty.pack AND citations_lexblock.term = empty.term
"""
_WRITE_BLOCKS = """
    INSERT INTO citations_lexblock (term, pack, version, count, skyline, data)
    SELECT * FROM unnest(%b::text[], %b::int[], %b::bigint[], %b::int[], %b::bytea[], %b::bytea[])
    ON CONFLICT (term, pack) DO UPDATE SET version = excluded.version, count = excluded.count,
        skyline = excluded.skyline, data = excluded.data
"""
