"""Postings: where terms occur, in a source or a pack, as arrays and as bytes. Pure.

Terms are those of ``transcripts.text.terms``.

Bytes are little-endian. Frequencies and lengths take as few bytes as the greatest needs, because
hostile texts may repeat a word without limit.
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from transcripts.text.terms import counted

PACK = 1 << 16  # positions of a pack

Whole = NDArray[np.unsignedinteger[Any]]
Runs = NDArray[np.int64]  # consecutive positions [first, end) in each row, ascending


def narrowest(values: NDArray[Any]) -> Whole:
    """Convert whole numbers to the narrowest type that holds all."""
    most = int(values.max()) if len(values) else 0
    return values.astype("<u1" if most < 1 << 8 else "<u2" if most < 1 << 16 else "<u4")


def from_bytes(data: bytes, width: int, count: int, offset: int) -> Whole:
    return np.frombuffer(data, f"<u{width}", count, offset)


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The slots of a term (ascending, counted from the start of its source or pack) and its
    frequencies there.

    Very common terms store only the ``spread``: the frequencies at all slots, zeros included.
    """

    _slots: Whole | None = None
    _frequencies: Whole | None = None
    spread: NDArray[Any] | None = None

    @property
    def end(self) -> int:
        """The last slot, plus 1; there is one."""
        return len(self.spread) if self.spread is not None else int(self.slots[-1]) + 1

    @property
    def n(self) -> int:
        """The number of chunks with the term."""
        return len(self.slots) if self.spread is None else int(np.count_nonzero(self.spread))

    @property
    def slots(self) -> Whole:
        return self.pairs()[0]

    @property
    def nbytes(self) -> int:
        arrays = (self._slots, self._frequencies, self.spread)
        return 200 + sum(array.nbytes for array in arrays if array is not None)

    def pairs(self, least: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the slots with at least ``least`` occurrences, and the frequencies there."""
        if self.spread is not None:
            slots = np.flatnonzero(self.spread >= least if least > 1 else self.spread)
            return slots, self.spread[slots]
        assert self._slots is not None
        assert self._frequencies is not None
        if least <= 1:
            return self._slots, self._frequencies
        chosen = np.flatnonzero(self._frequencies >= least)
        return self._slots[chosen], self._frequencies[chosen]

    def add_to(self, sums: NDArray[np.float32], worth: float) -> None:
        """Add the frequencies to sums by slot, each occurrence as what it is worth."""
        if self.spread is not None:
            sums[: len(self.spread)] += self.spread * np.float32(worth)
        else:
            slots, frequencies = self.pairs()
            sums[slots] += frequencies * np.float32(worth)

    def count_within(self, mask: NDArray[np.bool_]) -> int:
        """Count the marked slots with the term; there is a mark for each of its slots."""
        if self.spread is not None:
            return int(np.count_nonzero(self.spread[mask[: len(self.spread)]]))
        return int(np.count_nonzero(mask[self.slots]))

    def at(self, slots: NDArray[Any]) -> NDArray[Any]:
        """Return the frequencies at ascending slots, 0 where the term is missing."""
        if self.spread is not None:
            frequencies = self.spread.take(slots, mode="clip")
            if len(slots) and slots[-1] >= len(self.spread):
                frequencies[slots >= len(self.spread)] = 0
            return frequencies
        owned, own = self.pairs()
        if not len(owned):
            return np.zeros(len(slots), np.uint8)
        indexes = owned.searchsorted(slots.astype(owned.dtype))
        indexes[indexes == len(owned)] = 0
        return np.asarray(own[indexes] * (owned[indexes] == slots))


def joined(parts: Sequence[tuple[Postings, float]]) -> Postings:
    """Join postings, of which each occurrence counts what stands beside them."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    if any(part.spread is not None or part.n > _MANY for part, _ in parts):
        sums = np.zeros(max(part.end for part, _ in parts), np.float32)
        for part, worth in parts:
            part.add_to(sums, worth)
        return Postings(spread=sums)
    pairs = [(slots, counts * worth) for part, worth in parts for slots, counts in [part.pairs()]]
    slots, frequencies = map(np.concatenate, zip(*pairs, strict=True))
    order = np.argsort(slots, kind="stable")
    slots, frequencies = slots[order], frequencies[order]
    firsts = np.flatnonzero(np.diff(slots.astype(np.int64), prepend=-1))
    return Postings(slots[firsts], np.add.reduceat(frequencies, firsts))


_MANY = 1 << 10  # postings that take longer to sort than to be added up over all slots


# Blocks


def to_block(slots: Whole, frequencies: Whole) -> bytes:
    """Encode a pack's postings, as the spread where that is shorter; the last byte tells."""
    frequencies = narrowest(frequencies)
    if len(slots) * 3 > PACK:
        spread = np.zeros(int(slots[-1]) + 1, frequencies.dtype)
        spread[slots] = frequencies
        return spread.tobytes() + bytes([frequencies.itemsize | _SPREAD])
    return slots.astype("<u2").tobytes() + frequencies.tobytes() + bytes([frequencies.itemsize])


def from_block(data: bytes) -> Postings:
    width = data[-1] & ~_SPREAD
    if data[-1] & _SPREAD:
        return Postings(spread=from_bytes(data, width, (len(data) - 1) // width, 0))
    n = len(data) // (2 + width)
    return Postings(from_bytes(data, 2, n, 0), from_bytes(data, width, n, 2 * n))


_SPREAD = 0x80


def to_lengths(lengths: Whole) -> bytes:
    """Encode the lengths of a pack's chunks; the last byte holds their width."""
    lengths = narrowest(lengths)
    return lengths.tobytes() + bytes([lengths.itemsize])


def from_lengths(data: bytes) -> Whole:
    return from_bytes(data, data[-1], (len(data) - 1) // data[-1], 0)


def to_runs(runs: Runs) -> bytes:
    """Encode runs of positions, eight bytes a border, as ``_RUNS`` of ``snapshot`` does in SQL."""
    return runs.astype(">i8").tobytes()


def from_runs(data: bytes) -> Runs:
    return np.frombuffer(data, ">i8").reshape(-1, 2).astype(np.int64)


def skyline(frequencies: Whole, lengths: Whole) -> bytes:
    """Return the pairs (frequency, length) that no other posting beats in both, four bytes each.

    A score rises with the frequency and falls with the length, so the best of these is the best of
    all, whatever the average length.
    """
    order = np.lexsort((lengths, -frequencies.astype(np.int64)))
    falling = np.minimum.accumulate(lengths[order])
    best = np.concatenate(([True], falling[1:] < falling[:-1])) if len(order) else np.empty(0, bool)
    return np.column_stack((frequencies[order][best], lengths[order][best])).astype("<u4").tobytes()


# Sources


@dataclass(frozen=True, eq=False, kw_only=True)
class Words:
    """The words of one source's chunks.

    Terms are sorted; term i owns the postings ``starts[i]:starts[i + 1]``. Forms and the single
    characters of unspaced scripts are terms, too, but add nothing to a chunk's length.
    """

    terms: list[str]
    starts: Whole
    slots: Whole
    frequencies: Whole
    lengths: Whole

    @classmethod
    def build(cls, texts: Iterable[str], code: str = "") -> Self:
        """Tokenize chunks in a stemmer's language; the slot of one is its index in ``texts``."""
        lengths, sizes = array("I"), array("I")
        names, counts = list[str](), array("I")
        for text in texts:
            frequencies, length = counted(text, code)
            lengths.append(length)
            sizes.append(len(frequencies))
            names += frequencies
            counts.extend(frequencies.values())
        terms = sorted({*names})
        numbers = {term: number for number, term in enumerate(terms)}
        owners = np.fromiter(map(numbers.__getitem__, names), np.uint32, len(names))
        order = np.argsort(owners, kind="stable")
        slots = np.repeat(np.arange(len(sizes)), np.asarray(sizes))
        return cls(
            terms=terms,
            starts=np.searchsorted(owners[order], np.arange(len(terms) + 1)).astype("<u4"),
            slots=narrowest(slots[order]),
            frequencies=narrowest(np.asarray(counts)[order]),
            lengths=narrowest(np.asarray(lengths)),
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the terms. Most terms of a query are in few sources: a miss is fast."""
        return {term: number for number, term in enumerate(self.terms)}

    @property
    def tokens(self) -> int:
        return int(self.lengths.sum(dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return 200 * len(self.terms) + sum(
            part.nbytes for part in (self.starts, self.slots, self.frequencies, self.lengths)
        )

    def find(self, term: str) -> Postings:
        """Return the postings of a term. Raises ``KeyError`` for one that is not in ``numbers``."""
        number = self.numbers[term]
        owned = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return Postings(self.slots[owned], self.frequencies[owned])

    def to_bytes(self) -> bytes:
        """Encode as header, terms (UTF-8, one per line), starts, slots, frequencies, lengths."""
        names = "\n".join(self.terms).encode()
        arrays = (self.starts, self.slots, self.frequencies, self.lengths)
        widths = (part.itemsize for part in arrays[1:])
        header = _HEADER.pack(
            _MAGIC, *widths, len(self.terms), len(names), len(self.slots), len(self.lengths)
        )
        return b"".join((header, names, *(part.tobytes() for part in arrays)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Decode the result of ``to_bytes``. Raises ``ValueError`` for anything else."""
        if data[:4] != _MAGIC:
            raise ValueError("the bytes are not the words of a source")
        _, *widths, terms, name_bytes, postings, chunks = _HEADER.unpack_from(data)
        offset = _HEADER.size + name_bytes
        names = data[_HEADER.size : offset].decode().split("\n") if terms else []
        arrays = []
        for width, count in zip((4, *widths), (terms + 1, postings, postings, chunks), strict=True):
            arrays.append(from_bytes(data, width, count, offset))
            offset += width * count
        starts, slots, frequencies, lengths = arrays
        return cls(
            terms=names, starts=starts, slots=slots, frequencies=frequencies, lengths=lengths
        )


_MAGIC = b"KBL1"
_HEADER = struct.Struct("<4sBBBIIII")
