"""The read side of documents: pages, their images, and where on them a quote stands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final
from uuid import UUID

from django.db.models import Q

from citations.documents import page_images
from citations.documents.page_images import PageImage
from citations.errors import DocumentNotFound, PageNotFound
from citations.library.filters import find_source
from citations.models import Citation, Document, Page, Source
from citations.quotes import verification
from citations.readers.page import Box
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

Span = tuple[int, int]  # characters [first, last)

MAX_WORDS: Final = 10  # of it
MOST_PAGES: Final = 200  # that such a search names
MOST_MARKS: Final = 500  # words that are marked on one page
SNIPPET: Final = 60  # characters shown on either side of what was found


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page as it is shown. ``quote`` and ``found`` are characters of its text: what is cited, and the words that are looked for.

    ``picture`` is None where there is none; else the boxes say where quote and words stand on it.
    """

    source: Source
    document: Document
    page: Page
    count: int  # pages of the document
    heading: str = ""
    quote: tuple[Span, ...] = ()
    found: tuple[Span, ...] = ()
    picture: PageImage | None = None
    quote_boxes: tuple[Box, ...] = ()
    found_boxes: tuple[Box, ...] = ()

    @property
    def number(self) -> int:
        """Counted from 1."""
        return self.page.number

    @property
    def label(self) -> str:
        """The number that is printed on it, where that is another one."""
        return self.page.label if self.page.label != str(self.number) else ""

    @property
    def previous(self) -> int | None:
        """The page before it."""
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        """The page after it."""
        return self.number + 1 if self.number < self.count else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHit:
    """A page that words were found on: how often, and around the first place a ``snippet`` in which ``spans`` are the words."""

    number: int
    label: str
    count: int
    snippet: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMatches:
    """The pages that words were found on, in order, at most ``MOST_PAGES``; ``count`` is how many times on all of these."""

    words: str
    hits: tuple[PageHit, ...]
    is_cut: bool = False

    @property
    def count(self) -> int:
        """How many times."""
        return sum(hit.count for hit in self.hits)


def show_page(
    scope: Scope, source_id: UUID, number: int, *, quote: Span | None = None, words: str = ""
) -> PageView:
    """Return a page of a document; ``quote`` counts in characters of the source's text. Raises ``SourceNotFound`` and ``PageNotFound``."""
    source, page = _find_page(scope, source_id, number)
    document = source.document
    on_page = _on_page(page, quote) if quote else ()
    found = tuple(islice(_places(page.text, words), MOST_MARKS))
    picture = page_images.measure_image(document, number)
    quote_boxes, found_boxes = (
        page_images.boxes(document, page, on_page, found) if picture else ((), ())
    )
    return PageView(
        source=source,
        document=document,
        page=page,
        count=max(document.page_count, page.number),
        heading=_heading(page, on_page[0][0] if on_page else 0),
        quote=on_page,
        found=found,
        picture=picture,
        quote_boxes=quote_boxes,
        found_boxes=found_boxes,
    )


def find_image_document(scope: Scope, source_id: UUID, number: int) -> Document:
    """Return the document of a page that has a picture. Raises ``SourceNotFound`` and ``PageNotFound``."""
    source, _ = _find_page(scope, source_id, number)
    if source.document.media_type != page_images.PDF:
        raise PageNotFound(
            f"The pages of “{source.title}” have no pictures.", hint="They are shown as text."
        )
    return source.document


def find_pages(scope: Scope, source_id: UUID, words: str) -> PageMatches:
    """Find the pages of a document on which all of these words occur, "a phrase in quotes" as it stands; case does not matter. Raises ``SourceNotFound``."""
    source = find_source(scope, str(source_id))
    needles = _needles(words)
    if not needles:
        return PageMatches(words=clean(words, MAX_QUERY_CHARACTERS), hits=())
    pages = (
        Page.objects.filter(_containing(needles), document=source.pk)
        .order_by("number")
        .iterator(chunk_size=100)
    )
    hits: list[PageHit] = []
    for page in pages:
        if hit := _hit(page, needles):
            hits.append(hit)
        if len(hits) > MOST_PAGES:
            break
    return PageMatches(
        words=clean(words, MAX_QUERY_CHARACTERS),
        hits=tuple(hits[:MOST_PAGES]),
        is_cut=len(hits) > MOST_PAGES,
    )


def find_quote_span(scope: Scope, source_id: UUID, citation_id: UUID) -> Span | None:
    """Return where a citation's quote stands in the source's text now; None where that is not there any more, or not sure, or the caller may not see it."""
    citation = (
        Citation.objects.visible(scope)
        .filter(uuid=citation_id, source__uuid=source_id)
        .select_related("source")
        .first()
    )
    place = verification.place_of(citation) if citation else None
    return place.span if place else None


def find_document(scope: Scope, source_id: UUID) -> Document:
    """Return the document of a source. Raises ``SourceNotFound`` and ``DocumentNotFound``."""
    source = find_source(scope, str(source_id))
    document = Document.objects.filter(source=source).first()
    if document is None:
        raise DocumentNotFound(f"“{source.title}” was not made from a file.")
    return document


def part_ordinals(document: Document) -> list[int]:
    """Return the numbers of the parts that a document's bytes are kept in, in order."""
    return list(document.parts.order_by("ordinal").values_list("ordinal", flat=True))


def read_part(document: Document, ordinal: int) -> bytes:
    """Return one part of a document's bytes; none when it was deleted a moment ago."""
    found = document.parts.filter(ordinal=ordinal).values_list("data", flat=True).first()
    return bytes(found) if found is not None else b""


def _find_page(scope: Scope, source_id: UUID, number: int) -> tuple[Source, Page]:
    source = find_source(scope, str(source_id))
    page = Page.objects.filter(document=source.pk, number=number).first()
    if page is None:
        raise _missing(source, number)
    return source, page


def _missing(source: Source, number: int) -> PageNotFound:
    count = Page.objects.filter(document=source.pk).count()
    if not count:
        return PageNotFound(
            f"“{source.title}” has no pages.",
            hint="A document has them once it is read; the Sources page tells how far it is.",
        )
    return PageNotFound(
        f"“{source.title}” has no page {number}.", hint=f"Its pages are counted from 1 to {count}."
    )


# The quote


def _on_page(page: Page, quote: Span) -> tuple[Span, ...]:
    first, last = max(0, quote[0] - page.start), min(len(page.text), quote[1] - page.start)
    return ((first, last),) if first < last else ()


def _heading(page: Page, place: int) -> str:
    """Return the heading that the character at ``place`` of the page stands under."""
    headings = [heading for first, _, heading, _ in page.blocks if first <= place or not place]
    return str(headings[-1 if place else 0]) if headings else ""


# Words


def _needles(words: str) -> list[str]:
    """Cut a search into words and quoted phrases, each with single blanks."""
    parts = _PARTS.findall(clean(words, MAX_QUERY_CHARACTERS))
    found = (" ".join((quoted or word).split()) for quoted, word in parts)
    return list(dict.fromkeys(filter(None, found)))[:MAX_WORDS]


_PARTS: Final = re.compile(r'["“„]([^"“”„]*)["“”]|([^\s"“”„]+)')


def _containing(needles: list[str]) -> Q:
    """Match pages that hold every word of every needle; whether they stand side by side is seen afterwards, as lines may break between them."""
    found = Q()
    for word in {word for needle in needles for word in needle.split()}:
        found &= Q(text__icontains=word)
    return found


def _hit(page: Page, needles: list[str]) -> PageHit | None:
    places = list(_matches(page.text, needles))
    if not all(any(True for _ in _matches(page.text, [needle])) for needle in needles):
        return None
    begin, end = _around(page.text, *places[0])
    spans = tuple((first - begin, last - begin) for first, last in places if last <= end)
    return PageHit(
        number=page.number,
        label=page.label,
        count=len(places),
        snippet=page.text[begin:end],
        spans=spans,
    )


def _around(text: str, first: int, last: int) -> Span:
    """Return a piece of text around [first, last) that begins and ends with whole words, where these are not too long."""
    begin, end = max(0, first - SNIPPET), min(len(text), last + SNIPPET)
    if begin and (blank := _BLANK.search(text, begin, first)):
        begin = blank.end()
    if end < len(text):
        blanks = [blank.start() for blank in _BLANK.finditer(text, last, end)]
        end = blanks[-1] if blanks else end
    return begin, end


_BLANK: Final = re.compile(r"\s+")


def _places(text: str, words: str) -> Iterator[Span]:
    needles = _needles(words)
    return _matches(text, needles) if needles else iter(())


def _matches(text: str, needles: list[str]) -> Iterator[Span]:
    longest_first = sorted(needles, key=len, reverse=True)
    pattern = "|".join(r"\s+".join(map(re.escape, needle.split())) for needle in longest_first)
    return (match.span() for match in re.finditer(pattern, text, re.IGNORECASE))
