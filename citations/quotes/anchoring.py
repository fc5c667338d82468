"""Where a quote stands in a text that has changed since it was quoted. Pure.

None rather than a wrong place: what was around the quote must still be around it, at least in part, and no other equal place may come near that.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from citations.quotes.matching import PreparedText, places, prepare
from citations.text.alignment import common

AROUND: Final = 100  # characters on either side that tell equal places apart
ALIKE: Final = 0.6  # share of the words around a quote that must still be around it
UNLIKE: Final = 0.3  # at most this share may be around any other equal place
LONG: Final = 8  # words of a quote that hardly anybody says twice: its sides may both have changed
TELLING: Final = (
    5  # words: a side that has fewer of them does not tell by itself whether it has stayed
)

_MOST_EQUAL = 1_000  # equal places that are looked at
_MOST_CHANGED = 30  # of them, when nothing has stayed around any
_SLACK = 60  # characters that may have been added around the quote

Span = tuple[int, int]
Sides: TypeAlias = tuple[list[str], list[str]]  # words before and behind a quote


def find(
    quote: str,
    text: str,
    *,
    span: Span,
    prefix: str,
    suffix: str,
    prepared: Callable[[], PreparedText] | None = None,
) -> Span | None:
    """Return the characters [first, last) of a text that are the quote, which stood at ``span`` between ``prefix`` and ``suffix``; None when unsure.

    A quote that stands there no longer to the letter is looked for word by word, as ``grounding`` does; ``prepared`` gives the text made ready for that.
    """
    if not quote.strip():
        return None
    found = _equal(quote, text)
    if len(found) >= _MOST_EQUAL:
        return None
    intact = [place for place in found if _is_intact(text, place, prefix, suffix)]
    if intact:
        return intact[0] if len(intact) == 1 else None
    # A place that was merely punctuated since is one of them: one elsewhere that is equal to the letter must not be taken for it.
    spoken = list(islice(places(quote, prepared() if prepared else prepare(text)), _MOST_EQUAL))
    found = spoken or found
    return _alike(text, found, prefix, suffix) if len(found) <= _MOST_CHANGED else None


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


def _is_intact(text: str, place: Span, prefix: str, suffix: str) -> bool:
    is_after_prefix = place[0] >= len(prefix) and text.startswith(prefix, place[0] - len(prefix))
    return bool(prefix or suffix) and is_after_prefix and text.startswith(suffix, place[1])


def _alike(text: str, found: list[Span], prefix: str, suffix: str) -> Span | None:
    """Return the one place around which most words have stayed, of a short quote all of them on one side, where that tells it from all others."""
    if not prefix.strip() and not suffix.strip():
        return found[0] if len(found) == 1 else None
    then = _inner(prefix, before=True), _inner(suffix, before=False)
    ranked = sorted(((*_kept(then, text, place), place) for place in found), reverse=True)
    if not ranked or any(share > UNLIKE for share, _, _ in ranked[1:]):
        return None
    share, is_same, place = ranked[0]
    is_sure = is_same or len(text[slice(*place)].split()) >= LONG
    return place if is_sure and share >= ALIKE else None


def _kept(then: Sides, text: str, place: Span) -> tuple[float, bool]:
    """Return how much of what was on both sides of a place is there still, 0 to 1, words in their order; and whether one side is the same word for word."""
    now = (
        prepare(text[max(0, place[0] - AROUND - _SLACK) : place[0]]).words(),
        prepare(text[place[1] : place[1] + AROUND + _SLACK]).words(),
    )
    whole = [words for words in then if len(words) >= TELLING]
    is_same = (
        now[0][-len(then[0]) :] == then[0] in whole or now[1][: len(then[1])] == then[1] in whole
    )
    kept = sum(len(common(old, new)) for old, new in zip(then, now, strict=True))
    return kept / max(1, sum(map(len, then))), is_same


def _inner(around: str, *, before: bool) -> list[str]:
    """Return the words on one side of a quote; without the outermost, which the border may have cut in two."""
    words = prepare(around).words()
    if len(around) < AROUND:
        return words
    return words[1:] if before else words[:-1]
