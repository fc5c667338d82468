"""The sentences of a transcript that have the words of a search."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from citations.text import occurrences
from citations.text.occurrences import SearchTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMatches:
    """The numbers, in order, of the sentences with the most ``terms``: they have ``words`` of them.

    ``has_forms``: more are found in other forms than as they are typed, which count then.
    """

    numbers: tuple[int, ...] = ()
    words: int = 0
    terms: tuple[SearchTerm, ...] = ()
    has_forms: bool = False

    @property
    def of(self) -> int:
        return len(self.terms)


def find(
    text: str, starts: Sequence[int], terms: tuple[SearchTerm, ...], *, language: str
) -> SentenceMatches:
    """Find the sentences, which begin at ``starts``, with the most terms of a search."""
    typed = _matches(text, starts, terms)
    if typed.words == len(terms):
        return typed
    inflected = _matches(
        text, starts, occurrences.with_forms(terms, text, language), has_forms=True
    )
    return inflected if inflected.words > typed.words else typed


def _matches(
    text: str, starts: Sequence[int], terms: tuple[SearchTerm, ...], *, has_forms: bool = False
) -> SentenceMatches:
    counts: Counter[int] = Counter()
    for term in terms:
        places = (first for first, _ in occurrences.find(text, [term]))
        counts.update({max(0, bisect_right(starts, place) - 1) for place in places})
    most = max(counts.values(), default=0)
    numbers = tuple(sorted(number for number, count in counts.items() if count == most))
    return SentenceMatches(numbers=numbers, words=most, terms=terms, has_forms=has_forms)
