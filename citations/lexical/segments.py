"""The segments that a search scans: every pack, and all unmerged entries together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citations.lexical.postings import PACK, Postings
from citations.lexical.snapshot import Pack, Run, Snapshot, UnmergedEntry

Mask = NDArray[np.bool_]
Slots = NDArray[Any]


@dataclass(frozen=True, slots=True)
class LexicalSegment:
    """Chunks that are searched together. A slot is a chunk's number in the segment; positions
    ascend with slots.

    ``runs`` are the positions of its slots; a pack has one run, which may be longer than its
    lengths. ``skylines`` bound the scores of long postings (see ``postings.skyline``). ``key``
    identifies the segment and its version.
    """

    key: tuple[Any, ...]
    runs: Sequence[Run]
    lengths: NDArray[Any]
    postings: dict[str, Postings]
    skylines: dict[str, bytes]

    @property
    def size(self) -> int:
        return len(self.lengths)

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


def segments(snapshot: Snapshot, terms: Iterable[str]) -> list[LexicalSegment]:
    """Return the segments with any of the stored terms."""
    every = [_of_pack(pack) for pack in snapshot.packs if pack.blocks]
    if snapshot.tail:
        every.append(_of_tail(snapshot, terms))
    return [segment for segment in every if segment.postings]


def allowed(snapshot: Snapshot, segment: LexicalSegment, terms: TermFilter) -> Mask | None:
    """Mark the slots that may be found. None: all of them."""
    mask = _within_filter(snapshot, segment)
    if not terms.required and not terms.excluded:
        return mask
    mask = np.ones(segment.size, bool) if mask is None else mask
    for term in terms.required:
        has_term = np.zeros(segment.size, bool)
        has_term[_slots(segment, term)] = True
        mask &= has_term
    for term in terms.excluded:
        mask[_slots(segment, term)] = False
    return mask


def _within_filter(snapshot: Snapshot, segment: LexicalSegment) -> Mask | None:
    mask: Mask | None = None
    if snapshot.runs is not None:
        mask = segment.covered(snapshot.runs)
    elif dead := [entry.run for entry in snapshot.dead if _overlaps(entry, segment)]:
        mask = ~segment.covered(sorted(dead))
    if snapshot.positions is not None:
        timed = np.zeros(segment.size, bool)
        timed[segment.inside(snapshot.positions)] = True
        mask = timed if mask is None else mask & timed
    return mask


def _overlaps(entry: UnmergedEntry, segment: LexicalSegment) -> bool:
    return entry.first < segment.runs[-1][1] and entry.first + entry.count > segment.runs[0][0]


def _slots(segment: LexicalSegment, term: str) -> Slots:
    postings = segment.postings.get(term)
    return postings.slots if postings else np.empty(0, np.int64)


def _of_pack(pack: Pack) -> LexicalSegment:
    return LexicalSegment(
        key=("pack", pack.number, pack.version),
        runs=((pack.number * PACK, (pack.number + 1) * PACK),),
        lengths=pack.lengths,
        postings={term: block.postings for term, block in pack.blocks.items()},
        skylines={term: block.skyline for term, block in pack.blocks.items() if block.skyline},
    )


def _of_tail(snapshot: Snapshot, terms: Iterable[str]) -> LexicalSegment:
    entries = snapshot.tail
    starts = np.cumsum([0, *(entry.count for entry in entries)]).astype(np.uint32)
    return LexicalSegment(
        key=("tail", *(entry.pk for entry in entries)),
        runs=[entry.run for entry in entries],
        lengths=np.concatenate([entry.words.lengths for entry in entries]),
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
