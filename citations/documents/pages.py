"""Reads documents: pages, page images, searches, and the positions of quotes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Length

from citations.documents import page_images
from citations.documents.page_images import PageImage, SelectableLine
from citations.errors import DocumentNotFound, PageNotFound
from citations.library.filters import find_source
from citations.models import Citation, Document, Page, Source
from citations.passages import ColoredSpan, colored_within
from citations.providers.languages import empty_words
from citations.quotes import verification
from citations.readers.formats import PDF
from citations.readers.page import Box
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

Span = tuple[int, int]  # characters [first, last)

MAX_TERMS: Final = 10  # words and phrases of a search
MOST_PAGES: Final = 200  # that a search returns
MOST_MARKS: Final = 500  # matches highlighted on a page
SNIPPET: Final = 60  # characters on either side of a match


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page to show; boxes locate ``quote`` and ``matches``, spans of its text, on its image."""

    source: Source
    document: Document
    page: Page
    count: int  # pages of the document
    heading: str = ""
    quote: tuple[Span, ...] = ()
    matches: tuple[Span, ...] = ()
    image: PageImage | None = None
    quote_boxes: tuple[Box, ...] = ()
    match_boxes: tuple[Box, ...] = ()
    highlights: tuple[ColoredSpan, ...] = ()
    highlight_boxes: tuple[tuple[ColoredSpan, Box], ...] = ()
    lines: tuple[SelectableLine, ...] = ()

    @property
    def number(self) -> int:
        """Counted from 1."""
        return self.page.number

    @property
    def label(self) -> str:
        """The printed page number if it differs."""
        return self.page.label if self.page.label != str(self.number) else ""

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.count else None


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
    """The first ``MOST_PAGES`` pages with all words or, if there are none, with some."""

    words: str
    hits: tuple[PageHit, ...]
    is_cut: bool = False
    is_partial: bool = False  # no page has all words

    @property
    def count(self) -> int:
        return sum(hit.count for hit in self.hits)


def show_page(
    scope: Scope,
    source_id: UUID,
    number: int,
    *,
    quote: Span | None = None,
    words: str = "",
    highlights: Sequence[ColoredSpan] = (),
) -> PageView:
    """Return a page; ``quote`` and ``highlights`` are in the source.

    Raises ``SourceNotFound`` and ``PageNotFound``.
    """
    source, page = _find_page(scope, source_id, number)
    document = source.document
    first, last = quote or (0, 0)
    first, last = max(0, first - page.start), min(len(page.text), last - page.start)
    on_page = ((first, last),) if first < last else ()
    terms = _terms(words, source.language)
    matches = tuple(islice(_matches(page.text, terms), MOST_MARKS)) if terms else ()
    image = page_images.measure_image(document, number)
    boxes = page_images.boxes(document, page, on_page, matches) if image else ((), ())
    colored = colored_within(highlights, page.start, page.start + len(page.text))
    offset = on_page[0][0] if on_page else 0
    headings = [heading for first, _, heading, _ in page.blocks if first <= offset or not offset]
    return PageView(
        source=source,
        document=document,
        page=page,
        count=max(document.page_count, page.number),
        heading=str(headings[-1 if offset else 0]) if headings else "",
        quote=on_page,
        matches=matches,
        image=image,
        quote_boxes=boxes[0],
        match_boxes=boxes[1],
        highlights=colored,
        highlight_boxes=_colored_boxes(document, page, colored) if image else (),
        lines=page_images.text_lines(document, page, image) if image else (),
    )


def _colored_boxes(
    document: Document, page: Page, highlights: Sequence[ColoredSpan]
) -> tuple[tuple[ColoredSpan, Box], ...]:
    return tuple(
        (span, box)
        for span in highlights
        for box in page_images.boxes(document, page, [(span.first, span.last)], ())[0]
    )


def find_image_document(scope: Scope, source_id: UUID, number: int) -> Document:
    """Return the document of a page with an image. Raises ``SourceNotFound``, ``PageNotFound``."""
    source, _ = _find_page(scope, source_id, number)
    if source.document.media_type != PDF.media_type:
        raise PageNotFound(
            f"The pages of “{source.title}” have no images.", hint="They are shown as text."
        )
    return source.document


def span_of_page(source: Source, number: int) -> Span:
    """Return the characters of a page in its source's text; none of a page that is not there."""
    row = Page.objects.filter(document=source.pk, number=number)
    start, length = row.values_list("start", Length("text")).first() or (0, 0)
    return start, start + length


def find_pages(scope: Scope, source_id: UUID, words: str) -> PageMatches:
    """Find pages with all words and "quoted phrases", in any case; if there are none, with some.

    Stop words count only in a query that has no other words. Raises ``SourceNotFound``.
    """
    source = find_source(scope, str(source_id))
    query, terms = clean(words, MAX_QUERY_CHARACTERS), _terms(words, source.language)
    if not terms:
        return PageMatches(words=query, hits=())
    with_all = _hits(source, terms, needs_all=True)
    hits = with_all or _hits(source, terms, needs_all=False)
    return PageMatches(
        words=query, hits=hits[:MOST_PAGES], is_cut=len(hits) > MOST_PAGES, is_partial=not with_all
    )


def find_quote_span(scope: Scope, source_id: UUID, citation_id: UUID) -> Span | None:
    """Return the current span of a citation's quote, None if it is gone, ambiguous or hidden."""
    citation = (
        Citation.objects.visible(scope)
        .filter(uuid=citation_id, source__uuid=source_id)
        .select_related("source")
        .first()
    )
    location = verification.locator_of(citation) if citation else None
    return location.span if location else None


def find_document(scope: Scope, source_id: UUID) -> Document:
    """Return the document of a source. Raises ``SourceNotFound`` and ``DocumentNotFound``."""
    source = find_source(scope, str(source_id))
    document = Document.objects.filter(source=source).first()
    if document is None:
        raise DocumentNotFound(f"“{source.title}” was not made from a file.")
    return document


def part_ordinals(document: Document) -> list[int]:
    """Return the numbers of the parts that store a document's bytes, in order."""
    return list(document.parts.order_by("ordinal").values_list("ordinal", flat=True))


def read_part(document: Document, ordinal: int) -> bytes:
    """Return one part of a document's bytes, none if it was just deleted."""
    data = document.parts.filter(ordinal=ordinal).values_list("data", flat=True).first()
    return bytes(data) if data is not None else b""


def _find_page(scope: Scope, source_id: UUID, number: int) -> tuple[Source, Page]:
    source = find_source(scope, str(source_id))
    pages = Page.objects.filter(document=source.pk)
    if page := pages.filter(number=number).first():
        return source, page
    if count := pages.count():
        raise PageNotFound(
            f"“{source.title}” has no page {number}.", hint=f"It has pages 1 to {count}."
        )
    raise PageNotFound(
        f"“{source.title}” has no pages.",
        hint="It has them once it is processed; the Activity page shows the progress.",
    )


# Search


def _terms(words: str, language: str) -> list[str]:
    """Split a search into words and quoted phrases, without empty words where there are others."""
    parts = _PARTS.findall(clean(words, MAX_QUERY_CHARACTERS))
    terms = (" ".join((quoted or word.strip("?!.,;:")).split()) for quoted, word in parts)
    distinct = list(dict.fromkeys(filter(None, terms)))
    stops = empty_words(language)
    return ([term for term in distinct if term.casefold() not in stops] or distinct)[:MAX_TERMS]


_PARTS: Final = re.compile(r'["“„]([^"“”„]*)["“”]|([^\s"“”„]+)')


def _hits(source: Source, terms: list[str], *, needs_all: bool) -> tuple[PageHit, ...]:
    """Return the first pages with all terms, or with any; one more than ``MOST_PAGES``."""
    condition = Q()
    for term in terms:  # a phrase may be broken across lines
        has_words = Q(*(Q(text__icontains=word) for word in term.split()))
        condition = condition & has_words if needs_all else condition | has_words
    pages = Page.objects.filter(condition, document=source.pk).order_by("number")
    candidates = (_hit(page, terms, needs_all) for page in pages.iterator(chunk_size=100))
    return tuple(islice(filter(None, candidates), MOST_PAGES + 1))


def _hit(page: Page, terms: list[str], needs_all: bool) -> PageHit | None:
    matches = list(_matches(page.text, terms))
    has_all = all(any(True for _ in _matches(page.text, [term])) for term in terms)
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


_SPACE: Final = re.compile(r"\s+")


def _matches(text: str, terms: list[str]) -> Iterator[Span]:
    longest_first = sorted(terms, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(map(re.escape, term.split())) for term in longest_first)
    return (match.span() for match in re.finditer(pattern, text, re.IGNORECASE))
