"""Merge the postings of entries into packs, and remove those of deleted sources."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    skyline,
    to_block,
    to_lengths,
)
from citations.lexical.snapshot import fetch
from transcripts import locks
from transcripts.locks import Lock

SPARE = 32  # entries outside the packs that need no merge
FEW = 64  # postings that need no skyline
USUAL = 256  # chunks of a typical entry
_BATCH = PACK  # chunks of one transaction; a larger source gets its own
_ROWS = 4096  # blocks of one statement

Key = tuple[int, str]  # pack and term
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MergeEntry:
    """An entry to gather or, if ``dead``, to sweep out."""

    pk: int
    first: int
    count: int
    merged: bool
    dead: bool
    words: Words

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
    if len(rows) <= spare and sum(row[2] for row in rows) <= spare * USUAL:
        return 0
    chunks = np.cumsum([row[2] for row in rows])
    chosen = rows[: max(1, int(np.searchsorted(chunks, _BATCH, side="right")))]
    sql = "SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)"
    data = dict(fetch(sql, [[row[0] for row in chosen]]))
    entries = [
        MergeEntry(pk, first, count, merged, dead, Words.from_bytes(data[pk]))
        for pk, first, count, merged, dead in chosen
    ]
    living = [entry for entry in entries if not entry.dead]
    dead = [entry for entry in entries if entry.dead]
    _rewrite(living, [entry for entry in dead if entry.merged])
    update = "UPDATE citations_lexentry SET merged = true WHERE id = ANY(%b)"
    _execute(update, [[entry.pk for entry in living]])
    _execute("DELETE FROM citations_lexentry WHERE id = ANY(%b)", [[entry.pk for entry in dead]])
    return len(entries)


# Entries that another transaction is about to delete are skipped until it ends.
_OPEN = """
    SELECT id, first, count, merged, source_id IS NULL FROM citations_lexentry
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
    """Rewrite every pack and block that the entries take part in."""
    if not living and not dead:
        return
    version = int(fetch("SELECT nextval('citations_lexversion')", [])[0][0])
    packs = sorted({pack for entry in (*living, *dead) for pack in entry.packs})
    lengths = _rewrite_packs(packs, living, dead, version)
    dropped = {pack: _dead_mask(pack, dead) for pack in packs}
    added = _collect_postings(living)
    swept = {(pack, term) for entry in dead for pack in entry.packs for term in entry.words.terms}
    keys = sorted({*added, *swept})
    for batch in (keys[start : start + _ROWS] for start in range(0, len(keys), _ROWS)):
        stored = fetch(_READ_BLOCKS, [[pack for pack, _ in batch], [term for _, term in batch]])
        old = {(pack, term): from_block(data) for pack, term, data in stored}
        united = (
            (key, _merge_block(old.get(key), added.get(key), dropped[key[0]])) for key in batch
        )
        blocks = [(key, postings) for key, postings in united if postings is not None]
        _write_blocks(blocks, lengths, version)


# Packs


def _rewrite_packs(
    packs: Sequence[int], living: Sequence[MergeEntry], dead: Sequence[MergeEntry], version: int
) -> dict[int, NDArray[Any]]:
    """Update the packs' lengths and sums; return the lengths."""
    sql = "SELECT pack, count, tokens, data FROM citations_lexpack WHERE pack = ANY(%s)"
    old = {pack: values for pack, *values in fetch(sql, [packs])}
    result, rows = {}, []
    for pack in packs:
        chunks, _, data = old.get(pack, (0, 0, to_lengths(np.empty(0, np.uint8))))
        lengths = np.zeros(PACK, np.uint32)
        stored = from_lengths(data)
        lengths[: len(stored)] = stored
        for entry in living:
            owned, slots = entry.within(pack)
            lengths[slots] = entry.words.lengths[owned]
            chunks += slots.stop - slots.start
        for entry in dead:
            _, slots = entry.within(pack)
            lengths[slots] = 0
            chunks -= slots.stop - slots.start
        result[pack] = lengths = lengths[: int(np.flatnonzero(lengths).max(initial=-1)) + 1]
        rows.append((pack, version, chunks, int(lengths.sum(dtype=np.int64)), to_lengths(lengths)))
    _execute(_WRITE_PACKS, [list(column) for column in zip(*rows, strict=True)])
    return result


_WRITE_PACKS = """
    INSERT INTO citations_lexpack (pack, version, count, tokens, data)
    SELECT * FROM unnest(%b::int[], %b::bigint[], %b::int[], %b::bigint[], %b::bytea[])
    ON CONFLICT (pack) DO UPDATE SET version = excluded.version, count = excluded.count,
        tokens = excluded.tokens, data = excluded.data
"""


def _dead_mask(pack: int, dead: Sequence[MergeEntry]) -> Mask | None:
    """Mark the slots of a pack that dead entries leave. None: none."""
    if not any(pack in entry.packs for entry in dead):
        return None
    mask = np.zeros(PACK, bool)
    for entry in dead:
        mask[entry.within(pack)[1]] = True
    return mask


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
    blocks: Sequence[tuple[Key, PackPostings]], lengths: dict[int, NDArray[Any]], version: int
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
            skyline(frequencies, lengths[pack][slots]) if len(slots) > FEW else b"",
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
