"""The segments of a snapshot that are scanned: every pack, and all unmerged entries together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citations.lexical.postings import PACK, Postings, Runs, joined
from citations.lexical.snapshot import Pack, Run, Snapshot, Terms, UnmergedEntry

Mask = NDArray[np.bool_]
Slots = NDArray[Any]
Peak = tuple[float, float]  # frequency and length


@dataclass(frozen=True, slots=True)
class LexicalSegment:
    """Chunks that are searched together; a slot is a chunk's number among them.

    ``runs`` are the positions of its slots, ascending; a pack's only run may be longer than its
    lengths. All is by the words of the query, of which ``terms`` are looked up. ``counts`` are the
    slots with a word. The statistics are those of the ``counted`` slots (None: of all).
    """

    runs: Sequence[Run]
    terms: Terms
    lengths: NDArray[Any]
    counts: dict[str, int]
    postings: dict[str, Postings]
    skylines: Mapping[str, Sequence[Peak]]
    counted: Mask | None = None

    @property
    def size(self) -> int:
        return len(self.lengths)

    def containing(self, word: str) -> int:
        """Count the chunks with a word, for the statistics."""
        if self.counted is None or word not in self.postings:
            return self.counts.get(word, 0)
        return self.postings[word].count_within(self.counted)

    def having(self, word: str) -> Slots:
        return self.postings[word].slots if word in self.postings else np.empty(0, np.int64)

    def positions(self, slots: Slots) -> NDArray[np.int64]:
        if len(self.runs) == 1:
            return np.asarray(slots.astype(np.int64) + self.runs[0][0])
        firsts, starts = self._table
        owners = np.searchsorted(starts, slots, side="right") - 1
        return np.asarray(slots - starts[owners] + firsts[owners])

    def inside(self, positions: NDArray[np.int64]) -> Slots:
        """Return the slots of those positions that are in this segment and counted."""
        slots = self._at(positions)
        real = slots < self.size
        slots, positions = slots[real], positions[real]
        slots = np.asarray(slots[self.positions(slots) == positions])
        return slots if self.counted is None else slots[self.counted[slots]]

    def overlapping(self, runs: Runs) -> Runs:
        """Return those of the runs that may have positions of this segment."""
        first = runs[:, 1].searchsorted(self.runs[0][0], side="right")
        return runs[first : runs[:, 0].searchsorted(self.runs[-1][1])]

    def covered(self, runs: Runs) -> Mask:
        """Mark the slots whose positions are in one of the runs, which do not overlap."""
        borders = self._at(self.overlapping(runs)).ravel()
        lengths = np.diff(borders, prepend=0, append=self.size)  # outside and inside by turns
        return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)

    def _at(self, positions: NDArray[np.int64]) -> Slots:
        """Return for each position the slot of the first position at or after it; else the size."""
        firsts, starts = self._table
        owners = np.maximum(np.searchsorted(firsts, positions, side="right") - 1, 0)
        ends = np.append(starts[1:], self.size)
        slots = positions - firsts[owners] + starts[owners]
        return np.asarray(np.clip(slots, starts[owners], ends[owners]))

    @property
    def _table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        firsts, ends = np.array(self.runs, np.int64).T
        return firsts, np.cumsum(ends - firsts) - (ends - firsts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermFilter:
    """Words by their terms: chunks must have all of ``required`` and none of ``excluded``."""

    required: Sequence[str] = ()
    excluded: Sequence[str] = ()


def segments(snapshot: Snapshot) -> list[LexicalSegment]:
    """Return the segments with any word of the query, by its terms; apart from others those of what
    the tokenizer's version before has indexed, by its terms.
    """
    current = _segments(snapshot, snapshot.terms, is_outdated=False)
    return [*current, *_segments(snapshot, snapshot.before, is_outdated=True)]


def allowed(snapshot: Snapshot, segment: LexicalSegment, terms: TermFilter) -> Mask | None:
    """Mark the slots that may be found. None: all of them."""
    parts = [] if segment.counted is None else [segment.counted]
    if snapshot.runs is not None:
        parts.append(segment.covered(snapshot.runs))
    if snapshot.positions is not None:
        parts.append(_marked(segment, segment.inside(snapshot.positions)))
    # What had no word for it cannot tell which chunks have it.
    required = [word for word in terms.required if segment.terms.get(word)]
    parts += [_marked(segment, segment.having(word)) for word in required]
    parts += [~_marked(segment, segment.having(word)) for word in terms.excluded]
    return np.logical_and.reduce(parts) if parts else None


def _segments(snapshot: Snapshot, terms: Terms, *, is_outdated: bool) -> list[LexicalSegment]:
    parts: list[LexicalSegment] = []
    packs = snapshot.packs if len(snapshot.outdated) or not is_outdated else []
    for segment in [_of_pack(pack, terms) for pack in packs if pack.postings]:
        counted, runs = _counted(snapshot, segment), segment.overlapping(snapshot.outdated)
        if len(runs):
            own = segment.covered(runs) == is_outdated
            counted = own if counted is None else own & counted
        if len(runs) or not is_outdated:
            parts.append(replace(segment, counted=counted))
    tail = [entry for entry in snapshot.tail if entry.is_outdated == is_outdated]
    waiting = _of_tail(tail, terms) if tail else None
    return [*parts, waiting] if waiting and waiting.postings else parts


def _counted(snapshot: Snapshot, segment: LexicalSegment) -> Mask | None:
    if snapshot.readable is not None:
        return segment.covered(snapshot.readable)
    if len(segment.overlapping(snapshot.dead)):
        return ~segment.covered(snapshot.dead)
    return None


def _marked(segment: LexicalSegment, slots: Slots) -> Mask:
    mask = np.zeros(segment.size, bool)
    mask[slots] = True
    return mask


def _of_pack(pack: Pack, terms: Terms) -> LexicalSegment:
    present = {
        word: own
        for word, all_ in terms.items()
        if (own := {term: all_[term] for term in all_ if term in pack.postings})
    }
    postings = {
        word: joined([(pack.postings[term], worth) for term, worth in own.items()])
        for word, own in present.items()
    }
    return LexicalSegment(
        runs=((pack.number * PACK, (pack.number + 1) * PACK),),
        terms=terms,
        lengths=pack.lengths,
        counts={
            word: postings[word].n if len(own) > 1 else sum(map(pack.counts.__getitem__, own))
            for word, own in present.items()
        },
        postings=postings,
        skylines={word: _skyline(pack, own) for word, own in present.items()},
    )


def _skyline(pack: Pack, terms: Mapping[str, float]) -> list[Peak]:
    """Return what no chunk with any of the terms of a word exceeds in both."""
    parts = [
        [(worth * frequency, length) for frequency, length in pack.skyline(term)]
        for term, worth in terms.items()
    ]
    most = [max(frequency for frequency, _ in part) for part in parts]
    # A chunk may have the other forms, too.
    return [
        (frequency + sum(most) - own, length)
        for part, own in zip(parts, most, strict=True)
        for frequency, length in part
    ]


def _of_tail(tail: Sequence[UnmergedEntry], terms: Terms) -> LexicalSegment:
    """Join the unmerged entries, all of which count."""
    starts = np.cumsum([0, *(entry.count for entry in tail)]).astype(np.uint32)
    postings = {word: own for word, all_ in terms.items() if (own := _in_tail(starts, tail, all_))}
    return LexicalSegment(
        runs=[entry.run for entry in tail],
        terms=terms,
        lengths=np.concatenate([entry.words.lengths for entry in tail]),
        counts={word: own.n for word, own in postings.items()},
        postings=postings,
        skylines={},
    )


def _in_tail(
    starts: NDArray[np.uint32], tail: Sequence[UnmergedEntry], terms: Mapping[str, float]
) -> Postings | None:
    parts = [
        (start, joined([(entry.words.find(term), terms[term]) for term in own]))
        for start, entry in zip(starts.tolist(), tail, strict=False)
        if (own := [*filter(entry.words.numbers.__contains__, terms)])
    ]
    if not parts:
        return None
    slots = [postings.slots.astype(np.uint32) + np.uint32(start) for start, postings in parts]
    counts = [postings.pairs()[1] for _, postings in parts]
    return Postings(np.concatenate(slots), np.concatenate(counts))
