"""Opens documents; divides those without pages of their own into some of about 3,000 characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.utils.module_loading import import_string

from citations.errors import DocumentBroken, DocumentTooLarge
from citations.formats import DocumentFormat
from citations.readers.headings import PlacedHeading, find_labels, key_of, levels_by_number
from citations.readers.page import Facts, OutlineEntry, Paragraph, ReadPage
from citations.text.sentences import CLOSERS, FULL_STOPS, STOPS, between_letters
from transcripts.core.errors import told_as

UNREADABLE: Final = "The document cannot be read: the program that reads it failed."
MAX_PAGE = 3_000  # characters of a page at most
MAX_SLIDE = 100_000  # characters of a slide and its notes
FULL_ENOUGH = 0.6  # of a page: a heading after that begins the next page
MAX_HEADING = 300  # characters; a longer one becomes a paragraph
MAX_ENTRIES = 5_000  # of an outline


class MarkupBlock(NamedTuple):
    """A paragraph, list, table or program; with a ``level`` (1–6) a heading.

    ``html`` has the same words, "" where it is not known. ``page`` is the number of the slide that
    has it, 0 in documents without pages of their own.
    """

    text: str
    level: int = 0
    html: str = ""
    page: int = 0

    @property
    def markup(self) -> str:
        """The block as HTML."""
        return self.html or f"<p>{escape(self.text).replace(chr(10), '<br>')}</p>"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document being read. Iterating over ``pages`` may raise what the reader raises."""

    facts: Facts
    pages: Iterable[ReadPage]


def open_document(
    path: Path, format: DocumentFormat, *, most_pages: int, first: int = 1, **more: Any
) -> OpenDocument:
    """Open a file to read its pages from number ``first`` on; ``more`` is for its reader alone.

    Raises ``DocumentEncrypted``, ``DocumentBroken`` and ``DocumentTooLarge``, at once or while
    iterating over the pages.
    """
    with told_as(DocumentBroken, UNREADABLE):
        reader = import_string(format.reader)
        opened: OpenDocument = reader(path, most_pages=most_pages, first=first, **more)
    return replace(opened, pages=_read(opened.pages))


def _read(pages: Iterable[ReadPage]) -> Iterator[ReadPage]:
    with told_as(DocumentBroken, UNREADABLE):
        yield from pages


def paginate(
    pieces: Iterable[MarkupBlock], *, most_pages: int, first: int = 1, title: str = "", **facts: str
) -> OpenDocument:
    """Divide pieces into pages; return those from ``first`` on. Raises ``DocumentTooLarge``.

    ``facts`` are others of ``Facts``, such as the author.
    """
    layout = _Layout(most_pages=most_pages)
    fitted = _without_labels(list(chain.from_iterable(_fitted(piece) for piece in pieces)))
    for piece in fitted:
        layout.add(piece)
    layout.end_page()
    all_facts = Facts(
        page_count=len(layout.pages),
        title=title or _title_at_top(fitted),
        outline=tuple(levels_by_number(layout.outline)),
        **facts,
    )
    return OpenDocument(facts=all_facts, pages=layout.pages[first - 1 :])


def paginate_slides(
    pieces: Iterable[MarkupBlock],
    *,
    count: int,
    most_pages: int,
    first: int = 1,
    title: str = "",
    **facts: str,
) -> OpenDocument:
    """Make a page of each of ``count`` slides, and return those from ``first`` on.

    Each begins a section, which is called by its title. Raises ``DocumentTooLarge``.
    """
    if count > most_pages:
        raise DocumentTooLarge(f"The document has {count} pages; the limit is {most_pages}.")
    layout = _Layout(most_pages=most_pages)
    by_slide = {number: [*own] for number, own in groupby(pieces, key=lambda piece: piece.page)}
    for number in range(1, count + 1):
        layout.add_slide(by_slide.get(number, ()))
    titles = [piece.text for piece in by_slide.get(1, ()) if piece.level]
    all_facts = Facts(
        page_count=count,
        title=title or " ".join("".join(titles[:1]).split()),
        outline=tuple(layout.outline),
        **facts,
    )
    return OpenDocument(facts=all_facts, pages=layout.pages[first - 1 :])


def _without_labels(pieces: Sequence[MarkupBlock]) -> list[MarkupBlock]:
    """Return the pieces, where headings such as “Hint” are no headings but the words they are."""
    starts = accumulate((len(piece.text) for piece in pieces), initial=0)
    headings = [
        PlacedHeading(piece.text, start, piece.level)
        for piece, start in zip(pieces, starts, strict=False)
        if piece.level
    ]
    labels = find_labels(headings)
    return [
        piece._replace(level=0) if piece.level and key_of(piece.text) in labels else piece
        for piece in pieces
    ]


def _title_at_top(pieces: Sequence[MarkupBlock]) -> str:
    """Return the heading of level 1 that stands before all text; "" if there are several, which are
    a book's chapters.
    """
    titles = [piece.text for piece in pieces if piece.level == 1]
    is_title = len(titles) == 1 and pieces[0].level == 1
    return " ".join(titles[0].split()) if is_title else ""


@dataclass(slots=True)
class _Layout:
    most_pages: int
    pages: list[ReadPage] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    heading: str = ""
    after_heading: bool = False
    _pieces: list[MarkupBlock] = field(default_factory=list)
    _blocks: list[Paragraph] = field(default_factory=list)
    _length: int = 0

    def add(self, piece: MarkupBlock) -> None:
        """Add a piece to this page, or to the next if it does not fit or is a late heading."""
        is_late = piece.level and self._length > FULL_ENOUGH * MAX_PAGE
        if self._length and (self._length + len(piece.text) > MAX_PAGE or is_late):
            self.end_page()
        self._place(piece)

    def add_slide(self, pieces: Iterable[MarkupBlock]) -> None:
        """Add a page of these pieces, even of none."""
        self.heading, self.after_heading = "", False
        for piece in pieces:
            if text := piece.text.strip():
                self._place(piece._replace(text=text))
        if self._length > MAX_SLIDE:
            raise DocumentTooLarge(f"A slide has more than {MAX_SLIDE:,} characters.")
        if self._blocks:
            self._blocks[0] = self._blocks[0]._replace(boundary=True)
            self.end_page()
        else:
            self.pages.append(ReadPage(number=len(self.pages) + 1, text="", is_blank=True))
        self.pages[-1] = replace(self.pages[-1], is_slide=True)

    def _place(self, piece: MarkupBlock) -> None:
        if piece.level:
            self.heading = piece.text
            if len(self.outline) < MAX_ENTRIES:
                title = " ".join(piece.text.split())
                self.outline.append(OutlineEntry(piece.level, title, len(self.pages) + 1))
        first = self._length + 2 if self._pieces else 0
        self._length = first + len(piece.text)
        boundary = bool(piece.level) and not self.after_heading
        self._blocks.append(Paragraph(first, self._length, self.heading, boundary))
        self._pieces.append(piece)
        self.after_heading = bool(piece.level)

    def end_page(self) -> None:
        if not self._pieces:
            return
        if len(self.pages) >= self.most_pages:
            raise DocumentTooLarge(
                f"It has more than {self.most_pages:,} pages of {MAX_PAGE:,} characters."
            )
        text = "\n\n".join(piece.text for piece in self._pieces)
        has_markup = any(piece.html for piece in self._pieces)
        page = ReadPage(
            number=len(self.pages) + 1,
            text=text,
            html="\n".join(piece.markup for piece in self._pieces) if has_markup else "",
            blocks=tuple(self._blocks),
            words=text.count(" ") + 1,
        )
        self.pages.append(page)
        self._pieces, self._blocks, self._length = [], [], 0


_SENTENCE_END = rf"[{STOPS}{FULL_STOPS}][{re.escape(CLOSERS)}]*\s|[{FULL_STOPS}]"
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n", _SENTENCE_END, r"\s"))


def _fitted(piece: MarkupBlock) -> Iterator[MarkupBlock]:
    """Strip a piece and split it if it is longer than a page."""
    text = piece.text.strip("\n").rstrip() if not piece.level else piece.text.strip()
    if not text.strip():
        return
    if len(text) <= MAX_PAGE:
        level = piece.level if len(text) <= MAX_HEADING else 0
        yield MarkupBlock(text, level, piece.html)
        return
    start = 0
    while len(text) - start > MAX_PAGE:
        stop = _split_offset(text, start)
        if part := text[start:stop].rstrip():
            yield MarkupBlock(part)
        start = stop
    if rest := text[start:].strip():
        yield MarkupBlock(rest)


def _split_offset(text: str, start: int) -> int:
    """Return where a part ends: after a line, sentence, word, or else between two letters."""
    for pattern in _BREAKS:
        ends = [
            match.end() for match in pattern.finditer(text, start + MAX_PAGE // 2, start + MAX_PAGE)
        ]
        if ends:
            return ends[-1]
    return between_letters(text, start + MAX_PAGE)
