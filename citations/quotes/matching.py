"""Whether a quote stands in a source word for word. Pure, standard library only.

Fail-closed: what is not certain is not VERBATIM. Both sides are cut into tokens by ``tokens.py``; a quote is verbatim where its tokens stand side by side,
all of them and nothing else. Every step takes linear time, whatever the texts: the search is that of ``str.find``, what is compared closely is bounded.
"""

import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple

from citations.quotes.copy_artifacts import bare
from citations.quotes.tokens import Token, asides, tokenize
from citations.text.alignment import common, gaps, window

ENOUGH_WORDS: Final = (
    3  # fewer words than these, and fewer characters than those, stand in every text
)
ENOUGH_CHARACTERS: Final = 12
LIKE: Final = 0.5  # share of a quote's words that stand in a text in their order, from which on the quote counts as altered
MOST_COMPARED: Final = 400  # words of a quote that are compared one by one
MOST_DIFFERENCES: Final = 50

_MOST_PLACES = 1_000  # equal places that are looked at
_MARK = "\x1f"  # between tokens; no token contains it

Span = tuple[int, int]


class Verdict(StrEnum):
    """What became of a quote. Only VERBATIM is a citation."""

    VERBATIM = "verbatim"
    MISATTRIBUTED = "misattributed"  # verbatim, but in another source than the one that was named
    ALTERED = "altered"
    NOT_FOUND = "not_found"


class Text(NamedTuple):
    """A source's text, and what the caller calls the source."""

    source: str
    text: str


class WordDifference(NamedTuple):
    """Words that the quote leaves out ("missing"), adds ("added") or replaces ("changed"); ``quoted`` and ``actual`` are as they are written."""

    kind: str
    quoted: str
    actual: str


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """A text cut into tokens, to be asked many times. Takes about four times the memory of the text, ``nbytes`` says."""

    text: str
    key: str  # the tokens, each between marks
    places: "array[int]"  # where each token begins in ``key``: its mark
    starts: "array[int]"  # in ``text``
    ends: "array[int]"
    glued: bytearray
    joins: dict[
        str, list[int]
    ]  # by the word that two tokens make without the hyphen between them: the first of the two
    drops_um: bool

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return (
            sys.getsizeof(self.text)
            + sys.getsizeof(self.key)
            + 13 * len(self.starts)
            + 200 * len(self.joins)
        )

    def words(self, first: int = 0, last: int | None = None) -> list[str]:
        """Return the tokens [first, last)."""
        stop = len(self.key) - 1 if last is None or last >= len(self.places) else self.places[last]
        start = self.places[first] + 1 if first < len(self.places) else stop
        return self.key[start:stop].split(_MARK) if start < stop else []

    def written(self, first: int, last: int) -> str:
        """Return the tokens [first, last) as they are written."""
        return self.text[self.starts[first] : self.ends[last - 1]] if first < last else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCheck:
    """What is known of a quote.

    ``source`` is the one among the others that it was found in or comes nearest to; empty: the claimed one. ``span``: [first, last) characters of it, None
    where nothing comes near. ``likeness``: share of the quote's words that stand there in their order, 0 to 1. ``differences``: of an altered one, at most
    ``MOST_DIFFERENCES``. ``is_enough`` is False of a quote that is too short to prove anything, which is NOT_FOUND wherever it stands.
    """

    verdict: Verdict
    source: str = ""
    span: Span | None = None
    differences: tuple[WordDifference, ...] = ()
    likeness: float = 0.0
    is_enough: bool = True


def prepare(text: str) -> PreparedText:
    """Cut a text into tokens, in linear time (about a second a million characters): to be kept while it is asked."""
    tokens = tokenize(text)
    drops_um = _is_english(tokens)
    return _laid_out(text, [token for token in tokens if not token.is_filler(drops_um)], drops_um)


def check(
    quote: str,
    claimed: PreparedText | None,
    others: Iterable[tuple[str, PreparedText]] = (),
    *,
    near: Span | None = None,
) -> QuoteCheck:
    """Look a quote up in the text that it is said to be from, then in others; without a claimed one, a quote that another has is VERBATIM.

    Of several equal places in the claimed text, the one inside ``near`` is given, or the nearest to it; without ``near``, the first.
    """
    if not is_enough(quote):
        return QuoteCheck(verdict=Verdict.NOT_FOUND, is_enough=False)
    if claimed is not None and (span := find(quote, claimed, near=near)):
        return QuoteCheck(verdict=Verdict.VERBATIM, span=span, likeness=1.0)
    plain = bare(quote)
    nearest = (
        _nearest(plain, claimed) if claimed is not None else QuoteCheck(verdict=Verdict.NOT_FOUND)
    )
    for source, prepared in others:
        if span := find(quote, prepared):
            return QuoteCheck(
                verdict=Verdict.VERBATIM if claimed is None else Verdict.MISATTRIBUTED,
                source=source,
                span=span,
                likeness=1.0,
            )
        if nearest.verdict == Verdict.NOT_FOUND:
            nearest = max(
                nearest, _nearest(plain, prepared, source=source), key=lambda one: one.likeness
            )
    return nearest


def find(quote: str, text: PreparedText, *, near: Span | None = None) -> Span | None:
    """Return the characters of a text that are the quote, [first, last); the first such place, or the nearest to ``near``; None where there is none."""
    spans = places(quote, text)
    return (
        next(spans, None)
        if near is None
        else min(spans, key=lambda span: _away(span, near), default=None)
    )


def places(quote: str, text: PreparedText) -> Iterator[Span]:
    """Yield the characters of each place of a text that is the quote, [first, last), in order; at most 1,000 are looked at.

    What stands there as it is given is looked for first, then what remains of it without what came along when it was copied.
    """
    found = _places(quote, text)
    first = next(found, None)
    plain = bare(quote) if first is None else quote
    if plain != quote and is_enough(plain):
        found = _places(plain, text)
        first = next(found, None)
    if first is not None:
        yield first
        yield from found


def is_enough(quote: str) -> bool:
    """Say whether a quote is long enough to prove anything: three words, or twelve characters of words. Fillers and signs do not count."""
    words = [
        token for token in tokenize(quote) if not token.is_filler(drops_um=True) and token.is_word
    ]
    return (
        len(words) >= ENOUGH_WORDS or sum(len(token.text) for token in words) >= ENOUGH_CHARACTERS
    )


def _places(quote: str, text: PreparedText) -> Iterator[Span]:
    wanted = [token for token in tokenize(quote) if not token.is_filler(text.drops_um)]
    for words in _readings(wanted, text) if wanted else ():
        is_found = False
        edges = wanted[0].start, len(quote) - wanted[-1].end
        said = asides(quote, edges)
        for span in _side_by_side(words, _joined(text, words)):
            if not said or _has_asides(said, edges, text.text, span):
                is_found = True
                yield _whole(quote, wanted, text.text, span)
        if is_found:
            return


def _whole(quote: str, words: Sequence[Token], text: str, span: Span) -> Span:
    """Take in the punctuation at either end that the quote has there, too."""
    lead, tail = quote[: words[0].start][::-1], quote[words[-1].end :]
    first, last = span
    for character in lead:
        if not first or text[first - 1] != character or character.isspace():
            break
        first -= 1
    for character in tail:
        if text[last : last + 1] != character or character.isspace():
            break
        last += 1
    return first, last


def _away(span: Span, near: Span) -> tuple[int, int]:
    return (max(near[0] - span[0], span[1] - near[1], 0), span[0])


def _is_english(tokens: Sequence[Token]) -> bool:
    """Say whether "um" is a filler: in German, Portuguese and others it is a word."""
    counts = Counter(token.text for token in tokens)
    return counts["um"] <= counts["the"] + counts["uh"] + counts["you"]


def _has_asides(said: Counter[str], edges: Span, text: str, span: Span) -> bool:
    """Say whether ellipses, doubts and pictures are the source's own. An ellipsis that is not tells of words left out, even where there were none."""
    first, last = max(0, span[0] - edges[0]), span[1] + edges[1]
    return not said - asides(text[first:last], (span[0] - first, min(last, len(text)) - span[1]))


# Layout


def _laid_out(text: str, tokens: Sequence[Token], drops_um: bool) -> PreparedText:
    joins: dict[str, list[int]] = {}
    for index, (token, behind) in enumerate(pairwise(tokens)):
        if token.is_broken and behind.is_word:
            joins.setdefault(token.text + behind.text, []).append(index)
    return PreparedText(
        text=text,
        key=_key([token.text for token in tokens]),
        places=array(
            "Q",
            list(accumulate((len(token.text) + 1 for token in tokens), initial=0))[: len(tokens)],
        ),
        starts=array("Q", (token.start for token in tokens)),
        ends=array("Q", (token.end for token in tokens)),
        glued=bytearray(token.is_glued for token in tokens),
        joins=joins,
        drops_um=drops_um,
    )


def _key(words: Sequence[str]) -> str:
    return _MARK + _MARK.join(words) + _MARK


def _readings(words: list[Token], text: PreparedText) -> Iterator[list[Token]]:
    """Yield the quote's words with its own line-break hyphens taken for part of the word, then for hyphenation where the text knows the whole word."""
    yield words
    if any(token.is_broken for token in words):
        known = set(text.words()) | text.joins.keys()
        yield _merged(
            words,
            {
                index
                for index, (word, behind) in enumerate(pairwise(words))
                if word.is_broken and word.text + behind.text in known
            },
        )


def _joined(text: PreparedText, words: Sequence[Token]) -> PreparedText:
    """Return the text with those words whole that the quote has whole and that a hyphen cuts at the end of a line."""
    if not text.joins:
        return text
    said = {token.text for token in words}
    firsts = {first for word in said & text.joins.keys() for first in text.joins[word]}
    if not firsts:
        return text
    tokens = map(Token, text.words(), text.starts, text.ends, map(bool, text.glued))
    return _laid_out(text.text, _merged(tokens, firsts), text.drops_um)


def _merged(tokens: Iterable[Token], firsts: set[int]) -> list[Token]:
    merged: list[Token] = []
    for index, token in enumerate(tokens):
        if index - 1 in firsts:
            merged[-1] = merged[-1].joined(token)
        else:
            merged.append(token)
    return merged


def _side_by_side(words: Sequence[Token], text: PreparedText) -> Iterator[Span]:
    """Yield where the words stand side by side, in order; at most ``_MOST_PLACES`` are looked at."""
    needle, at = _key([word.text for word in words]), -1
    for _ in range(_MOST_PLACES):
        at = text.key.find(needle, at + 1)
        if at < 0:
            return
        first = bisect_left(text.places, at)
        last = first + len(words)
        if not text.glued[first] and not (last < len(text.glued) and text.glued[last]):
            yield text.starts[first], text.ends[last - 1]


# What comes nearest


def _nearest(quote: str, text: PreparedText, *, source: str = "") -> QuoteCheck:
    """Compare a quote that does not stand in a text with the place in it that has most of its words."""
    mine = prepare(quote)
    words = mine.words()[:MOST_COMPARED]
    first, last = window(words, text.words())
    actual = text.words(first, last)
    pairs = common(words, actual)
    likeness = len(pairs) / len(words) if words else 0.0
    if likeness < LIKE:
        return QuoteCheck(verdict=Verdict.NOT_FOUND, source=source, likeness=likeness)
    low, high = first + pairs[0][1], first + pairs[-1][1] + 1
    between = gaps([(one, first + other) for one, other in pairs], (0, low), (len(words), high))
    differences = (_difference(mine.written(*one), text.written(*other)) for one, other in between)
    return QuoteCheck(
        verdict=Verdict.ALTERED,
        source=source,
        span=(text.starts[low], text.ends[high - 1]),
        differences=tuple(islice(differences, MOST_DIFFERENCES)),
        likeness=likeness,
    )


def _difference(quoted: str, actual: str) -> WordDifference:
    return WordDifference(
        "changed" if quoted and actual else "added" if quoted else "missing", quoted, actual
    )
