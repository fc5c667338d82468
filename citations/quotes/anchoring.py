"""Locate a quote in a text that has changed since. Pure.

Returns None rather than a wrong place: part of the quote's surroundings must have stayed, and no
other equal place may have similar ones.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from citations.quotes.matching import PreparedText, places, prepare
from citations.text.alignment import common

AROUND: Final = 100  # characters of prefix and suffix
ALIKE: Final = 0.6  # share of the surrounding words that must have stayed
UNLIKE: Final = 0.3  # the most that any other equal place may share
# Words of a quote that hardly occurs twice: both sides may have changed.
DISTINCTIVE_WORDS: Final = 8
# The fewest words of a quote that may stand for itself, if one of them is rare.
MIN_WORDS: Final = 3
RARE: Final = 5  # times that a rare word occurs in the whole text
TELLING: Final = 5  # words of a side that can identify a place by itself

_MOST_EQUAL = 1_000  # equal places that are examined
_MOST_CHANGED = 30  # the same, when no surroundings are intact
_SLACK = 60  # characters that may have been inserted around the quote

Span = tuple[int, int]
Sides: TypeAlias = tuple[list[str], list[str]]  # words before and after a quote


def find(
    quote: str,
    text: str,
    *,
    prefix: str,
    suffix: str,
    prepared: Callable[[], PreparedText] | None = None,
) -> Span | None:
    """Return the characters [first, last) of a quote that stood between ``prefix`` and ``suffix``;
    None when uncertain.

    A quote that is no longer there to the letter is matched word by word (see ``matching``);
    ``prepared`` returns the text prepared for that.
    """
    if not quote.strip():
        return None
    matches = list(islice(_equal_places(quote, text), _MOST_EQUAL))
    if len(matches) >= _MOST_EQUAL:
        return None
    intact = [place for place in matches if _is_intact(text, place, prefix, suffix)]
    if intact:
        return intact[0] if len(intact) == 1 else None
    # Matching by words includes the original place where only its punctuation has changed.
    whole = prepared() if prepared else prepare(text)
    matches = list(islice(places(quote, whole), _MOST_EQUAL)) or matches
    if len(matches) > _MOST_CHANGED:
        return None
    is_rare = len(matches) == 1 and _is_rare(quote, whole)
    return _alike(text, matches, prefix, suffix, is_rare=is_rare)


def _equal_places(quote: str, text: str) -> Iterator[Span]:
    place = text.find(quote)
    while place >= 0:
        yield place, place + len(quote)
        place = text.find(quote, place + 1)


def _is_intact(text: str, place: Span, prefix: str, suffix: str) -> bool:
    is_after_prefix = place[0] >= len(prefix) and text.startswith(prefix, place[0] - len(prefix))
    return bool(prefix or suffix) and is_after_prefix and text.startswith(suffix, place[1])


def _is_rare(quote: str, whole: PreparedText) -> bool:
    """Tell whether a quote has words enough, one of them rare, to be known with few neighbours."""
    words = prepare(quote).words()
    return len(words) >= MIN_WORDS and any(whole.count(word) <= RARE for word in words)


def _alike(
    text: str, matches: list[Span], prefix: str, suffix: str, *, is_rare: bool
) -> Span | None:
    """Return the one place whose surroundings stayed best, if that tells it from all others."""
    if not prefix.strip() and not suffix.strip():
        return matches[0] if len(matches) == 1 else None
    then = _inner(prefix, before=True), _inner(suffix, before=False)
    ranked = sorted(((*_kept(then, text, place), place) for place in matches), reverse=True)
    if not ranked or any(share > UNLIKE for share, _, _ in ranked[1:]):
        return None
    share, is_same, place = ranked[0]
    is_sure = is_same or len(text[slice(*place)].split()) >= DISTINCTIVE_WORDS
    return place if (is_sure or is_rare) and share >= ALIKE else None


def _kept(then: Sides, text: str, place: Span) -> tuple[float, bool]:
    """Return the share of the surrounding words that stayed, and whether one side is unchanged."""
    now = (
        prepare(text[max(0, place[0] - AROUND - _SLACK) : place[0]]).words(),
        prepare(text[place[1] : place[1] + AROUND + _SLACK]).words(),
    )
    whole = [words for words in then if len(words) >= TELLING]
    is_same = (
        now[0][-len(then[0]) :] == then[0] in whole or now[1][: len(then[1])] == then[1] in whole
    )
    shared = sum(len(common(old, new)) for old, new in zip(then, now, strict=True))
    return shared / max(1, sum(map(len, then))), is_same


def _inner(around: str, *, before: bool) -> list[str]:
    """Return the words on one side of a quote, without the outermost, which may be cut in two."""
    words = prepare(around).words()
    if len(around) < AROUND:
        return words
    return words[1:] if before else words[:-1]
