"""Where words are said: the postings of one source, and of one pack, as arrays and as bytes. Pure.

All bytes are little-endian. Frequencies and lengths are stored in as few bytes as the greatest of them needs, since there is no limit to how often a hostile
text repeats a word.
"""

import struct
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from transcripts.tokenizer import is_unspaced, tokenize, units

PACK = 1 << 16  # places of a pack
MAX_TERM = 128  # characters; PostgreSQL indexes no longer values than about 2,700 bytes

Whole = NDArray[np.unsignedinteger[Any]]


def stored(term: str) -> str:
    """Return the form in which a term is stored: itself, or for a very long one its beginning and a digest of it, joined by what no word contains."""
    return (
        term
        if len(term) <= MAX_TERM
        else f"{term[: MAX_TERM // 2]}…{sha256(term.encode()).hexdigest()}"
    )


def narrowest(values: NDArray[Any]) -> Whole:
    """Return whole numbers in as few bytes each as the greatest needs."""
    most = int(values.max()) if len(values) else 0
    return values.astype("<u1" if most < 1 << 8 else "<u2" if most < 1 << 16 else "<u4")


def from_bytes(data: bytes, width: int, count: int, offset: int) -> Whole:
    """Read ``count`` whole numbers of ``width`` bytes."""
    return np.frombuffer(data, f"<u{width}", count, offset)


class Postings:
    """Where a term is said, and how often: ascending ``slots``, counted from the start of its source or pack, with their ``frequencies``.

    Of a term that very many chunks say, only the ``spread`` is stored: the frequencies at all slots, zeros included.
    """

    __slots__ = ("_frequencies", "_slots", "spread")

    def __init__(
        self,
        slots: Whole | None = None,
        frequencies: Whole | None = None,
        *,
        spread: Whole | None = None,
    ) -> None:
        self._slots = slots
        self._frequencies = frequencies
        self.spread = spread

    @property
    def n(self) -> int:
        """How many chunks say it."""
        return len(self.slots)

    @property
    def slots(self) -> Whole:
        """The slots of the chunks that say it."""
        return self.pairs()[0]

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return 200 + sum(
            part.nbytes
            for part in (self._slots, self._frequencies, self.spread)
            if part is not None
        )

    def pairs(self, least: int = 1) -> tuple[NDArray[Any], Whole]:
        """Return the slots where it is said at least so often, and the frequencies there."""
        if self.spread is not None:
            slots = np.flatnonzero(self.spread >= least)
            return slots, self.spread[slots]
        assert self._slots is not None
        assert self._frequencies is not None
        if least <= 1:
            return self._slots, self._frequencies
        chosen = np.flatnonzero(self._frequencies >= least)
        return self._slots[chosen], self._frequencies[chosen]

    def at(self, slots: NDArray[Any]) -> NDArray[Any]:
        """Return the frequencies at some ascending slots, 0 where it is not said."""
        if self.spread is not None:
            found = self.spread.take(slots, mode="clip")
            if len(slots) and slots[-1] >= len(self.spread):
                found[slots >= len(self.spread)] = 0
            return found
        owned, frequencies = self.pairs()
        if not len(owned):
            return np.zeros(len(slots), np.uint8)
        places = owned.searchsorted(slots.astype(owned.dtype))
        places[places == len(owned)] = 0
        return np.asarray(frequencies[places] * (owned[places] == slots))


# Blocks


def to_block(slots: Whole, frequencies: Whole) -> bytes:
    """Write a pack's postings: slots of two bytes and frequencies, or the spread where that is shorter; at the end a byte that says which."""
    frequencies = narrowest(frequencies)
    if len(slots) * 3 > PACK:
        spread = np.zeros(int(slots[-1]) + 1, frequencies.dtype)
        spread[slots] = frequencies
        return spread.tobytes() + bytes([frequencies.itemsize | _SPREAD])
    return slots.astype("<u2").tobytes() + frequencies.tobytes() + bytes([frequencies.itemsize])


def from_block(data: bytes) -> Postings:
    """Read what ``to_block`` wrote."""
    width = data[-1] & ~_SPREAD
    if data[-1] & _SPREAD:
        return Postings(spread=from_bytes(data, width, (len(data) - 1) // width, 0))
    n = len(data) // (2 + width)
    return Postings(from_bytes(data, 2, n, 0), from_bytes(data, width, n, 2 * n))


_SPREAD = 0x80


def to_lengths(lengths: Whole) -> bytes:
    """Write the lengths of a pack's chunks, and at the end a byte that says in how many bytes each."""
    lengths = narrowest(lengths)
    return lengths.tobytes() + bytes([lengths.itemsize])


def from_lengths(data: bytes) -> Whole:
    """Read what ``to_lengths`` wrote."""
    return from_bytes(data, data[-1], (len(data) - 1) // data[-1], 0)


def skyline(frequencies: Whole, lengths: Whole) -> bytes:
    """Return the pairs (frequency, length) of postings that no other posting beats in both, as four bytes each.

    A score rises with the frequency and falls with the length, whatever the average length: so the best score among these is the best of all.
    """
    order = np.lexsort((lengths, -frequencies.astype(np.int64)))
    falling = np.minimum.accumulate(lengths[order])
    best = np.concatenate(([True], falling[1:] < falling[:-1])) if len(order) else np.empty(0, bool)
    return np.column_stack((frequencies[order][best], lengths[order][best])).astype("<u4").tobytes()


# Sources


class Words:
    """The words of one source's chunks.

    Terms are sorted; term i owns the postings ``starts[i]:starts[i + 1]``. A single character of a script without blanks is a term wherever it is said, as
    ``transcripts.bm25`` finds it, though it counts towards no chunk's length: so a query for it needs no search among all pairs of characters.
    """

    __slots__ = ("_numbers", "frequencies", "lengths", "slots", "starts", "terms")

    def __init__(
        self, *, terms: list[str], starts: Whole, slots: Whole, frequencies: Whole, lengths: Whole
    ) -> None:
        self.terms = terms
        self.starts = starts
        self.slots = slots
        self.frequencies = frequencies
        self.lengths = lengths
        self._numbers = dict(zip(terms, range(len(terms)), strict=True))

    @classmethod
    def build(cls, texts: Iterable[str]) -> Self:
        """Tokenize chunks; a chunk's slot is its place in ``texts``."""
        lengths = array("I")
        postings: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        for slot, text in enumerate(texts):
            tokens = tokenize(text)
            lengths.append(len(tokens))
            for term, frequency in _counted(tokens, plain=text.isascii()).items():
                postings[stored(term)].extend((slot, frequency))
        terms = sorted(postings)
        flat = np.frombuffer(b"".join(postings[term].tobytes() for term in terms), np.uint32)
        counts = [len(postings[term]) // 2 for term in terms]
        return cls(
            terms=terms,
            starts=np.cumsum([0, *counts]).astype("<u4"),
            slots=narrowest(flat[::2]),
            frequencies=narrowest(flat[1::2]),
            lengths=narrowest(np.frombuffer(lengths, np.uint32)) if lengths else np.empty(0, "<u1"),
        )

    @property
    def tokens(self) -> int:
        """Count the words of all chunks."""
        return int(self.lengths.sum(dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Estimate the memory it takes."""
        return 200 * len(self.terms) + sum(
            part.nbytes for part in (self.starts, self.slots, self.frequencies, self.lengths)
        )

    def find(self, term: str) -> Postings | None:
        """Return where a (stored) term is said; None if nowhere."""
        number = self._numbers.get(term)
        if number is None:
            return None
        owned = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return Postings(self.slots[owned], self.frequencies[owned])

    def to_bytes(self) -> bytes:
        """Write it: header, terms (UTF-8, one a line), starts, slots, frequencies, lengths."""
        names = "\n".join(self.terms).encode()
        arrays = (self.starts, self.slots, self.frequencies, self.lengths)
        widths = (part.itemsize for part in arrays[1:])
        header = _HEADER.pack(
            _MAGIC, *widths, len(self.terms), len(names), len(self.slots), len(self.lengths)
        )
        return b"".join((header, names, *(part.tobytes() for part in arrays)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what ``to_bytes`` wrote. Raises ``ValueError`` for anything else."""
        if data[:4] != _MAGIC:
            raise ValueError("these are not the words of a source")
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


def _counted(tokens: Sequence[str], *, plain: bool) -> Mapping[str, int]:
    """Count a chunk's terms. A character of an unspaced script counts as often as it heads pairs, or ends pairs, whichever is more."""
    counts = Counter(tokens)
    if plain:
        return counts
    heads: Counter[str] = Counter()
    tails: Counter[str] = Counter()
    for term in counts:
        if is_unspaced(term):
            head, *_, tail = units(term) * 2
            heads[head] += counts[term]
            tails[tail] += counts[term]
    return {**counts, **(heads | tails)}
