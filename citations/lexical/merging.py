"""Merges: the postings of entries go into packs, and those of tombstones out of them."""

from collections.abc import Iterable, Iterator, Sequence
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

FEW = 64  # so few postings are bounded by looking at them
USUAL = 256  # chunks of an entry
_BATCH = PACK  # chunks of one transaction; a source that is larger goes alone
_ROWS = 4096  # blocks of one statement

Key = tuple[int, str]  # pack and term
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MergeEntry:
    """An entry to be gathered, or (``dead``) to be swept out."""

    pk: int
    first: int
    count: int
    merged: bool
    dead: bool
    words: Words

    @property
    def packs(self) -> range:
        """The packs that its places are in."""
        return range(self.first // PACK, (self.first + self.count - 1) // PACK + 1)

    def within(self, pack: int) -> tuple[slice, slice]:
        """Say which of its chunks are in a pack, and on which slots."""
        start, stop = max(self.first, pack * PACK), min(self.first + self.count, (pack + 1) * PACK)
        return slice(start - self.first, max(start, stop) - self.first), slice(
            start - pack * PACK, max(start, stop) - pack * PACK
        )


class PackPostings(NamedTuple):
    """Postings within a pack: ascending slots, and frequencies."""

    slots: NDArray[Any]
    frequencies: NDArray[Any]


def merge(*, spare: int) -> int:
    """Merge what is outside the packs, or should be, and return how many entries that was: none while it is no more than ``spare`` of usual size."""
    done = _merge_some(spare)
    while done and (step := _merge_some(0)):
        done += step
    return done


@transaction.atomic
def _merge_some(spare: int) -> int:
    """Merge as many entries as make a batch. Whatever ends it early, nothing has happened."""
    if not locks.try_for_transaction(Lock.LEXICON_MERGE):
        return 0
    rows = fetch(_OPEN, [])
    if len(rows) <= spare and sum(row[2] for row in rows) <= spare * USUAL:
        return 0
    chosen = _batch(rows)
    data = dict(
        fetch(
            "SELECT id, data FROM citations_lexentry WHERE id = ANY(%s)",
            [[row[0] for row in chosen]],
        )
    )
    entries = [
        MergeEntry(pk, first, count, merged, dead, Words.from_bytes(data[pk]))
        for pk, first, count, merged, dead in chosen
    ]
    living, dead = (
        [entry for entry in entries if not entry.dead],
        [entry for entry in entries if entry.dead],
    )
    _rewrite(living, [entry for entry in dead if entry.merged])
    _execute(
        "UPDATE citations_lexentry SET merged = true WHERE id = ANY(%b)",
        [[entry.pk for entry in living]],
    )
    _execute("DELETE FROM citations_lexentry WHERE id = ANY(%b)", [[entry.pk for entry in dead]])
    return len(entries)


# An entry that another transaction is about to bury has its turn once that has ended.
_OPEN = """
    SELECT id, first, count, merged, source_id IS NULL FROM citations_lexentry
    WHERE NOT merged OR source_id IS NULL ORDER BY first FOR UPDATE SKIP LOCKED
"""


def _batch(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    chunks = np.cumsum([row[2] for row in rows])
    return list(rows[: max(1, int(np.searchsorted(chunks, _BATCH, side="right")))])


def _execute(sql: str, parameters: Sequence[Any]) -> None:
    with (
        connection.cursor(),
        connection.wrap_database_errors,
        psycopg.Cursor(connection.connection) as cursor,
    ):
        cursor.execute(sql, parameters)


def _rewrite(living: Sequence[MergeEntry], dead: Sequence[MergeEntry]) -> None:
    """Write every pack and block anew that any of the entries has a part in."""
    if not living and not dead:
        return
    version = int(fetch("SELECT nextval('citations_lexversion')", [])[0][0])
    packs = sorted({pack for entry in (*living, *dead) for pack in entry.packs})
    lengths = _rewrite_packs(packs, living, dead, version)
    gone = {pack: _marked(pack, dead) for pack in packs}
    added = _gathered(living)
    keys = sorted(
        {
            *added,
            *((pack, term) for entry in dead for pack in entry.packs for term in entry.words.terms),
        }
    )
    for batch in (keys[start : start + _ROWS] for start in range(0, len(keys), _ROWS)):
        old = _old_blocks(batch)
        united = ((key, _united(old.get(key), added.get(key), gone[key[0]])) for key in batch)
        _write_blocks(
            [(key, found) for key, found in united if found is not None], lengths, version
        )


# Packs


def _rewrite_packs(
    packs: Sequence[int], living: Sequence[MergeEntry], dead: Sequence[MergeEntry], version: int
) -> dict[int, NDArray[Any]]:
    """Bring the packs' lengths and sums up to date; return the lengths."""
    old = {
        row[0]: row[1:]
        for row in fetch(
            "SELECT pack, count, tokens, data FROM citations_lexpack WHERE pack = ANY(%s)", [packs]
        )
    }
    result, rows = {}, []
    for pack in packs:
        chunks, _, data = old.get(pack, (0, 0, to_lengths(np.empty(0, np.uint8))))
        lengths = np.zeros(PACK, np.uint32)
        before = from_lengths(data)
        lengths[: len(before)] = before
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
    INSERT INTO citations_lexpack (pack, version, count, tokens, data) SELECT * FROM unnest(%b::int[], %b::bigint[], %b::int[], %b::bigint[], %b::bytea[])
    ON CONFLICT (pack) DO UPDATE SET version = excluded.version, count = excluded.count, tokens = excluded.tokens, data = excluded.data
"""


def _marked(pack: int, dead: Sequence[MergeEntry]) -> Mask | None:
    """Mark the slots of a pack that dead entries leave; None: none."""
    if not any(pack in entry.packs for entry in dead):
        return None
    mask = np.zeros(PACK, bool)
    for entry in dead:
        mask[entry.within(pack)[1]] = True
    return mask


# Blocks


def _gathered(entries: Sequence[MergeEntry]) -> dict[Key, PackPostings]:
    """Bring the postings of entries, which are in the order of places, together by pack and term."""
    numbers: dict[str, int] = {}
    owners = [
        np.array([numbers.setdefault(term, len(numbers)) for term in entry.words.terms], np.int64)
        for entry in entries
    ]
    if not numbers:
        return {}
    terms = np.concatenate(
        [
            np.repeat(owner, np.diff(entry.words.starts))
            for owner, entry in zip(owners, entries, strict=True)
        ]
    )
    places = np.concatenate([entry.words.slots + np.int64(entry.first) for entry in entries])
    frequencies = np.concatenate([entry.words.frequencies for entry in entries])
    keys = (places // PACK) * len(numbers) + terms
    order = np.argsort(keys, kind="stable")
    keys, slots, frequencies = (
        keys[order],
        (places[order] % PACK).astype(np.uint16),
        frequencies[order],
    )
    borders = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    names = list(numbers)
    return {
        (int(key) // len(names), names[int(key) % len(names)]): PackPostings(
            slots[start:stop], frequencies[start:stop]
        )
        for key, (start, stop) in zip(keys[borders[:-1]].tolist(), pairwise(borders), strict=True)
    }


def _old_blocks(keys: Sequence[Key]) -> dict[Key, Postings]:
    rows = fetch(_READ_BLOCKS, [[pack for pack, _ in keys], [term for _, term in keys]])
    return {(pack, term): from_block(data) for pack, term, data in rows}


_READ_BLOCKS = """
    SELECT pack, term, data FROM unnest(%s::int[], %s::text[]) AS wanted (pack, term) JOIN citations_lexblock USING (pack, term)
"""


def _united(
    old: Postings | None, added: PackPostings | None, gone: Mask | None
) -> PackPostings | None:
    """Return the postings a block is to have; None if it had none and gets none."""
    if old is None:
        return added
    slots, frequencies = old.pairs()
    if gone is not None:
        kept = ~gone[slots]
        slots, frequencies = slots[kept], frequencies[kept]
    if added is None:
        return PackPostings(slots, frequencies)
    slots = np.concatenate((slots, added.slots))
    order = np.argsort(slots, kind="stable")
    return PackPostings(slots[order], np.concatenate((frequencies, added.frequencies))[order])


def _write_blocks(
    blocks: Sequence[tuple[Key, PackPostings]], lengths: dict[int, NDArray[Any]], version: int
) -> None:
    empty = [key for key, found in blocks if not len(found.slots)]
    if empty:
        _execute(_DELETE_BLOCKS, [[pack for pack, _ in empty], [term for _, term in empty]])
    rows = [*_rows(blocks, lengths, version)]
    if rows:
        _execute(_WRITE_BLOCKS, [list(column) for column in zip(*rows, strict=True)])


def _rows(
    blocks: Iterable[tuple[Key, PackPostings]], lengths: dict[int, NDArray[Any]], version: int
) -> Iterator[tuple[Any, ...]]:
    for (pack, term), (slots, frequencies) in blocks:
        if len(slots):
            sky = skyline(frequencies, lengths[pack][slots]) if len(slots) > FEW else b""
            yield term, pack, version, len(slots), sky, to_block(slots, frequencies)


_DELETE_BLOCKS = """
    DELETE FROM citations_lexblock USING unnest(%b::int[], %b::text[]) AS empty (pack, term)
    WHERE citations_lexblock.pack = empty.pack AND citations_lexblock.term = empty.term
"""
_WRITE_BLOCKS = """
    INSERT INTO citations_lexblock (term, pack, version, count, skyline, data)
    SELECT * FROM unnest(%b::text[], %b::int[], %b::bigint[], %b::int[], %b::bytea[], %b::bytea[])
    ON CONFLICT (term, pack) DO UPDATE SET version = excluded.version, count = excluded.count, skyline = excluded.skyline, data = excluded.data
"""
