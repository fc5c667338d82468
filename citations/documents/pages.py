"""Reads documents: pages, page images, and the positions of quotes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from uuid import UUID

from citations.documents import ocr, page_images
from citations.documents.page_images import PageImage, SelectableLine
from citations.errors import DocumentNotFound, PageNotFound
from citations.library.filters import find_source
from citations.models import Citation, Document, Page, Source
from citations.passages import ColoredSpan, colored_within
from citations.quotes import verification
from citations.readers.headings import number_of
from citations.readers.markup.sanitizer import sanitize
from citations.readers.page import Box
from citations.readers.pdf.glyph_repair import is_gibberish
from citations.text import occurrences
from citations.text.occurrences import SearchTerm
from transcripts.core.scope import Scope

Span = tuple[int, int]  # characters [first, last)

MAX_MARKS: Final = 500  # matches highlighted on a page

MAX_PAGES: Final = 200  # that are looked at before the one that is shown

_FIRST_ROW: Final = re.compile(r"\s*<table>(?:<tbody>)?<tr>(?P<cells>.*?)</tr>", re.DOTALL)
_TABLE: Final = r"<table>(?>.*?</table>)\s*"
_TABLES_AT_END: Final = re.compile(rf"(?>(?:{_TABLE})+)\Z", re.DOTALL)
_GAP: Final = re.compile(r"</tbody></table>\s*<table><tbody>(?=<tr>(?P<cells>.*?)</tr>)", re.DOTALL)
_CELL: Final = re.compile(r"<t[dh]\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageView:
    """A page to show; boxes locate ``quote`` and ``matches``, spans of its text, on its image."""

    source: Source
    document: Document
    page: Page
    count: int  # pages of the document
    heading: str = ""
    section: str = ""  # the one with a number that the heading belongs to, if it has none itself
    quote: tuple[Span, ...] = ()
    matches: tuple[Span, ...] = ()
    image: PageImage | None = None
    quote_boxes: tuple[Box, ...] = ()
    match_boxes: tuple[Box, ...] = ()
    highlights: tuple[ColoredSpan, ...] = ()
    speaker: str = ""  # of a page there is none
    highlight_boxes: tuple[tuple[ColoredSpan, Box], ...] = ()
    lines: tuple[SelectableLine, ...] = ()
    ocr_percent: int = 0  # how sure OCR is of its words; 0 of a page that it has not read

    @property
    def number(self) -> int:
        """Counted from 1."""
        return self.page.number

    @property
    def label(self) -> str:
        """The printed page number if it differs."""
        return self.page.label if self.page.label != str(self.number) else ""

    @property
    def is_gibberish(self) -> bool:
        """Whether the page's stored words are surely not those that it shows."""
        return self.document.format.is_laid_out and is_gibberish(self.page.text)

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.count else None


def show_page(
    scope: Scope,
    source_id: UUID,
    number: int,
    *,
    quote: Span | None = None,
    terms: Sequence[SearchTerm] = (),
    fewest: int = 1,
    match: int = 0,
    highlights: Sequence[ColoredSpan] = (),
) -> PageView:
    """Return a page; ``quote`` and ``highlights`` are in the source. Without a quote, the place of
    ``fewest`` of the ``terms`` with the number ``match``, from 1, is marked like one.

    Raises ``SourceNotFound`` and ``PageNotFound``.
    """
    source, page = _find_page(scope, source_id, number)
    document = source.document
    first, last = quote or (0, 0)
    first, last = max(0, first - page.start), min(page.length, last - page.start)
    places = occurrences.places(page.text, terms, fewest=fewest)
    matches = tuple(span for place in places for span in place)[:MAX_MARKS]
    current = places[match - 1] if 0 < match <= len(places) else ()
    on_page = ((first, last),) if first < last else current
    image = page_images.measure_image(document, number)
    other = [span for span in matches if span not in on_page]
    boxes = page_images.boxes(document, page, on_page, other) if image else ((), ())
    colored = colored_within(highlights, page.start, page.end)
    colored_boxes = (
        (span, box)
        for span in (colored if image else ())
        for box in page_images.boxes(document, page, [(span.first, span.last)], ())[0]
    )
    offset = on_page[0][0] if on_page else 0
    headings = [str(heading) for first, _, heading, _ in page.blocks if first <= offset]
    return PageView(
        source=source,
        document=document,
        page=page,
        count=max(document.page_count, page.number),
        heading=headings[-1] if headings else "",
        section=_numbered_section(document, number, headings),
        quote=on_page,
        matches=matches,
        image=image,
        quote_boxes=boxes[0],
        match_boxes=boxes[1],
        highlights=colored,
        highlight_boxes=tuple(colored_boxes),
        lines=page_images.text_lines(document, page, image) if image else (),
        ocr_percent=round(100 * ocr.score_of(document, number)),
    )


def _numbered_section(document: Document, number: int, headings: Sequence[str]) -> str:
    """Return the last heading with a number, of these on a page or else before it; "" if it is the
    last one at all, or if there is none.
    """
    before = (str(title) for _, title, page in document.outline if page < number)
    numbered = [title for title in (*before, *headings) if number_of(title)]
    is_last = not headings or bool(number_of(headings[-1]))
    return numbered[-1] if numbered and not is_last else ""


def find_image_document(scope: Scope, source_id: UUID, number: int) -> Document:
    """Return the document of a page with an image. Raises ``SourceNotFound``, ``PageNotFound``."""
    source, _ = _find_page(scope, source_id, number)
    if not source.document.format.is_laid_out:
        raise PageNotFound(
            f"The pages of “{source.title}” have no images.", hint="They are shown as text."
        )
    return source.document


def span_of_page(source: Source, number: int) -> Span:
    """Return the characters of a page in its source's text; none of a page that is not there."""
    page = Page.objects.filter(document=source.pk, number=number).only("start", "blocks").first()
    return (page.start, page.end) if page else (0, 0)


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
        hint="They appear once it is processed; the Activity page shows the progress.",
    )


def continue_tables(page: Page, markup: str) -> str:
    """Join the parts of long tables, and put the header of one that began on an earlier page above
    its rows on this one.

    ``markup`` is the page's sanitised HTML, with marks or without. The header is no part of the
    page's text, and cannot be selected.
    """
    joined = _GAP.sub(_between_parts, markup)
    first = _FIRST_ROW.match(joined)
    if first is None or _is_header(first["cells"]):
        return joined
    header = _header_before(page, columns=_columns(first["cells"]))
    return joined.replace("<table>", f"<table>{header}", 1)


def _between_parts(gap: re.Match[str]) -> str:
    """Return what stands between two tables: nothing if the second has no header, and as many
    columns as the last row of the first.
    """
    before = gap.string[: gap.start()]
    last = before[before.rfind("<tr>") :]
    is_part = not _is_header(gap["cells"]) and _columns(gap["cells"]) == _columns(last)
    return "" if is_part else gap[0]


def _header_before(page: Page, *, columns: int) -> str:
    """Return the header of the table of so many columns that ends the page before; "" if none."""
    earlier = Page.objects.filter(document=page.document_id, number__lt=page.number)
    pages = earlier.order_by("-number").values_list("html", flat=True).iterator(chunk_size=10)
    for html in map(sanitize, islice(pages, MAX_PAGES)):
        end = _TABLES_AT_END.search(html)
        if end is None:
            return ""
        for table in reversed(re.findall(_TABLE, end[0], re.DOTALL)):
            first = _FIRST_ROW.match(table)
            if first is None or _columns(first["cells"]) != columns:
                return ""
            if _is_header(first["cells"]):
                return f'<thead class="repeated"><tr>{first["cells"]}</tr></thead>'
        if html[: end.start()].strip():
            return ""
    return ""


def _columns(row: str) -> int:
    return len(_CELL.findall(row))


def _is_header(cells: str) -> bool:
    return "<th" in cells
