"""Whether a quote stands in a source word for word. Pure, standard library only.

Fail-closed: what is not certain is not VERBATIM. Both sides are cut into tokens by ``tokens.py``; a quote is verbatim where its tokens stand side by side,
all of them and nothing else. Every step takes linear time, whatever the texts: the search is that of ``str.find``, what is compared closely is bounded.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from citations.tokens import Token, ellipses, tokenize

ENOUGH_WORDS: Final = 3  # fewer words than these, and fewer characters than those, stand in every text
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


class Difference(NamedTuple):
    """Words that the quote leaves out ("missing"), adds ("added") or replaces ("changed"); ``quoted`` and ``actual`` are as they are written."""

    kind: str
    quoted: str
    actual: str


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A text cut into tokens, to be asked many times. About 40 times the size of the text in memory, ``nbytes`` says."""

    text: str
    tokens: tuple[Token, ...]
    key: str  # the tokens, each between marks
    places: tuple[int, ...]  # where each token begins in ``key``
    joins: dict[str, list[int]]  # by the word that two tokens make without the hyphen between them: the first of the two
    drops_um: bool

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return 4 * len(self.text) + 4 * len(self.key) + 240 * len(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is known of a quote.

    ``source`` is the one among the others that it was found in or comes nearest to; empty: the claimed one. ``span``: [first, last) characters of it, None
    where nothing comes near. ``likeness``: share of the quote's words that stand there in their order, 0 to 1. ``differences``: of an altered one, at most
    ``MOST_DIFFERENCES``. ``is_enough`` is False of a quote that is too short to prove anything, which is NOT_FOUND wherever it stands.
    """

    verdict: Verdict
    source: str = ""
    span: Span | None = None
    differences: tuple[Difference, ...] = ()
    likeness: float = 0.0
    is_enough: bool = True


def prepare(text: str) -> Prepared:
    """Cut a text into tokens, in linear time (about a second a million characters): to be kept while it is asked."""
    tokens = tokenize(text)
    drops_um = _is_english(tokens)
    return _laid_out(text, [token for token in tokens if not token.is_filler(drops_um)], drops_um)


def check(quote: str, claimed: Prepared | None, others: Iterable[tuple[str, Prepared]] = (), *, near: Span | None = None) -> Check:
    """Look a quote up in the text that it is said to be from, then in others; without a claimed one, a quote that another has is VERBATIM.

    Of several equal places in the claimed text, the one inside ``near`` is given, or the nearest to it; without ``near``, the first.
    """
    words = [token for token in tokenize(quote) if not token.is_filler(drops_um=True)]
    if not is_enough(quote):
        return Check(verdict=Verdict.NOT_FOUND, is_enough=False)
    if claimed is not None and (span := find(quote, claimed, near=near)):
        return Check(verdict=Verdict.VERBATIM, span=span, likeness=1.0)
    nearest = _nearest(quote, words, claimed) if claimed is not None else Check(verdict=Verdict.NOT_FOUND)
    for source, prepared in others:
        if span := find(quote, prepared):
            return Check(verdict=Verdict.VERBATIM if claimed is None else Verdict.MISATTRIBUTED, source=source, span=span, likeness=1.0)
        if nearest.verdict == Verdict.NOT_FOUND:
            nearest = max(nearest, _nearest(quote, words, prepared, source=source), key=lambda one: (one.verdict == Verdict.ALTERED, one.likeness))
    return nearest


def is_enough(quote: str) -> bool:
    """Say whether a quote is long enough to prove anything: three words, or twelve characters of words. Fillers and signs do not count."""
    words = [token for token in tokenize(quote) if not token.is_filler(drops_um=True) and token.is_word]
    return len(words) >= ENOUGH_WORDS or sum(len(token.text) for token in words) >= ENOUGH_CHARACTERS


def find(quote: str, text: Prepared, *, near: Span | None = None) -> Span | None:
    """Return the characters of a text that are the quote, [first, last); the first such place, or the nearest to ``near``; None where there is none."""
    wanted = [token for token in tokenize(quote) if not token.is_filler(text.drops_um)]
    if not wanted:
        return None
    for words in _readings(wanted, text):
        laid_out = _joined(text, words)
        spans = (_whole(quote, wanted, text.text, span) for span in _places(words, laid_out) if _keeps_ellipses(quote, text.text[span[0] : span[1]]))
        best = next(spans, None) if near is None else min(spans, key=lambda span: _away(span, near), default=None)
        if best is not None:
            return best
    return None


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


def _keeps_ellipses(quote: str, actual: str) -> bool:
    """Say whether an ellipsis inside the quote is the source's own. One that is not tells of words left out, even where there were none."""
    return ellipses(quote) <= ellipses(actual)


# Layout


def _laid_out(text: str, tokens: Sequence[Token], drops_um: bool) -> Prepared:
    joins: dict[str, list[int]] = {}
    for index, (token, behind) in enumerate(pairwise(tokens)):
        if token.is_broken and behind.is_word:
            joins.setdefault(token.text + behind.text, []).append(index)
    places = tuple(accumulate((len(token.text) + 1 for token in tokens), initial=0))[: len(tokens)]
    return Prepared(text=text, tokens=tuple(tokens), key=_key(tokens), places=places, joins=joins, drops_um=drops_um)


def _key(tokens: Sequence[Token]) -> str:
    return _MARK + _MARK.join(token.text for token in tokens) + _MARK


def _readings(words: list[Token], text: Prepared) -> Iterator[list[Token]]:
    """Yield the quote's words with its own line-break hyphens taken for part of the word, then for hyphenation where the text knows the whole word."""
    yield words
    if any(token.is_broken for token in words):
        known = {token.text for token in text.tokens} | text.joins.keys()
        yield _merged(words, {index for index, (word, behind) in enumerate(pairwise(words)) if word.is_broken and word.text + behind.text in known})


def _joined(text: Prepared, words: Sequence[Token]) -> Prepared:
    """Return the text with those words whole that the quote has whole and that a hyphen cuts at the end of a line."""
    if not text.joins:
        return text
    said = {token.text for token in words}
    firsts = {first for word in said & text.joins.keys() for first in text.joins[word]}
    return _laid_out(text.text, _merged(text.tokens, firsts), text.drops_um) if firsts else text


def _merged(tokens: Sequence[Token], firsts: set[int]) -> list[Token]:
    merged: list[Token] = []
    for index, token in enumerate(tokens):
        if index - 1 in firsts and merged:
            merged[-1] = merged[-1].joined(token)
        else:
            merged.append(token)
    return merged


def _places(words: Sequence[Token], text: Prepared) -> Iterator[Span]:
    """Yield where the words stand side by side, in order; at most ``_MOST_PLACES`` are looked at."""
    needle, at = _key(words), -1
    for _ in range(_MOST_PLACES):
        at = text.key.find(needle, at + 1)
        if at < 0:
            return
        first = bisect_left(text.places, at)
        last = first + len(words)
        if not text.tokens[first].is_glued and not (last < len(text.tokens) and text.tokens[last].is_glued):
            yield text.tokens[first].start, text.tokens[last - 1].end


# What comes nearest


def _nearest(quote: str, words: Sequence[Token], text: Prepared, *, source: str = "") -> Check:
    """Compare a quote that does not stand in a text with the place in it that has most of its words."""
    compared = words[:MOST_COMPARED]
    first, last = _window(compared, text.tokens)
    actual = text.tokens[first:last]
    pairs = _common(compared, actual)
    likeness = len(pairs) / len(compared) if compared else 0.0
    if likeness < LIKE:
        return Check(verdict=Verdict.NOT_FOUND, source=source, likeness=likeness)
    low, high = pairs[0][1], pairs[-1][1] + 1
    shifted = [(mine, its - low) for mine, its in pairs]
    differences = tuple(_differences(quote, compared, text.text, actual[low:high], shifted))[:MOST_DIFFERENCES]
    return Check(verdict=Verdict.ALTERED, source=source, span=(actual[low].start, actual[high - 1].end), differences=differences, likeness=likeness)


def _window(words: Sequence[Token], tokens: Sequence[Token]) -> Span:
    """Return the stretch of tokens, a little longer than the quote, that has most of its words; a word that the text has often weighs less."""
    wanted = Counter(token.text for token in words)
    hits = [index for index, token in enumerate(tokens) if token.text in wanted]
    often = Counter(tokens[index].text for index in hits)
    size = len(words) + len(words) // 3 + 2
    inside: Counter[str] = Counter()
    best, best_weight, weight, left = 0, -1.0, 0.0, 0
    for index in hits:
        word = tokens[index].text
        inside[word] += 1
        weight += (inside[word] <= wanted[word]) / often[word] ** 0.5
        while hits[left] <= index - size:
            gone = tokens[hits[left]].text
            weight -= (inside[gone] <= wanted[gone]) / often[gone] ** 0.5
            inside[gone] -= 1
            left += 1
        if weight > best_weight + 1e-9:
            best, best_weight = hits[left], weight
    return max(0, best - len(words) // 6 - 1), min(len(tokens), best + size + 1)


def _common(words: Sequence[Token], actual: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the longest common subsequence, as pairs of indexes (dynamic programming; difflib's time is cubic for repeated words)."""
    ones, others = [token.text for token in words], [token.text for token in actual]
    rows = [[0] * (len(others) + 1)]
    for one in reversed(ones):
        below, row = rows[-1], [0]
        for index in range(len(others) - 1, -1, -1):
            row.append(below[-index - 1 + len(others)] + 1 if others[index] == one else max(row[-1], below[len(others) - index]))
        rows.append(row)
    return list(_walked(ones, others, rows[::-1]))


def _walked(ones: Sequence[str], others: Sequence[str], rows: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    mine, its = 0, 0
    while mine < len(ones) and its < len(others):
        left = len(others) - its
        if ones[mine] == others[its]:
            yield mine, its
            mine, its = mine + 1, its + 1
        elif rows[mine + 1][left] >= rows[mine][left - 1]:
            mine += 1
        else:
            its += 1


def _differences(quote: str, words: Sequence[Token], text: str, actual: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> Iterator[Difference]:
    mine, its = 0, 0
    for next_mine, next_its in [*pairs, (len(words), len(actual))]:
        quoted, stands = _written(quote, words[mine:next_mine]), _written(text, actual[its:next_its])
        if quoted or stands:
            yield Difference("changed" if quoted and stands else "added" if quoted else "missing", quoted, stands)
        mine, its = next_mine + 1, next_its + 1


def _written(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""
