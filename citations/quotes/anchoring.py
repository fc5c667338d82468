"""Locate words in a text: a quote in one that has changed since, or what somebody selected. Pure.

A quote has no place rather than a wrong one: part of its surroundings must have stayed, and no
other equal place may have similar ones.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final, TypeAlias

from citations.quotes.matching import PreparedText, Span, places, prepare
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
MAX_PLACES: Final = 1_000  # equal places that are examined
SELECTED_AROUND: Final = 200  # characters beside a selection that are compared
WINDOW: Final = 20_000  # characters around a position in which a selection is looked for first

_MOST_CHANGED = 30  # equal places that are examined when no surroundings are intact
_SLACK = 60  # characters that may have been inserted around the quote
_WORD: Final = re.compile(r"\S+")

Sides: TypeAlias = tuple[list[str], list[str]]  # words before and after a quote


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedText:
    """Words and what stands around them, as W3C's TextQuoteSelector has them."""

    exact: str
    prefix: str = ""
    suffix: str = ""


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
    matches = list(islice(_equal_places(quote, text), MAX_PLACES))
    if len(matches) >= MAX_PLACES:
        return None
    intact = [
        (first, last)
        for first, last in matches
        if (prefix or suffix) and text.endswith(prefix, 0, first) and text.startswith(suffix, last)
    ]
    if intact:
        return intact[0] if len(intact) == 1 else None
    # Matching by words includes the original place where only its punctuation has changed.
    whole = prepared() if prepared else prepare(text)
    matches = list(islice(places(quote, whole), MAX_PLACES)) or matches
    if len(matches) > _MOST_CHANGED:
        return None
    # A quote with words enough, one of them rare, is known with few neighbours.
    words = prepare(quote).words() if len(matches) == 1 else []
    is_rare = len(words) >= MIN_WORDS and any(whole.count(word) <= RARE for word in words)
    return _alike(text, matches, prefix, suffix, is_rare=is_rare)


def find_selected(
    selected: SelectedText, text: str, *, near: int | None, prepared: Callable[[], PreparedText]
) -> Span | None:
    """Return where the words are: of equal places the one with the same surroundings, then the one
    next to the character ``near``. None where they are not, or where nothing tells.

    Words that are not there to the letter are looked for with other blanks between them, then
    compared word by word; ``prepared`` returns the text prepared for that.
    """
    quote = selected.exact.strip()
    if not quote:
        return None
    around = [] if near is None else [(max(0, near - WINDOW), near + WINDOW)]
    tries = (
        list(islice(search(quote, text, *part), 2 * WINDOW))
        for search in (_equal_places, _across_blanks)
        for part in (*around, (0, len(text)))
    )
    matches = next(filter(None, tries), None) or list(islice(places(quote, prepared()), MAX_PLACES))
    if near is not None:
        matches.sort(key=lambda place: abs(place[0] - near))
    matches = matches[:MAX_PLACES]
    shares = [_shared(selected, text, place) for place in matches]
    best = max(shares, default=0)
    if not matches or (near is None and shares.count(best) > 1):
        return None
    return matches[shares.index(best)]


def _equal_places(quote: str, text: str, start: int = 0, stop: int | None = None) -> Iterator[Span]:
    place = text.find(quote, start, stop)
    while place >= 0:
        yield place, place + len(quote)
        place = text.find(quote, place + 1, stop)


# A quote in a changed text


def _alike(
    text: str, matches: list[Span], prefix: str, suffix: str, *, is_rare: bool
) -> Span | None:
    """Return the one place whose surroundings stayed best, if that tells it from all others."""
    if not prefix.strip() and not suffix.strip():
        return matches[0] if len(matches) == 1 else None
    then = prepare(prefix).words(), prepare(suffix).words()
    if len(prefix) >= AROUND:  # the outermost word may be cut in two
        del then[0][:1]
    if len(suffix) >= AROUND:
        del then[1][-1:]
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


# A selection


def _across_blanks(quote: str, text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield where the words are to the letter but for the blanks between them, in linear time.

    Those between the lines of a page differ from its text's, and a selection may begin or end
    within a word, which is then compared with none.
    """
    # A part of the text with single blanks, and where its words begin there and here.
    starts, flat_starts, words, length = array("q"), array("q"), list[str](), 0
    for match in _WORD.finditer(text, start, stop):
        starts.append(match.start())
        flat_starts.append(length)
        words.append(match[0])
        length += len(match[0]) + 1

    def original(position: int) -> int:
        word = bisect_right(flat_starts, position) - 1
        return starts[word] + position - flat_starts[word]

    for first, last in _equal_places(" ".join(quote.split()), " ".join(words)):
        yield original(first), original(last - 1) + 1


def _shared(selected: SelectedText, text: str, place: Span) -> int:
    """Count the surrounding words that are the same, from the place outwards."""
    if not (selected.prefix or selected.suffix):
        return 0
    first, last = place

    def common_start(own: Iterable[str], its: Iterable[str]) -> int:
        return sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(own, its, strict=False))
        )

    before = reversed(prepare(selected.prefix[-SELECTED_AROUND:]).words())
    after = prepare(selected.suffix[:SELECTED_AROUND]).words()
    text_before = prepare(text[max(0, first - SELECTED_AROUND) : first]).words()
    text_after = prepare(text[last : last + SELECTED_AROUND]).words()
    return common_start(before, reversed(text_before)) + common_start(after, text_after)
