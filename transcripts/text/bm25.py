"""BM25 over the segments of one transcript: index tokens once, rank many times. Standard library
only.

A word counts more the more often a segment contains it (with diminishing returns), the fewer
segments contain it, and the shorter the segment is. The index is immutable, is shared between
threads, and is stored as one blob beside its transcript.
"""

import math
import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate, chain, islice, pairwise
from typing import NamedTuple, Self

MIN_NORM = 1e-9  # keeps the formula defined where k1 is 0, or b is 1 and a segment has no words


@dataclass(frozen=True, slots=True)
class Parameters:
    """The constants of BM25: how slowly repetitions saturate (``k1``, 0 to 2), and how much the
    length counts (``b``, 0 to 1).
    """

    k1: float = 1.5
    b: float = 0.75


DEFAULT = Parameters()


class QueryWord(NamedTuple):
    """A word of a query, and the tokens that stand for it, with what each occurrence counts.

    One that says another word more precisely, as “IT” does “it”, is ``beyond`` that word: it adds
    what it is rarer.
    """

    text: str
    repetitions: int
    tokens: tuple[tuple[str, float], ...]
    beyond: str | None = None


# Formulas


def idf(segments: int, containing: int) -> float:
    """Weight a term by its rarity: ln((N − n + 0.5) / (n + 0.5) + 1), always above zero.

    Robertson and Spärck Jones, "Relevance weighting of search terms" (1976), without relevance
    information. The + 1 is Lucene's: without it, terms in more than half of the segments would
    count against a segment.
    """
    return math.log1p((segments - containing + 0.5) / (containing + 0.5))


def weights(
    words: Iterable[QueryWord], containing: Mapping[str, int], segments: int
) -> dict[str, float]:
    """Return the weight of each word that ``containing`` segments have: its idf, or how much that
    is greater than the idf of the word that it is ``beyond``. Others are left out.
    """
    weighted: dict[str, float] = {}
    for word in words:
        if own := containing[word.text]:
            general = containing.get(word.beyond, 0) if word.beyond else 0
            weight = idf(segments, own) - (idf(segments, general) if general else 0)
            if weight > 0:
                weighted[word.text] = weight
    return weighted


def length_norm(length: int, average: float, by: Parameters = DEFAULT) -> float:
    """Weight a segment's length (tokens): k1 · (1 − b + b · length / average).

    k1 · (1 − b) if the average is 0. Robertson and Zaragoza, "The Probabilistic Relevance
    Framework: BM25 and Beyond" (2009).
    """
    norm = by.k1 * (1 - by.b + by.b * length / average) if average else by.k1 * (1 - by.b)
    return max(norm, MIN_NORM)


def score_formula(frequency: float, norm: float, weight: float, by: Parameters = DEFAULT) -> float:
    """Score one term in one segment: idf · tf · (k1 + 1) / (tf + norm).

    ``norm`` is ``length_norm``, ``weight`` the idf. Robertson and Zaragoza (2009). The score of a
    segment is the sum over the query's tokens, so that a repeated word counts again.
    """
    return weight * frequency * (by.k1 + 1) / (frequency + norm)


# Index


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that shares a word with the query: its position, and its score above zero."""

    position: int
    score: float


class _Term(NamedTuple):
    """A term: ascending positions, frequencies, idf, and its packed scores (see ``_pack``)."""

    positions: Sequence[int]
    frequencies: Sequence[float]
    weight: float
    lanes: int


class Index:
    """The words of one transcript's segments, ready to rank.

    Terms are sorted. Term i owns the postings ``starts[i]:starts[i + 1]`` of ``positions``
    (ascending) and ``frequencies``.
    """

    __slots__ = (
        "_frequencies",
        "_highest",
        "_kept",
        "_lengths",
        "_norms",
        "_ones",
        "_parameters",
        "_positions",
        "_starts",
        "_terms",
        "average_length",
        "size",
    )

    def __init__(
        self,
        terms: list[str],
        starts: "array[int]",
        positions: "array[int]",
        frequencies: "array[int]",
        lengths: "array[int]",
        parameters: Parameters,
    ) -> None:
        self._parameters = parameters
        self._terms = terms
        self._starts = starts
        self._positions = positions
        self._frequencies = frequencies
        self._lengths = lengths
        self.size = len(lengths)
        self.average_length: float = sum(lengths) / len(lengths) if lengths else 0.0
        table = {
            length: length_norm(length, self.average_length, parameters) for length in set(lengths)
        }
        self._norms: list[float] = [table[length] for length in lengths]
        self._ones = int.from_bytes(array("I", [1]) * len(lengths), sys.byteorder)
        self._highest = self._ones * _HIGHEST
        self._kept: dict[_Tokens, _Term] = {}

    @classmethod
    def build(
        cls, segments: Iterable[tuple[Mapping[str, int], int]], parameters: Parameters = DEFAULT
    ) -> Self:
        """Index segments by how often they have each token, and their lengths. The position of a
        hit is the index in ``segments``.
        """
        lengths: list[int] = []
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for position, (counts, length) in enumerate(segments):
            lengths.append(length)
            for token, frequency in counts.items():
                postings[token] += (position, frequency)
        terms = sorted(postings)
        flat = [*chain.from_iterable(map(postings.__getitem__, terms))]
        sizes = [len(postings[term]) // 2 for term in terms]
        starts = array("I", accumulate(sizes, initial=0))
        positions, frequencies = _narrowest(flat[::2]), _narrowest(flat[1::2])
        return cls(terms, starts, positions, frequencies, _narrowest(lengths), parameters)

    def rank(self, words: Iterable[QueryWord], *, limit: int) -> list[Hit]:
        """Return the ``limit`` best segments, best first; ties in the transcript's order.

        Segments without any word are left out. At most ``MAX_QUERY_WORDS`` words, with
        repetitions, may be ranked by.
        """
        words = list(words)
        postings = {word.text: self._occurrences(word.tokens) for word in words}
        containing = {text: len(positions) for text, (positions, _) in postings.items()}
        weight = weights(words, containing, self.size)
        terms = [
            (self._term(word.tokens, *postings[word.text], weight[word.text]), word.repetitions)
            for word in words
            if word.text in weight
        ]
        if limit <= 0 or not terms:
            return []
        ranked = sorted(
            (-self._score(position, terms), position) for position in self._candidates(terms, limit)
        )
        return [Hit(position, -score) for score, position in ranked[:limit]]

    def to_bytes(self) -> bytes:
        """Return one little-endian blob: header, terms (UTF-8 lines), starts, positions,
        frequencies, lengths.
        """
        names = "\n".join(self._terms).encode()
        arrays = (self._starts, self._positions, self._frequencies, self._lengths)
        body = b"".join((names, *map(_little_endian, arrays)))
        widths = (part.itemsize for part in arrays[1:])
        sizes = (len(self._terms), len(names), len(self._positions), self.size)
        return _HEADER.pack(_MAGIC, _VERSION, *widths, *sizes, zlib.crc32(body)) + body

    @classmethod
    def from_bytes(cls, data: bytes, parameters: Parameters = DEFAULT) -> Self:
        """Read a blob written by ``to_bytes``.

        Raises ``ValueError`` if it is damaged or no index: then build the index again.
        """
        terms, (starts, positions, frequencies, lengths) = _unpack(data)
        if (
            len(starts) != len(terms) + 1
            or starts[-1] != len(positions)
            or max(positions, default=-1) >= len(lengths)
        ):
            raise ValueError("the search index contradicts itself")
        return cls(terms, starts, positions, frequencies, lengths, parameters)

    def _score(self, position: int, query: "_QueryTerms") -> float:
        """Sum the scores of all terms in one segment."""
        norm, score = self._norms[position], 0.0
        for (positions, frequencies, weight, _), repetitions in query:
            place = bisect_left(positions, position)
            if place < len(positions) and positions[place] == position:
                score += repetitions * score_formula(
                    frequencies[place], norm, weight, self._parameters
                )
        return score

    def _candidates(self, query: "_QueryTerms", limit: int) -> Iterator[int]:
        """Yield, in order, few more positions than the ``limit`` best, and all of these.

        All segments are scored approximately, by one sum of integers. The best segments with the
        rarest words set the score that a candidate must reach.
        """
        sums = sum(
            term.lanes * repetitions if repetitions > 1 else term.lanes
            for term, repetitions in query
        )
        slack = sum(repetitions for _, repetitions in query) + 1  # each was rounded up by at most 1
        lanes = array("I", sums.to_bytes(_LANE * self.size, sys.byteorder))
        rarest = sorted((term.positions for term, _ in query), key=len)
        likely = nlargest(
            limit, map(lanes.__getitem__, {*islice(chain.from_iterable(rarest), _LIKELY)})
        )
        flags = self._reaching(sums, likely[-1] - slack if len(likely) == limit else 1)
        if flags.bit_count() > 4 * limit:
            flags = self._reaching(sums, nlargest(limit, lanes)[-1] - slack)
        return _flagged(flags.to_bytes(_LANE * self.size, sys.byteorder))

    def _reaching(self, sums: int, least: int) -> int:
        """Set the highest bit of every lane that reaches ``least`` (and 1), and no other bit."""
        return (sums + self._ones * (_HIGHEST - max(1, least))) & self._highest

    def _term(
        self,
        tokens: "_Tokens",
        positions: Sequence[int],
        frequencies: Sequence[float],
        weight: float,
    ) -> _Term:
        """Return a term. Cache frequent ones: packing them takes longest, and they recur."""
        if (cached := self._kept.get(tokens)) and cached.weight == weight:
            return cached
        term = _Term(positions, frequencies, weight, self._pack(positions, frequencies, weight))
        has_room = len(self._kept) * self.size * _LANE < _KEPT_BYTES
        if has_room and len(positions) * _KEPT_SHARE > self.size:
            self._kept[tokens] = term
        return term

    def _pack(self, positions: Sequence[int], frequencies: Sequence[float], weight: float) -> int:
        """Pack a term's scores into one integer: 32 bits a segment, fixed point, rounded up.

        Adding two such integers, one fast loop inside the interpreter, adds the scores of all
        segments. ``MAX_QUERY_WORDS`` words cannot overflow a lane: each adds less than
        (k1 + 1) · ln(2³⁰) · 2¹⁶, and k1 is at most 2.
        """
        lanes = array("I", bytes(_LANE * self.size))
        factor, norms = weight * (self._parameters.k1 + 1) * _SCALE, self._norms
        for position, frequency in zip(positions, frequencies, strict=True):
            lanes[position] = int(factor * frequency / (frequency + norms[position])) + 1
        return int.from_bytes(lanes, sys.byteorder)

    def _occurrences(self, tokens: "_Tokens") -> tuple[Sequence[int], Sequence[float]]:
        """Return the positions that have any of the tokens, and what they count there together."""
        parts = [(self._postings(token), worth) for token, worth in tokens]
        present = [(part, worth) for part, worth in parts if part[0]]
        if len(present) == 1 and present[0][1] == 1:
            return present[0][0]
        counts: defaultdict[int, float] = defaultdict(float)
        for (positions, frequencies), worth in present:
            for position, frequency in zip(positions, frequencies, strict=True):
                counts[position] += worth * frequency
        return sorted(counts), [counts[position] for position in sorted(counts)]

    def _postings(self, term: str) -> tuple["array[int]", "array[int]"]:
        place = bisect_left(self._terms, term)
        if place == len(self._terms) or self._terms[place] != term:
            return array("H"), array("B")
        owned = slice(self._starts[place], self._starts[place + 1])
        return self._positions[owned], self._frequencies[owned]


_Tokens = tuple[tuple[str, float], ...]
_QueryTerms = Sequence[tuple[_Term, int]]

_LANE = 4  # bytes
_HIGHEST = 1 << 31
_SCALE = 1 << 16
_LIKELY = 64
_KEPT_SHARE = 32  # cache terms that occur in more than one of so many segments,
_KEPT_BYTES = 1 << 21  # while they take less than this


def _flagged(flags: bytes) -> Iterator[int]:
    """Yield the positions of the lanes whose highest bit is set."""
    place = flags.find(b"\x80")
    while place >= 0:
        yield place // _LANE
        place = flags.find(b"\x80", place + 1)


# Storage

_MAGIC = b"KBM1"
_VERSION = 4
_HEADER = struct.Struct("<4sHBBBIIIII")
_TYPECODES = {1: "B", 2: "H", 4: "I"}


def _unpack(data: bytes) -> tuple[list[str], list["array[int]"]]:
    if len(data) < _HEADER.size:
        raise ValueError("the search index is too short")
    magic, version, *widths, terms, name_bytes, postings, segments, checksum = _HEADER.unpack_from(
        data
    )
    if magic != _MAGIC or version != _VERSION:
        raise ValueError("not a search index of this version")
    body = memoryview(data)[_HEADER.size :]
    if zlib.crc32(body) != checksum or not set(widths) <= _TYPECODES.keys():
        raise ValueError("the search index is damaged")
    widths = [4, *widths]
    sizes = [
        count * width
        for count, width in zip((terms + 1, postings, postings, segments), widths, strict=True)
    ]
    if name_bytes + sum(sizes) != len(body):
        raise ValueError("the search index has the wrong length")
    borders = pairwise(accumulate(sizes, initial=name_bytes))
    parts = [
        _from_little_endian(body[start:stop], width)
        for (start, stop), width in zip(borders, widths, strict=True)
    ]
    return str(body[:name_bytes], "utf-8").split("\n") if terms else [], parts


def _from_little_endian(data: memoryview, width: int) -> "array[int]":
    values = array(_TYPECODES[width], bytes(data))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _little_endian(values: "array[int]") -> bytes:
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def _narrowest(values: Sequence[int]) -> "array[int]":
    most = max(values, default=0)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", values)
