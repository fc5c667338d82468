"""BM25 over the segments of one transcript: tokenize, index once, rank many times. Standard library only.

A word of the query matters more the oftener a segment says it (with diminishing returns), the fewer segments say it, and the shorter the
segment is. The index is immutable, may be shared between threads, and is stored as one blob beside its transcript.
"""

import math
import re
import struct
import sys
import unicodedata
import zlib
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate, chain, islice, pairwise
from operator import add
from typing import NamedTuple, Self

TOKENIZER_VERSION: int = 1
"""Changes whenever ``tokenize`` answers differently for any text: stored indexes of another version are refused and built anew."""

K1 = 1.5
B = 0.75
MAX_QUERY_CHARACTERS = 10_000
MAX_QUERY_WORDS = 512


# Words


def tokenize(text: str) -> list[str]:
    """Split text into the words that are indexed and searched, in order, repetitions kept.

    - ASCII: lower-case runs of letters, digits and underscores; runs of one character are dropped ("It's 5 a.m." gives "it").
    - Beyond ASCII: compatibility forms and case are folded (NFKC, "ß" is "ss", full-width "Ａ" is "a"), accents stay, combining marks belong to
      their letter, soft hyphens and joiners vanish. Single letters are dropped here too.
    - Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese do not (reliably) put blanks between words: every two neighbouring characters
      (each with its vowel signs and tones) make a token, and a character that stands alone is one.
    - Apostrophes: ' and ’ (also ‘ ʼ ＇) are the same. Between two letters beyond ASCII they belong to the word ("п’ять" is one); beside an ASCII
      letter they separate, as in ASCII text ("it’s" gives "it", "l’été" gives "été").
    """
    folded = _fold(text)
    if folded.isascii():
        return [word for word in folded.replace("'", " ").split() if len(word) > 1]
    tokens: list[str] = []
    for word in _WORDS.findall(folded):
        if _is_unspaced(word):
            units = _UNITS.findall(word)
            tokens.extend(map(add, units, units[1:]) if len(units) > 1 else units)
        elif len(word) > 1:
            tokens.append(word)
    return tokens


def matched_spans(text: str, query: str) -> list[tuple[int, int]]:
    """Find what to highlight: the spans (start, end) of ``text`` whose words are words of ``query``, in order, never overlapping.

    Spans count characters of the text as given, also where folding changes lengths ("ß", "İ", "ﬁ"), and never cut a letter from its marks.
    """
    wanted = frozenset(_query_counts(query))
    folded, owners = _fold_aligned(text)
    spans: list[tuple[int, int]] = []
    for token, start, stop in _scan(folded):
        if token in wanted:
            _join_span(spans, owners[start][0], owners[stop - 1][1])
    return spans


# Formulas


def idf(segments: int, containing: int) -> float:
    """Weigh a term by its rarity: ln((N − n + 0.5) / (n + 0.5) + 1), always above zero.

    Robertson and Spärck Jones, "Relevance weighting of search terms" (1976), without relevance information; the + 1 is Lucene's, which
    keeps terms of more than half the segments from counting against a segment.
    """
    return math.log1p((segments - containing + 0.5) / (containing + 0.5))


def length_norm(length: int, average: float) -> float:
    """Weigh a segment's length (in tokens) against the average: k1 · (1 − b + b · length / average); k1 · (1 − b) if nothing was said at all.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
    """
    return K1 * (1 - B + B * length / average) if average else K1 * (1 - B)


def score_formula(frequency: int, norm: float, weight: float) -> float:
    """Score one term in one segment: idf · tf · (k1 + 1) / (tf + norm), ``norm`` being ``length_norm`` and ``weight`` the term's idf.

    Robertson and Zaragoza (2009); a segment's score is the sum over the query's tokens, so that a repeated word counts again.
    """
    return weight * frequency * (K1 + 1) / (frequency + norm)


# Index


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that shares a word with the query: its position in the transcript, and its score above zero."""

    position: int
    score: float


class _Term(NamedTuple):
    """A term in the index: where it is said (ascending positions) and how often, its idf, and its scores in all segments (see ``_pack``)."""

    positions: "array[int]"
    frequencies: "array[int]"
    weight: float
    lanes: int


class Index:
    """The words of one transcript's segments, ready to rank.

    Terms are sorted; term i owns the postings ``starts[i]:starts[i + 1]`` of ``positions`` (ascending) and ``frequencies``.
    """

    __slots__ = ("_frequencies", "_highest", "_kept", "_lengths", "_norms", "_ones", "_positions", "_starts", "_terms", "average_length")

    def __init__(self, *, terms: list[str], starts: "array[int]", positions: "array[int]", frequencies: "array[int]", lengths: "array[int]") -> None:
        self._terms = terms
        self._starts = starts
        self._positions = positions
        self._frequencies = frequencies
        self._lengths = lengths
        self.average_length: float = sum(lengths) / len(lengths) if lengths else 0.0
        table = {length: length_norm(length, self.average_length) for length in set(lengths)}
        self._norms: list[float] = [table[length] for length in lengths]
        self._ones = int.from_bytes(array("I", [1]) * len(lengths), sys.byteorder)
        self._highest = self._ones * _HIGHEST
        self._kept: dict[str, _Term] = {}

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index segments; a hit's position is the segment's place in ``texts``."""
        lengths: list[int] = []
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for position, text in enumerate(texts):
            tokens = tokenize(text)
            lengths.append(len(tokens))
            for term, frequency in Counter(tokens).items():
                postings[term] += (position, frequency)
        terms = sorted(postings)
        flat = [*chain.from_iterable(map(postings.__getitem__, terms))]
        counts = [len(postings[term]) // 2 for term in terms]
        return cls(
            terms=terms,
            starts=array("I", accumulate(counts, initial=0)),
            positions=_narrowest(flat[::2]),
            frequencies=_narrowest(flat[1::2]),
            lengths=_narrowest(lengths),
        )

    @property
    def size(self) -> int:
        """Count the segments."""
        return len(self._lengths)

    def rank(self, query: str, *, limit: int) -> list[Hit]:
        """Find the ``limit`` best segments, best first; equal scores in the transcript's order. Segments without any word are left out.

        Only the first ``MAX_QUERY_CHARACTERS`` characters and ``MAX_QUERY_WORDS`` words of a query count.
        """
        asked = [(term, repetitions) for word, repetitions in _query_counts(query).items() if (term := self._term(word))]
        if limit <= 0 or not asked:
            return []
        found = sorted((-self._score(position, asked), position) for position in self._candidates(asked, limit))
        return [Hit(position, -score) for score, position in found[:limit]]

    def to_bytes(self) -> bytes:
        """Write the index as one blob, little-endian: header, terms (UTF-8, one a line), starts, positions, frequencies, lengths."""
        names = "\n".join(self._terms).encode()
        arrays = (self._starts, self._positions, self._frequencies, self._lengths)
        body = b"".join((names, *map(_little_endian, arrays)))
        return (
            _HEADER.pack(
                _MAGIC,
                TOKENIZER_VERSION,
                *(part.itemsize for part in arrays[1:]),
                len(self._terms),
                len(names),
                len(self._positions),
                len(self._lengths),
                zlib.crc32(body),
            )
            + body
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a blob written by ``to_bytes``.

        Raises ``ValueError`` if it is none, is damaged, or was written with another tokenizer: build the index anew then.
        """
        terms, (starts, positions, frequencies, lengths) = _unpack(data)
        if len(starts) != len(terms) + 1 or starts[-1] != len(positions) or max(positions, default=-1) >= len(lengths):
            raise ValueError("the search index contradicts itself")
        return cls(terms=terms, starts=starts, positions=positions, frequencies=frequencies, lengths=lengths)

    def _score(self, position: int, asked: "_Asked") -> float:
        """Sum what each term adds to one segment."""
        norm, score = self._norms[position], 0.0
        for (positions, frequencies, weight, _), repetitions in asked:
            place = bisect_left(positions, position)
            if place < len(positions) and positions[place] == position:
                score += repetitions * score_formula(frequencies[place], norm, weight)
        return score

    def _candidates(self, asked: "_Asked", limit: int) -> Iterator[int]:
        """Yield, in order, few more positions than the ``limit`` best, and those for certain.

        All segments are scored roughly, by one sum of integers. What the best of the segments with the rarest words reach is then the least that
        a candidate has to reach.
        """
        sums = sum([term.lanes * repetitions if repetitions > 1 else term.lanes for term, repetitions in asked])
        slack = sum(repetitions for _, repetitions in asked) + 1  # every lane was rounded up by at most one
        lanes = array("I", sums.to_bytes(_LANE * self.size, sys.byteorder))
        rarest = sorted((term.positions for term, _ in asked), key=len)
        likely = nlargest(limit, map(lanes.__getitem__, {*islice(chain.from_iterable(rarest), _LIKELY)}))
        flags = self._reaching(sums, likely[-1] - slack if len(likely) == limit else 1)
        if flags.bit_count() > 4 * limit:
            flags = self._reaching(sums, nlargest(limit, lanes)[-1] - slack)
        return _flagged(flags.to_bytes(_LANE * self.size, sys.byteorder))

    def _reaching(self, sums: int, least: int) -> int:
        """Set the highest bit of every lane that reaches ``least`` (and 1), and no other bit."""
        return (sums + self._ones * (_HIGHEST - max(1, least))) & self._highest

    def _term(self, word: str) -> _Term | None:
        """Find a term. Those of many segments are kept, since packing them takes the longest and they are asked for again."""
        kept = self._kept.get(word)
        if kept is not None:
            return kept
        positions, frequencies = self._character_postings(word) if _is_lone(word) else self._postings(word)
        if not positions:
            return None
        weight = idf(self.size, len(positions))
        term = _Term(positions, frequencies, weight, self._pack(positions, frequencies, weight))
        if len(positions) * _KEPT_SHARE > self.size and len(self._kept) * self.size * _LANE < _KEPT_BYTES:
            self._kept[word] = term
        return term

    def _pack(self, positions: "array[int]", frequencies: "array[int]", weight: float) -> int:
        """Write a term's score in every segment, in fixed point and rounded up, side by side into one integer of 32 bits a segment.

        So adding two such integers, which is one fast loop inside the interpreter, adds the scores of all segments. ``MAX_QUERY_WORDS`` words
        cannot overflow a lane: each adds less than 2.5 · ln(2³⁰) · 2¹⁶.
        """
        lanes = array("I", bytes(_LANE * self.size))
        factor, norms = weight * (K1 + 1) * _SCALE, self._norms
        for position, frequency in zip(positions, frequencies, strict=True):
            lanes[position] = int(factor * frequency / (frequency + norms[position])) + 1
        return int.from_bytes(lanes, sys.byteorder)

    def _postings(self, term: str) -> tuple["array[int]", "array[int]"]:
        place = bisect_left(self._terms, term)
        if place == len(self._terms) or self._terms[place] != term:
            return array("H"), array("B")
        owned = slice(self._starts[place], self._starts[place + 1])
        return self._positions[owned], self._frequencies[owned]

    def _character_postings(self, character: str) -> tuple["array[int]", "array[int]"]:
        """Find a lone character of an unspaced script, which is indexed mostly as the head or the tail of pairs, wherever it is said."""
        heads: Counter[int] = Counter()
        tails: Counter[int] = Counter()
        for term in self._terms:
            if character in term and _is_unspaced(term):
                head, *_, tail = _UNITS.findall(term) * 2
                said = dict(zip(*self._postings(term), strict=True))
                heads.update(said if head == character else {})
                tails.update(said if tail == character else {})
        found = heads | tails  # the greater of the two: within a run of characters, each is the head of one pair and the tail of another
        places = sorted(found)
        return array("I", places), array("I", map(found.__getitem__, places))


_Asked = Sequence[tuple[_Term, int]]

_LANE = 4  # bytes
_HIGHEST = 1 << 31
_SCALE = 1 << 16
_LIKELY = 64
_KEPT_SHARE = 32  # terms of more than one in so many segments are kept packed,
_KEPT_BYTES = 1 << 21  # while they take less than this


def _flagged(flags: bytes) -> Iterator[int]:
    """Yield the positions of the lanes whose highest bit is set."""
    place = flags.find(b"\x80")
    while place >= 0:
        yield place // _LANE
        place = flags.find(b"\x80", place + 1)


# Folding

_APOSTROPHES = "‘’‛ʼ"
_UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
    "\u3041-\u31ff\U0001b000-\U0001b16f"  # kana, bopomofo
)
_LETTER = f"[^ '{_UNSPACED_RANGES}]"
_WORDS = re.compile(rf"[{_UNSPACED_RANGES}]+|{_LETTER}+(?:(?<=[^\x00-\x7f])'(?=[^\x00-\x7f{_UNSPACED_RANGES}]){_LETTER}+)*")
_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
_SIGNS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d"
    "\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u17dd\u302a-\u302f\u3099\u309a"
)
_UNITS = re.compile(f".[{_SIGNS}]*")
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
# The typography of captions, replaced first so that most English text takes the fast way; folding it the slow way gives the same.
_TYPOGRAPHY = tuple(zip("’“”–—…♪\xa0", "'       ", strict=True))


class _Folding(dict[int, str]):
    """What a character becomes after case folding: itself, a blank, an apostrophe, or nothing; worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _fold_character(chr(code))
        return result


_FOLDING = _Folding({ord(apostrophe): "'" for apostrophe in "'" + _APOSTROPHES} | {0x200B: " ", 0x034F: ""})


def _fold_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return ""
    return character if character.isalnum() or character == "_" or category in ("Mn", "Mc") else " "


def _fold(text: str) -> str:
    """Reduce text to folded letters and digits, blanks, and (beyond ASCII) apostrophes."""
    if not text.isascii():
        for written, plain in _TYPOGRAPHY:
            text = text.replace(written, plain)
    if text.isascii():
        return text.translate(_ASCII)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return text.replace("i\u0307", "i").translate(_FOLDING)  # "İ" folds to "i" and a dot, which nobody types


def _fold_aligned(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Fold text, and say for each folded character which span of the text it came from."""
    if text.isascii():
        return _fold(text), [(place, place + 1) for place in range(len(text))]
    folded: list[str] = []
    owners: list[tuple[int, int]] = []
    for start, stop in _clusters(text):
        part = _fold(text[start:stop])
        folded.append(part)
        owners += [(start, stop)] * len(part)
    return "".join(folded), owners


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Cut text into the shortest spans that can be folded each by itself: mostly characters, letters with their marks, syllables of jamo."""
    start = 0
    for stop in range(1, len(text)):
        if _separable(text[start:stop], text[stop]):
            yield start, stop
            start = stop
    if text:
        yield start, len(text)


def _separable(before: str, character: str) -> bool:
    if character.isascii():
        return True
    if unicodedata.category(character).startswith("M"):
        return False
    return _fold(before + character) == _fold(before) + _fold(character)


def _scan(folded: str) -> Iterator[tuple[str, int, int]]:
    """Yield the tokens of folded text with their spans; of unspaced scripts the single characters too, since a query may ask for one."""
    for match in _WORDS.finditer(folded):
        word, start = match.group(), match.start()
        if _is_unspaced(word):
            borders = [start, *(start + unit.end() for unit in _UNITS.finditer(word))]
            for first, second in chain(pairwise(borders), zip(borders, borders[2:], strict=False)):
                yield folded[first:second], first, second
        elif len(word) > 1:
            yield word, start, match.end()


def _is_unspaced(word: str) -> bool:
    return word[0] >= "\u0e00" and _UNSPACED.match(word) is not None


def _is_lone(word: str) -> bool:
    """Say whether a token is a single character of an unspaced script, with its signs."""
    return _is_unspaced(word) and _UNITS.fullmatch(word) is not None


def _join_span(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Append a span, or extend the last one if they touch."""
    if spans and start <= spans[-1][1]:
        spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    else:
        spans.append((start, end))


def _query_counts(query: str) -> dict[str, int]:
    return Counter(tokenize(query[:MAX_QUERY_CHARACTERS])[:MAX_QUERY_WORDS])


# Storage

_MAGIC = b"KBM1"
_HEADER = struct.Struct("<4sHBBBIIIII")
_TYPECODES = {1: "B", 2: "H", 4: "I"}


def _unpack(data: bytes) -> tuple[list[str], list["array[int]"]]:
    if len(data) < _HEADER.size:
        raise ValueError("the search index is too short")
    magic, version, *widths, terms, name_bytes, postings, segments, checksum = _HEADER.unpack_from(data)
    if magic != _MAGIC or version != TOKENIZER_VERSION:
        raise ValueError("not a search index of this version")
    body = memoryview(data)[_HEADER.size :]
    if zlib.crc32(body) != checksum or not set(widths) <= _TYPECODES.keys():
        raise ValueError("the search index is damaged")
    widths = [4, *widths]
    sizes = [count * width for count, width in zip((terms + 1, postings, postings, segments), widths, strict=True)]
    if name_bytes + sum(sizes) != len(body):
        raise ValueError("the search index has the wrong length")
    borders = pairwise(accumulate(sizes, initial=name_bytes))
    parts = [_from_little_endian(body[start:stop], width) for (start, stop), width in zip(borders, widths, strict=True)]
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
