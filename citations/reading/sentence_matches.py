"""The sentences of a transcript that have the words of a search."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from citations.text import occurrences
from citations.text.occurrences import SearchTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMatches:
    """The numbers, in order, of the sentences with the most ``terms``: they have ``words`` of them.

    ``is_phrase``: the words stand side by side somewhere, and only that counts. ``has_forms``: more
    are found in other forms than as they are typed, which count then.
    """

    numbers: tuple[int, ...] = ()
    words: int = 0
    terms: tuple[SearchTerm, ...] = ()
    is_phrase: bool = False
    has_forms: bool = False

    @property
    def of(self) -> int:
        return len(self.terms)


def find(
    text: str,
    starts: Sequence[int],
    terms: tuple[SearchTerm, ...],
    *,
    phrase: SearchTerm | None = None,
    inflect: Callable[[tuple[SearchTerm, ...]], tuple[SearchTerm, ...]],
) -> SentenceMatches:
    """Find the sentences, which begin at ``starts``, with the ``phrase`` that a search is; if there
    are none, those with the most of its terms; ``inflect`` adds other forms to these.
    """
    if phrase and (numbers := _sentences(text, starts, phrase)):
        return SentenceMatches(
            numbers=tuple(sorted(numbers)), words=1, terms=(phrase,), is_phrase=True
        )
    sentences = {term: _sentences(text, starts, term) for term in terms}
    typed = _matches(terms, sentences)
    if typed.words == len(terms):
        return typed
    inflected = inflect(terms)
    for term in inflected:
        if term not in sentences:
            sentences[term] = _sentences(text, starts, term)
    other = replace(_matches(inflected, sentences), has_forms=True)
    return other if other.words > typed.words else typed


def _sentences(text: str, starts: Sequence[int], term: SearchTerm) -> set[int]:
    places = (first for first, _ in occurrences.find(text, [term]))
    return {max(0, bisect_right(starts, place) - 1) for place in places}


def _matches(
    terms: tuple[SearchTerm, ...], sentences: Mapping[SearchTerm, set[int]]
) -> SentenceMatches:
    counts = Counter(number for term in terms for number in sentences[term])
    most = max(counts.values(), default=0)
    numbers = tuple(sorted(number for number, count in counts.items() if count == most))
    return SentenceMatches(numbers=numbers, words=most, terms=terms)
