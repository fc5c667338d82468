"""Check whether a quote occurs in a source word for word. Pure, standard library only.

Fails closed: what is not certain is not VERBATIM. Both texts are split into tokens (see
``tokens``); a quote is verbatim where its tokens, and nothing else, follow one another. Every step
takes linear time: the search is ``str.find``, and close comparisons are bounded.
"""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple

from citations.quotes.copy_artifacts import bare
from citations.quotes.note_marks import MARK, NoteMark, note_marks
from citations.quotes.tokens import QUESTION, Token, asides, tokenize
from citations.text.alignment import common, gaps, window

ENOUGH_WORDS: Final = 3  # shorter quotes occur in every text
ENOUGH_CHARACTERS: Final = 12
LIKE: Final = 0.5  # likeness from which on a quote counts as altered
MAX_COMPARED: Final = 400  # words of a quote that are compared
MAX_DIFFERENCES: Final = 50

# What they stand before says the opposite without them.
NEGATIONS: Final = frozenset({"not", "never", "no", "without", "cannot"})

_MOST_PLACES = 1_000  # matches that are examined
_MARK = "\x1f"  # between tokens; no token contains it

Span = tuple[int, int]


class Verdict(StrEnum):
    """The result for a quote. Only VERBATIM is a citation."""

    VERBATIM = "verbatim"
    MISATTRIBUTED = "misattributed"  # verbatim, but in another source
    ALTERED = "altered"
    NOT_FOUND = "not_found"


class WordDifference(NamedTuple):
    """Words as written that are "missing" from the quote, "added" to it or "changed"."""

    kind: str
    quoted: str
    actual: str


@dataclass(frozen=True, slots=True, eq=False)
class PreparedText:
    """A tokenized text, for many checks. Takes about four times the memory of the text."""

    text: str
    key: str  # the tokens, each between marks
    places: "array[int]"  # of each token's mark in ``key``
    starts: "array[int]"  # in ``text``
    ends: "array[int]"
    glued: bytearray
    joins: dict[str, list[int]]  # by hyphenated word: the indexes of its first token
    drops_um: bool
    has_added_stops: bool
    note_marks: tuple[NoteMark, ...] = ()
    unmarked: "PreparedText | None" = None  # without those that are sure

    @property
    def nbytes(self) -> int:
        texts = sys.getsizeof(self.text) + sys.getsizeof(self.key)
        own = texts + 13 * len(self.starts) + 200 * (len(self.joins) + len(self.note_marks))
        return own + (self.unmarked.nbytes if self.unmarked else 0)

    def words(self, first: int = 0, last: int | None = None) -> list[str]:
        stop = len(self.key) - 1 if last is None or last >= len(self.places) else self.places[last]
        start = self.places[first] + 1 if first < len(self.places) else stop
        return self.key[start:stop].split(_MARK) if start < stop else []

    def count(self, word: str) -> int:
        """Return how often a token occurs; twice in a row counts once."""
        return self.key.count(f"{_MARK}{word}{_MARK}")

    def written(self, first: int, last: int) -> str:
        """Return the tokens [first, last) as they are written."""
        return self.text[self.starts[first] : self.ends[last - 1]] if first < last else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCheck:
    """The check of a quote.

    ``span`` is the match's characters [first, last). ``likeness`` is the share of the quote's words
    that occur there in order, 0 to 1. ``differences`` of an altered quote number at most
    ``MAX_DIFFERENCES``. A quote that is too short to prove anything has ``is_enough`` False and is
    NOT_FOUND. ``negation`` is the word right before a match that reverses what the quote says.
    """

    verdict: Verdict
    span: Span | None = None
    differences: tuple[WordDifference, ...] = ()
    likeness: float = 0.0
    is_enough: bool = True
    negation: str = ""


def prepare(text: str, *, has_added_stops: bool = False) -> PreparedText:
    """Tokenize a text in linear time (about a second per million characters).

    Question marks count, but not where Cuebase added them.
    """
    tokens = tokenize(text)
    if has_added_stops:
        tokens = [token for token in tokens if token.text != QUESTION]
    # "um" is a filler in English; in German, Portuguese and others it is a word.
    counts = Counter([token.text for token in tokens])
    drops_um = counts["um"] <= counts["the"] + counts["uh"] + counts["you"]
    kept = [token for token in tokens if not token.is_filler(drops_um)]
    prepared = _laid_out(text, kept, drops_um, has_added_stops)
    if not (marks := tuple(note_marks(text))):
        return prepared
    unmarked = _without([mark for mark in marks if mark.is_sure], kept)
    return replace(
        prepared, note_marks=marks, unmarked=_laid_out(text, unmarked, drops_um, has_added_stops)
    )


def check(quote: str, text: PreparedText, *, near: Span | None = None) -> QuoteCheck:
    """Look up a quote in a text: the match inside or nearest to ``near``, else the first one;
    behind a negation only where there is no other.
    """
    if not is_enough(quote):
        return QuoteCheck(verdict=Verdict.NOT_FOUND, is_enough=False)
    span = _best(quote, text, near)
    if span is None:
        return _nearest(bare(quote), text)
    negation = negation_before(span, text)
    return QuoteCheck(verdict=Verdict.VERBATIM, span=span, likeness=1.0, negation=negation)


def find(quote: str, text: PreparedText, *, near: Span | None = None) -> Span | None:
    """Return the characters [first, last) that a citation may name, chosen as by ``check``; None
    also where every match stands behind a negation.
    """
    span = _best(quote, text, near)
    return span if span and not negation_before(span, text) else None


def negation_before(span: Span, text: PreparedText) -> str:
    """Return the negation right before a span, with nothing but blanks and marks of notes between;
    else "".
    """
    text = text.unmarked or text
    index = bisect_left(text.starts, span[0])
    if not index or MARK.sub("", text.text[text.ends[index - 1] : span[0]]).strip():
        return ""
    [word] = text.words(index - 1, index)
    return word if word in NEGATIONS or word.endswith("n't") else ""


def _best(quote: str, text: PreparedText, near: Span | None) -> Span | None:
    first, last = near or (0, 0)

    def order(span: Span) -> tuple[bool, int, Span]:
        distance = max(first - span[0], span[1] - last, 0)
        return bool(negation_before(span, text)), distance, span

    return min(places(quote, text), key=order, default=None)


def occurs(quote: str, texts: Iterable[str]) -> bool:
    """Tell whether one of some texts has a quote word for word."""
    return any(find(quote, prepare(text)) for text in texts)


def places(quote: str, text: PreparedText) -> Iterator[Span]:
    """Yield the characters [first, last) of each match, in order; at most 1,000 are examined.

    Searches for the quote as given, then without what copying added, then without marks of notes.
    """
    plain = ""
    for search in (_places, _unmarked_places):
        matches = search(quote, text)
        first = next(matches, None)
        plain = plain or (bare(quote) if first is None else quote)
        if first is None and plain != quote and is_enough(plain):
            matches = search(plain, text)
            first = next(matches, None)
        if first is not None:
            yield first
            yield from matches
            return


def is_enough(quote: str) -> bool:
    """Tell whether a quote has three words or twelve characters besides fillers and signs."""
    tokens = (token for token in tokenize(quote) if not token.is_filler(drops_um=True))
    lengths = [len(token.text) for token in tokens if token.is_word]
    return len(lengths) >= ENOUGH_WORDS or sum(lengths) >= ENOUGH_CHARACTERS


def _unmarked_places(quote: str, text: PreparedText) -> Iterator[Span]:
    """Yield matches without the marks of notes. The quote's are attached, or the source's own."""
    marks = note_marks(quote)
    if not (marks or text.unmarked):
        return
    needed = [mark.numbers for mark in marks if not mark.is_attached]
    for first, last in _places(quote, text.unmarked or text, marks):
        within = (bisect_left(text.note_marks, (place,)) for place in (first, last + 1))
        own = (mark.numbers for mark in text.note_marks[slice(*within)])
        if all(numbers in own for numbers in needed):  # in this order
            yield first, last


def _places(quote: str, text: PreparedText, without: Sequence[NoteMark] = ()) -> Iterator[Span]:
    tokens = _without(without, tokenize(quote))
    tokens = [token for token in tokens if not token.is_filler(text.drops_um)]
    if text.has_added_stops:
        tokens = [token for token in tokens if token.text != QUESTION]
    for words in _readings(tokens, text) if tokens else ():
        is_found = False
        lead, tail = quote[: tokens[0].start], quote[tokens[-1].end :]
        marks = asides(quote, (len(lead), len(tail)))
        for span in _side_by_side(words, _joined(text, words)):
            # Ellipses, doubts and pictures must be the source's own: another ellipsis marks an
            # omission, even of nothing.
            first, last = max(0, span[0] - len(lead)), min(len(text.text), span[1] + len(tail))
            edges = span[0] - first, last - span[1]
            if not marks or not marks - asides(text.text[first:last], edges):
                is_found = True
                yield _whole(span, lead, tail, text.text)
        if is_found:
            return


def _whole(span: Span, lead: str, tail: str, text: str) -> Span:
    """Extend a match by the punctuation at its ends that the quote shares."""
    first, last = span
    for character in reversed(lead):
        if not first or text[first - 1] != character or character.isspace():
            break
        first -= 1
    for character in tail:
        if text[last : last + 1] != character or character.isspace():
            break
        last += 1
    return first, last


# Layout


def _laid_out(
    text: str, tokens: Sequence[Token], drops_um: bool, has_added_stops: bool
) -> PreparedText:
    joins: dict[str, list[int]] = {}
    for index, (token, following) in enumerate(pairwise(tokens)):
        if token.is_broken and following.is_word:
            joins.setdefault(token.text + following.text, []).append(index)
    marks = accumulate([len(token.text) + 1 for token in tokens], initial=0)
    return PreparedText(
        text=text,
        key=_key([token.text for token in tokens]),
        places=array("Q", islice(marks, len(tokens))),
        starts=array("Q", [token.start for token in tokens]),
        ends=array("Q", [token.end for token in tokens]),
        glued=bytearray([token.is_glued for token in tokens]),
        joins=joins,
        drops_um=drops_um,
        has_added_stops=has_added_stops,
    )


def _without(marks: Sequence[NoteMark], tokens: list[Token]) -> list[Token]:
    """Return the tokens that are not part of marks."""
    starts = [mark.start for mark in marks]

    def is_kept(token: Token) -> bool:
        index = bisect_right(starts, token.start) - 1
        return index < 0 or token.start >= marks[index].end

    return [token for token in tokens if is_kept(token)] if marks else tokens


def _key(words: Sequence[str]) -> str:
    return _MARK + _MARK.join(words) + _MARK


def _readings(words: list[Token], text: PreparedText) -> Iterator[list[Token]]:
    """Yield a quote's words with line-break hyphens, then without those that the text lacks."""
    yield words
    if any(token.is_broken for token in words):
        vocabulary = set(text.words()) | text.joins.keys()
        firsts = {
            index
            for index, (word, following) in enumerate(pairwise(words))
            if word.is_broken and word.text + following.text in vocabulary
        }
        yield _merged(words, firsts)


def _joined(text: PreparedText, words: Sequence[Token]) -> PreparedText:
    """Return the text with those hyphenated words joined that the quote has joined."""
    if not text.joins:
        return text
    quoted = {token.text for token in words}
    firsts = {first for word in quoted & text.joins.keys() for first in text.joins[word]}
    if not firsts:
        return text
    tokens = map(Token, text.words(), text.starts, text.ends, map(bool, text.glued))
    return _laid_out(text.text, _merged(tokens, firsts), text.drops_um, text.has_added_stops)


def _merged(tokens: Iterable[Token], firsts: set[int]) -> list[Token]:
    merged: list[Token] = []
    for index, token in enumerate(tokens):
        if index - 1 in firsts:
            merged[-1] = merged[-1].joined(token)
        else:
            merged.append(token)
    return merged


def _side_by_side(words: Sequence[Token], text: PreparedText) -> Iterator[Span]:
    """Yield where the words follow one another; at most ``_MOST_PLACES`` are examined."""
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


def _nearest(quote: str, text: PreparedText) -> QuoteCheck:
    """Compare a quote with the most similar passage of a text."""
    prepared = prepare(quote, has_added_stops=text.has_added_stops)
    words = prepared.words()[:MAX_COMPARED]
    first, last = window(words, text.words())
    actual = text.words(first, last)
    pairs = common(words, actual)
    likeness = len(pairs) / len(words) if words else 0.0
    if likeness < LIKE:
        return QuoteCheck(verdict=Verdict.NOT_FOUND, likeness=likeness)
    low, high = first + pairs[0][1], first + pairs[-1][1] + 1
    between = gaps([(own, first + other) for own, other in pairs], (0, low), (len(words), high))
    differences = []
    for own, other in islice(between, MAX_DIFFERENCES):
        quoted, written = prepared.written(*own), text.written(*other)
        kind = "changed" if quoted and written else "added" if quoted else "missing"
        differences.append(WordDifference(kind, quoted, written))
    return QuoteCheck(
        verdict=Verdict.ALTERED,
        span=(text.starts[low], text.ends[high - 1]),
        differences=tuple(differences),
        likeness=likeness,
    )
