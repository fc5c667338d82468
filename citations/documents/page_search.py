"""The pages of a document that have the words of a search, and the way from match to match."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

Span = tuple[int, int]  # characters [first, last)

MOST_PAGES: Final = 200  # that a search returns
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMatches:
    """The first ``MOST_PAGES`` pages with all terms or, if there are none, with some.

    ``has_forms``: no page has all of them as they are typed, so that other forms count.
    """

    words: str
    hits: tuple[PageHit, ...] = ()
    terms: tuple[SearchTerm, ...] = ()
    is_cut: bool = False
    is_partial: bool = False  # no page has all terms
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
    """Find pages with all words and "quoted phrases", in any case; if there are none, with some.

    Words are found as they are typed, at the beginning of words; in other forms where no page has
    all of them so. Stop words count only in a query that has no other words.
    Raises ``SourceNotFound``.
    """
    source = find_source(scope, str(source_id))
    query = clean(words, MAX_QUERY_CHARACTERS)
    terms = occurrences.split_terms(query, empty_words(source.language))
    if not terms:
        return PageMatches(words=query)
    typed = _matches(source, query, terms)
    if typed.hits and not typed.is_partial:
        return typed
    vocabulary = _vocabulary(source.pk, source.digest, source.language)
    inflected = occurrences.with_forms(terms, vocabulary, source.language)
    if inflected == terms:
        return typed
    other = replace(_matches(source, query, inflected), has_forms=True)
    has_more = bool(other.hits) and (not typed.hits or not other.is_partial)
    return other if has_more else typed


def _matches(source: Source, query: str, terms: tuple[SearchTerm, ...]) -> PageMatches:
    with_all = _hits(source, terms, needs_all=True)
    hits = with_all or _hits(source, terms, needs_all=False)
    return PageMatches(
        words=query,
        terms=terms,
        hits=hits[:MOST_PAGES],
        is_cut=len(hits) > MOST_PAGES,
        is_partial=not with_all,
    )


@lru_cache(maxsize=8)
def _vocabulary(document: int, digest: str, language: str) -> dict[str, list[str]]:
    """Return the words of a document with this digest by their stems; recent ones from memory."""
    texts = Page.objects.filter(document=document).values_list("text", flat=True)
    return occurrences.words_by_stem("\n".join(texts), language)


def _hits(source: Source, terms: Sequence[SearchTerm], *, needs_all: bool) -> tuple[PageHit, ...]:
    """Return the first pages with all terms, or with any; one more than ``MOST_PAGES``."""
    condition = Q()
    for term in terms:
        condition = condition & _has(term) if needs_all else condition | _has(term)
    pages = Page.objects.filter(condition, document=source.pk).order_by("number")
    candidates = (_hit(page, terms, needs_all) for page in pages.iterator(chunk_size=100))
    return tuple(islice(filter(None, candidates), MOST_PAGES + 1))


def _has(term: SearchTerm) -> Q:
    """Return a condition that all pages with a term fulfil: a phrase may be broken across lines,
    and an apostrophe be written otherwise.
    """
    parts = [part for word in term.text.split() for part in occurrences.APOSTROPHE.split(word)]
    typed = Q(*(Q(text__icontains=part) for part in parts if part))
    return reduce(or_, (Q(text__icontains=form) for form in term.forms), typed)


def _hit(page: Page, terms: Sequence[SearchTerm], needs_all: bool) -> PageHit | None:
    matches = occurrences.find_runs(page.text, terms)
    has_all = all(occurrences.find(page.text, [term]) for term in terms)
    if not matches or (needs_all and not has_all):
        return None
    begin, end = _around(page.text, *matches[0])
    spans = tuple((first - begin, last - begin) for first, last in matches if last <= end)
    return PageHit(
        number=page.number,
        label=page.label,
        count=len(matches),
        snippet=page.text[begin:end],
        spans=spans,
    )


def _around(text: str, first: int, last: int) -> Span:
    """Return a span around [first, last) that begins and ends at spaces, if there are any."""
    begin, end = max(0, first - SNIPPET), min(len(text), last + SNIPPET)
    if begin and (space := _SPACE.search(text, begin, first)):
        begin = space.end()
    if end < len(text):
        spaces = [space.start() for space in _SPACE.finditer(text, last, end)]
        end = spaces[-1] if spaces else end
    return begin, end
