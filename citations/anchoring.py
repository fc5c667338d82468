"""Where a quote stands in a text that has changed since it was quoted. Pure.

None rather than a wrong place: what was around the quote must still be around it, at least in part, and no other equal place may come near that.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from citations.grounding import Prepared, places, prepare
from citations.likeness import common

AROUND: Final = 100  # characters on either side that tell equal places apart
ALIKE: Final = 0.6  # share of the words around a quote that must still be around it
UNLIKE: Final = 0.3  # at most this share may be around any other equal place

_MOST_EQUAL = 1_000  # equal places that are looked at
_MOST_CHANGED = 30  # of them, when nothing has stayed around any
_SLACK = 60  # characters that may have been added around the quote

Span = tuple[int, int]


def find(quote: str, text: str, *, span: Span, before: str, behind: str, prepared: Prepared | None = None) -> Span | None:
    """Return the characters [first, last) of a text that are the quote, which stood at ``span`` between ``before`` and ``behind``; None when unsure.

    A quote that stands there no longer to the letter is looked for word by word, as ``grounding`` does; ``prepared`` is the text made ready for that.
    """
    if not quote.strip():
        return None
    found = _equal(quote, text)
    if not found:
        found = list(islice(places(quote, prepared or prepare(text)), _MOST_EQUAL))
    if len(found) >= _MOST_EQUAL:
        return None
    intact = [place for place in found if _is_intact(text, place, before, behind)]
    if intact:
        return intact[0] if len(intact) == 1 else None
    return _alike(text, found, before, behind) if len(found) <= _MOST_CHANGED else None


def around(text: str, span: Span) -> tuple[str, str]:
    """Return what stands before and behind a place: that is to be kept with a quote."""
    return text[max(0, span[0] - AROUND) : span[0]], text[span[1] : span[1] + AROUND]


def _equal(quote: str, text: str) -> list[Span]:
    return list(islice(_equal_places(quote, text), _MOST_EQUAL))


def _equal_places(quote: str, text: str) -> Iterator[Span]:
    place = text.find(quote)
    while place >= 0:
        yield place, place + len(quote)
        place = text.find(quote, place + 1)


def _is_intact(text: str, place: Span, before: str, behind: str) -> bool:
    return bool(before or behind) and text[: place[0]].endswith(before) and text.startswith(behind, place[1])


def _alike(text: str, found: list[Span], before: str, behind: str) -> Span | None:
    """Return the one place around which most words have stayed, where that tells it from all others."""
    if not before.strip() and not behind.strip():
        return found[0] if len(found) == 1 else None
    ranked = sorted(((_share(text, place, before, behind), place) for place in found), reverse=True)
    if not ranked or ranked[0][0] < ALIKE or (len(ranked) > 1 and ranked[1][0] > UNLIKE):
        return None
    return ranked[0][1]


def _share(text: str, place: Span, before: str, behind: str) -> float:
    """Return how much of what was around the quote is around a place, 0 to 1: words in their order."""
    then = (prepare(before).words(), prepare(behind).words())
    now = (prepare(text[max(0, place[0] - len(before) - _SLACK) : place[0]]).words(), prepare(text[place[1] : place[1] + len(behind) + _SLACK]).words())
    kept = sum(len(common(old, new)) for old, new in zip(then, now, strict=True))
    return kept / max(1, sum(map(len, then)))
