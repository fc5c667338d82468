"""The parts that a search goes through: every pack is one, and the entries that are in no pack yet are one together."""

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
    """Chunks that are searched together. A slot is a chunk's number within the part; places ascend with slots.

    ``runs`` are the places of its slots; a pack has one, with an end that its lengths do not always resolved. ``skies`` bound the scores of a term's postings
    (see ``citations.lexical.postings.skyline``), where there are many. ``key`` tells this part apart from every other, and from itself at another time.
    """

    key: tuple[Any, ...]
    runs: Sequence[Run]
    lengths: NDArray[Any]
    postings: dict[str, Postings]
    skies: dict[str, bytes]

    @property
    def size(self) -> int:
        """How many slots it has."""
        return len(self.lengths)

    def places(self, slots: Slots) -> NDArray[np.int64]:
        """Return the places of slots."""
        if len(self.runs) == 1:
            return np.asarray(slots.astype(np.int64) + self.runs[0][0])
        firsts, starts = self._table
        owners = np.searchsorted(starts, slots, side="right") - 1
        return np.asarray(slots - starts[owners] + firsts[owners])

    def inside(self, places: NDArray[np.int64]) -> Slots:
        """Return the slots of those places that are in this part."""
        slots = self._at(places)
        real = slots < self.size
        slots, places = slots[real], places[real]
        return np.asarray(slots[self.places(slots) == places])

    def covered(self, runs: Sequence[Run]) -> Mask:
        """Mark the slots whose places are in any of some runs, which do not overlap."""
        borders = self._at(np.array(runs, np.int64).reshape(-1, 2))
        steps = np.bincount(borders[:, 0], minlength=self.size + 1) - np.bincount(
            borders[:, 1], minlength=self.size + 1
        )
        return np.asarray(np.cumsum(steps[:-1]) > 0)

    def _at(self, places: NDArray[np.int64]) -> Slots:
        """Return for each place the slot of the first place here that is not before it; the size if there is none."""
        firsts, starts = self._table
        owners = np.maximum(np.searchsorted(firsts, places, side="right") - 1, 0)
        ends = np.append(starts[1:], self.size)
        return np.asarray(
            np.clip(places - firsts[owners] + starts[owners], starts[owners], ends[owners])
        )

    @property
    def _table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first place and the first slot of each run."""
        runs = np.array(self.runs, np.int64)
        return runs[:, 0], np.cumsum(runs[:, 1] - runs[:, 0]) - (runs[:, 1] - runs[:, 0])


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFilter:
    """Which chunks may be found beside those of the snapshot's resolved: those that say all of ``required`` (stored terms) and none of ``excluded``."""

    required: Sequence[str] = ()
    excluded: Sequence[str] = ()


def parts(snapshot: Snapshot, terms: Iterable[str]) -> list[LexicalSegment]:
    """Return the parts in which any of the (stored) terms is said."""
    found = [_of_pack(pack) for pack in snapshot.packs if pack.blocks]
    if snapshot.tail:
        found.append(_of_tail(snapshot, terms))
    return [part for part in found if part.postings]


def allowed(snapshot: Snapshot, part: LexicalSegment, wanted: TermFilter) -> Mask | None:
    """Mark the slots that may be found. None: all of them."""
    mask = _within_reach(snapshot, part)
    if not wanted.required and not wanted.excluded:
        return mask
    mask = np.ones(part.size, bool) if mask is None else mask
    for term in wanted.required:
        said = np.zeros(part.size, bool)
        said[_slots(part, term)] = True
        mask &= said
    for term in wanted.excluded:
        mask[_slots(part, term)] = False
    return mask


def _within_reach(snapshot: Snapshot, part: LexicalSegment) -> Mask | None:
    mask: Mask | None = None
    if snapshot.runs is not None:
        mask = part.covered(snapshot.runs)
    elif dead := [entry.run for entry in snapshot.dead if _overlaps(entry, part)]:
        mask = ~part.covered(sorted(dead))
    if snapshot.places is not None:
        single = np.zeros(part.size, bool)
        single[part.inside(snapshot.places)] = True
        mask = single if mask is None else mask & single
    return mask


def _overlaps(entry: UnmergedEntry, part: LexicalSegment) -> bool:
    return entry.first < part.runs[-1][1] and entry.first + entry.count > part.runs[0][0]


def _slots(part: LexicalSegment, term: str) -> Slots:
    postings = part.postings.get(term)
    return postings.slots if postings else np.empty(0, np.int64)


def _of_pack(pack: Pack) -> LexicalSegment:
    return LexicalSegment(
        key=("pack", pack.number, pack.version),
        runs=((pack.number * PACK, (pack.number + 1) * PACK),),
        lengths=pack.lengths,
        postings={term: block.postings for term, block in pack.blocks.items()},
        skies={term: block.sky for term, block in pack.blocks.items() if block.sky},
    )


def _of_tail(snapshot: Snapshot, terms: Iterable[str]) -> LexicalSegment:
    entries = snapshot.tail
    starts = np.cumsum([0, *(entry.count for entry in entries)]).astype(np.uint32)
    return LexicalSegment(
        key=("tail", *(entry.pk for entry in entries)),
        runs=[entry.run for entry in entries],
        lengths=np.concatenate([entry.words.lengths for entry in entries]),
        postings={
            term: _joined(starts, said) for term in terms if (said := snapshot.in_tail(term))
        },
        skies={},
    )


def _joined(starts: NDArray[np.uint32], said: Sequence[tuple[int, Postings]]) -> Postings:
    slots = np.concatenate([postings.slots for _, postings in said], dtype=np.uint32)
    slots += np.repeat(starts[[number for number, _ in said]], [postings.n for _, postings in said])
    return Postings(slots, np.concatenate([postings.pairs()[1] for _, postings in said]))
