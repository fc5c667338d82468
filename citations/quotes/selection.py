"""Locate words that somebody selected, or that another program named, in a text. Pure."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from citations.quotes.matching import PreparedText, places, prepare

MAX_PLACES: Final = 1_000  # equal places that are compared
AROUND: Final = 200  # characters beside a place that are compared
WINDOW: Final = 20_000  # characters around a position in which a place is looked for first

_WORD: Final = re.compile(r"\S+")

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

    Words that are not there to the letter are looked for with other blanks between them, then
    compared word by word; ``prepared`` returns the text prepared for that.
    """
    quote = selected.exact.strip()
    if not quote:
        return None
    around = [] if near is None else [(max(0, near - WINDOW), near + WINDOW)]
    tries = (
        list(islice(search(quote, text, *part), 2 * WINDOW))
        for search in (_equal, _across_blanks)
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


def _equal(quote: str, text: str, start: int, stop: int) -> Iterator[Span]:
    place = text.find(quote, start, stop)
    while place >= 0:
        yield place, place + len(quote)
        place = text.find(quote, place + 1, stop)


def _across_blanks(quote: str, text: str, start: int, stop: int) -> Iterator[Span]:
    """Yield where the words are to the letter but for the blanks between them, in linear time.

    Those between the lines of a page differ from its text's, and a selection may begin or end
    within a word, which is then compared with none.
    """
    flat, starts, flat_starts = _flattened(text, start, stop)

    def original(position: int) -> int:
        word = bisect_right(flat_starts, position) - 1
        return starts[word] + position - flat_starts[word]

    for first, last in _equal(" ".join(quote.split()), flat, 0, len(flat)):
        yield original(first), original(last - 1) + 1


def _flattened(text: str, start: int, stop: int) -> tuple[str, "array[int]", "array[int]"]:
    """Return a part of a text with single blanks, and where its words begin there and here."""
    starts, flat_starts, words, length = array("q"), array("q"), list[str](), 0
    for match in _WORD.finditer(text, start, stop):
        starts.append(match.start())
        flat_starts.append(length)
        words.append(match[0])
        length += len(match[0]) + 1
    return " ".join(words), starts, flat_starts


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
    for first, second in pairs:
        if first != second:
            break
        count += 1
    return count
