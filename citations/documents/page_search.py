"""The pages of a document that have the words of a search, and the way from match to match."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, reduce
from itertools import islice
from operator import or_
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Q

from citations.library.filters import find_source
from citations.models import Page, Source
from citations.providers.languages import empty_words
from citations.text import occurrences
from citations.text.occurrences import SearchTerm
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.scope import Scope

Span = tuple[int, int]  # characters [first, last)

MAX_PAGES: Final = 200  # that a search returns
SNIPPET: Final = 60  # characters on either side of a match
_SPACE: Final = re.compile(r"\s+")


class MatchPlace(NamedTuple):
    """A match: its page, and its number on that page, from 1."""

    page: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHit:
    """A page with matches: their count, and a ``snippet`` with the ``spans`` of its matches."""

    number: int
    label: str
    count: int
    snippet: str
    spans: tuple[Span, ...]


class Closeness(StrEnum):
    """How close the words of a search stand at the places that are shown."""

    PHRASE = "phrase"  # side by side, as they are typed
    SENTENCE = "sentence"
    PAGE = "page"  # no sentence has all of them
    NONE = "none"  # no page has all of them: sentences with the most


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMatches:
    """The first ``MAX_PAGES`` pages with places where the words stand as close as anywhere.

    A place has at least ``fewest`` of the ``terms`` in a sentence; of 1, each word is a place.
    ``has_forms``: no page has all of them as they are typed, so that other forms count.
    """

    words: str
    hits: tuple[PageHit, ...] = ()
    terms: tuple[SearchTerm, ...] = ()
    fewest: int = 1
    closeness: Closeness = Closeness.SENTENCE
    is_cut: bool = False
    has_forms: bool = False

    @property
    def count(self) -> int:
        return sum(hit.count for hit in self.hits)

    def number_of(self, place: MatchPlace) -> int | None:
        """Return the number, from 1, of a match among all; None if there is none at that place."""
        is_there = any(
            hit.number == place.page and 1 <= place.number <= hit.count for hit in self.hits
        )
        return self._before(place.page) + place.number if is_there else None

    def previous(self, place: MatchPlace) -> MatchPlace | None:
        """Return the place of the match before a place, which may be that of none."""
        return self._place(self.number_of(place) or self._before(place.page) + 1, step=-1)

    def next(self, place: MatchPlace) -> MatchPlace | None:
        """Return the place of the match after a place, which may be that of none."""
        return self._place(self.number_of(place) or self._before(place.page), step=1)

    def _before(self, page: int) -> int:
        return sum(hit.count for hit in self.hits if hit.number < page)

    def _place(self, number: int, *, step: int) -> MatchPlace | None:
        remaining = number + step
        for hit in self.hits:
            if 1 <= remaining <= hit.count:
                return MatchPlace(hit.number, remaining)
            remaining -= hit.count
        return None


def find_pages(scope: Scope, source_id: UUID, words: str) -> PageMatches:
    """Find the places where all words stand together as a phrase; else in a sentence, else on a
    page; if there are none, those with the most of them.

    Words are found in any case, as they are typed, at the beginning of words; in other forms where
    less is found so. Stop words count only in a phrase, and in a query that has no other words.
    Raises ``SourceNotFound``.
    """
    source = find_source(scope, str(source_id))
    query = clean(words, MAX_QUERY_CHARACTERS)
    stops = empty_words(source.language)
    typed = occurrences.split_terms(query, stops)
    if not typed:
        return PageMatches(words=query)
    search = _Search(source, query)
    if phrase := occurrences.phrase_of(query, stops):
        matches = search.matches((phrase,), Closeness.PHRASE)
        if matches.hits:
            return matches
    for closeness in (Closeness.SENTENCE, Closeness.PAGE):
        for terms in search.ways(typed):
            matches = search.matches(terms, closeness)
            if matches.hits:
                return replace(matches, has_forms=terms != typed)
    first, *others = [search.matches(terms, Closeness.NONE) for terms in search.ways(typed)]
    other = next((matches for matches in others if matches.fewest > first.fewest), None)
    return replace(other, has_forms=True) if other else first


@dataclass(frozen=True, slots=True)
class _Search:
    source: Source
    query: str

    def ways(self, typed: tuple[SearchTerm, ...]) -> Iterator[tuple[SearchTerm, ...]]:
        """Yield words as they are typed, and with their other forms, if there are any."""
        yield typed
        language = self.source.language
        vocabulary = _vocabulary(self.source.pk, self.source.digest, language)
        inflected = occurrences.with_forms(typed, vocabulary, language)
        if inflected != typed:
            yield inflected

    def matches(self, terms: tuple[SearchTerm, ...], closeness: Closeness) -> PageMatches:
        """Return the pages on which terms stand so close."""
        fewest = len(terms) if closeness == Closeness.SENTENCE else 1
        pages = self._pages(terms, needs_all=closeness != Closeness.NONE)
        if closeness == Closeness.NONE:
            pages = [*pages]
            fewest = occurrences.most_together((page.text for page in pages), terms)
        hits = (_hit(page, terms, fewest) for page in pages if fewest)
        first = tuple(islice(filter(None, hits), MAX_PAGES + 1))
        return PageMatches(
            words=self.query,
            terms=terms,
            hits=first[:MAX_PAGES],
            fewest=fewest,
            closeness=closeness,
            is_cut=len(first) > MAX_PAGES,
        )

    def _pages(self, terms: Sequence[SearchTerm], *, needs_all: bool) -> Iterable[Page]:
        """Yield the pages with all terms, or with any, in order."""
        condition = Q()
        for term in terms:
            condition = condition & _has(term) if needs_all else condition | _has(term)
        pages = Page.objects.filter(condition, document=self.source.pk).order_by("number")
        for page in pages.only("number", "label", "text").iterator(chunk_size=100):
            if not needs_all or all(occurrences.find(page.text, [term]) for term in terms):
                yield page


@lru_cache(maxsize=8)
def _vocabulary(document: int, digest: str, language: str) -> dict[str, list[str]]:
    """Return the words of a document with this digest by their stems; recent ones from memory."""
    texts = Page.objects.filter(document=document).values_list("text", flat=True)
    return occurrences.words_by_stem("\n".join(texts), language)


def _has(term: SearchTerm) -> Q:
    """Return a condition that all pages with a term fulfil: a phrase may be broken across lines,
    and an apostrophe be written otherwise.
    """
    parts = [part for word in term.text.split() for part in occurrences.APOSTROPHE.split(word)]
    typed = Q(*(Q(text__icontains=part) for part in parts if part))
    return reduce(or_, (Q(text__icontains=form) for form in term.forms), typed)


def _hit(page: Page, terms: Sequence[SearchTerm], fewest: int) -> PageHit | None:
    places = occurrences.places(page.text, terms, fewest=fewest)
    if not places:
        return None
    # Around the first one, from space to space if there are any.
    first, last = places[0][0]
    begin, end = max(0, first - SNIPPET), min(len(page.text), last + SNIPPET)
    if begin and (space := _SPACE.search(page.text, begin, first)):
        begin = space.end()
    if end < len(page.text):
        spaces = [space.start() for space in _SPACE.finditer(page.text, last, end)]
        end = spaces[-1] if spaces else end
    spans = [span for place in places for span in place if span[1] <= end]
    return PageHit(
        number=page.number,
        label=page.label,
        count=len(places),
        snippet=page.text[begin:end],
        spans=tuple((first - begin, last - begin) for first, last in spans),
    )
