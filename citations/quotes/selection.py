"""Locate words that somebody selected, or that another program named, in a text. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from citations.quotes.matching import PreparedText, places, prepare

MOST: Final = 1_000  # equal places that are compared
AROUND: Final = 200  # characters beside a place that are compared
NEAR: Final = 20_000  # characters around a position in which a place is looked for first

Span = tuple[int, int]  # characters [first, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedText:
    """Words and what stands around them, as W3C's TextQuoteSelector has them."""

    exact: str
    prefix: str = ""
    suffix: str = ""


def find(
    selected: SelectedText, text: str, *, near: int | None, prepared: Callable[[], PreparedText]
) -> Span | None:
    """Return where the words are: of equal places the one with the same surroundings, then the one
    next to the character ``near``. None where they are not, or where nothing tells.

    Words that are not there to the letter, whatever the blanks, are compared word by word;
    ``prepared`` returns the text prepared for that.
    """
    quote = selected.exact.strip()
    if not quote:
        return None
    start, stop = (0, len(text)) if near is None else (max(0, near - NEAR), near + NEAR)
    matches = list(_equal(quote, text, start, stop))
    if not matches and near is not None:
        matches = list(islice(_equal(quote, text, 0, len(text)), MOST))
    if not matches:
        matches = list(islice(places(quote, prepared()), MOST))
    if near is not None:
        matches.sort(key=lambda place: abs(place[0] - near))
    matches = matches[:MOST]
    shares = [_shared(selected, text, place) for place in matches]
    best = max(shares, default=0)
    if not matches or (near is None and shares.count(best) > 1):
        return None
    return matches[shares.index(best)]


def _equal(quote: str, text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield where the words are to the letter, with any blanks: those between the lines of a page
    differ from its text's, and a selection may begin or end within a word.
    """
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
    place = pattern.search(text, start, stop)
    while place:
        yield place.span()
        place = pattern.search(text, place.start() + 1, stop)


def _shared(selected: SelectedText, text: str, place: Span) -> int:
    """Count the surrounding words that are the same, from the place outwards."""
    if not (selected.prefix or selected.suffix):
        return 0
    first, last = place
    before = zip(
        reversed(prepare(selected.prefix[-AROUND:]).words()),
        reversed(prepare(text[max(0, first - AROUND) : first]).words()),
        strict=False,
    )
    after = zip(
        prepare(selected.suffix[:AROUND]).words(),
        prepare(text[last : last + AROUND]).words(),
        strict=False,
    )
    return _common(before) + _common(after)


def _common(pairs: Iterator[tuple[str, str]]) -> int:
    count = 0
    for there, here in pairs:
        if there != here:
            break
        count += 1
    return count
