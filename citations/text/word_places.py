"""Places of a text that have several words of a search in one sentence. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from citations.text import occurrences, sentences
from citations.text.occurrences import SearchTerm, Span

Place = tuple[Span, ...]  # the words that are marked together


def places(text: str, terms: Sequence[SearchTerm], *, fewest: int = 1) -> list[Place]:
    """Return the sentences with at least ``fewest`` of the terms, by their words; of 1, each word
    is a place of its own.
    """
    if fewest <= 1:
        return [(span,) for span in occurrences.find_runs(text, terms)]
    counts = _counts(text, terms, fewest)
    return [
        tuple(
            (first + start, first + stop)
            for start, stop in occurrences.find_runs(text[first:last], terms)
        )
        for (first, last), count in sorted(counts.items())
        if count >= fewest
    ]


def most_together(texts: Iterable[str], terms: Sequence[SearchTerm]) -> int:
    """Return how many of the terms a sentence of the texts has at most."""
    most = 0
    for text in texts:
        most = max([most, *_counts(text, terms, most + 1).values()])
    return most


def _counts(text: str, terms: Sequence[SearchTerm], fewest: int) -> Counter[Span]:
    """Return how many of the terms each sentence has that has one; none if the whole text has less
    than ``fewest``.
    """
    every = [[first for first, _ in occurrences.find(text, [term])] for term in terms]
    if sum(map(bool, every)) < fewest:
        return Counter()
    spans = sentences.split(text)
    borders = [first for first, _ in spans]
    return Counter(
        spans[number]
        for starts in every
        for number in {max(0, bisect_right(borders, start) - 1) for start in starts}
    )
