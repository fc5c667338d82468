"""PDF files: the text of their pages, their images, and the boxes of their characters.

PDFium runs in two child processes (see ``worker``), so that a slow file does not keep pages from
being rendered. A page always reads the same, so that stored characters can be located on it.
"""

import json
import time
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from citations.errors import (
    DocumentBroken,
    DocumentEncrypted,
    DocumentTooLarge,
    PageImageBusy,
    PageNotFound,
)
from citations.readers.page import Box, Facts, OutlineEntry, ReadPage
from citations.readers.pagination import OpenDocument
from citations.readers.pdf.boxes import box_around, level_pieces
from citations.readers.pdf.glyph_cleaning import clean
from citations.readers.pdf.glyph_repair import is_gibberish
from citations.readers.pdf.headers_footers import (
    AFTER,
    BEFORE,
    PageRows,
    find_headers_footers,
    page_rows,
)
from citations.readers.pdf.layout import TextLine, lay_out
from citations.readers.pdf.notes import add_notes
from citations.readers.pdf.ocr_page import OcrLookup
from citations.readers.pdf.paragraphs import Prose, compose
from citations.readers.pdf.raised_figures import with_raised_figures
from citations.readers.pdf.runs import Glyphs
from citations.readers.pdf.sections import Headings, one_line
from citations.readers.sandbox import ChildBusy, ChildExited, ChildProcess, ChildReply, ChildTimeout
from transcripts.core.errors import told_as

PICTURE_TYPE = "image/webp"  # of ``render``
PAGE_TIME = 20.0  # seconds for a page: a hundred times what a large one needs
OPENING_TIME = 60.0
DRAWING_TURN = 5.0  # seconds that a page waits for those being drawn; most take a tenth
READING_TIME = 3_600.0  # for all pages; a book takes minutes
MIN_WIDTH, MAX_WIDTH = 50, 4_000  # pixels of a picture
MAX_LOST = 3  # unreadable pages at the beginning
MAX_SLOW = 5  # pages that take too long
KEPT_PAGES = 24  # in memory; the largest take ten megabytes
MAX_SLIDE = 1_500  # characters of a page in landscape that is one

_PROGRAM = Path(__file__).with_name("worker.py")
_reading = told_as(DocumentBroken, "The PDF cannot be read: the program that reads it failed.")
_READER, _RENDERER = ChildProcess(_PROGRAM), ChildProcess(_PROGRAM)


class _TooSlow(DocumentBroken):
    """A page took too long."""


@_reading
def describe(path: Path) -> Facts:
    """Return the file's metadata. Raises ``DocumentEncrypted`` and ``DocumentBroken``."""
    facts = json.loads(_ask(_READER, path, "describe", OPENING_TIME).blobs[0])
    if facts["page_count"] < 1:
        raise DocumentBroken("The PDF has no pages.")
    outline = (
        OutlineEntry(level, one_line(title), page) for level, title, page in facts["outline"]
    )
    return Facts(
        page_count=facts["page_count"],
        title=_meaningful(facts["title"]),
        author=_meaningful(facts["author"]),
        language=one_line(facts["language"]),
        note=_note(facts),
        outline=tuple(entry for entry in outline if entry.title),
    )


def open_pdf(
    path: Path, *, most_pages: int, first: int = 1, ocr: OcrLookup | None = None
) -> OpenDocument:
    """Open a file; its pages are read on demand. Raises what ``describe`` and ``read`` raise."""
    pages = read(path, most_pages=most_pages, first=first, ocr=ocr)
    return OpenDocument(facts=describe(path), pages=pages)


def read(
    path: Path, *, most_pages: int, first: int = 1, ocr: OcrLookup | None = None
) -> Iterator[ReadPage]:
    """Yield the pages from number ``first`` on; an unreadable page has no text.

    Where ``ocr`` has read a page, it has those words instead of its text layer's.

    Raises ``DocumentTooLarge`` for more than ``most_pages``, ``DocumentEncrypted``, and
    ``DocumentBroken`` for an unreadable file or one that takes longer than ``READING_TIME``.
    """
    facts = describe(path)
    if facts.page_count > most_pages:
        raise DocumentTooLarge(
            f"The document has {facts.page_count} pages; the limit is {most_pages}."
        )
    headings = Headings(facts.outline, first)
    lost = slow = 0
    spent = 0.0
    for number in range(first, facts.page_count + 1):
        began = time.monotonic()
        try:
            page = _read_page(_identity(path, ocr), number, headings)
        except DocumentBroken as error:
            lost, slow = lost + 1, slow + isinstance(error, _TooSlow)
            if slow == MAX_SLOW or (
                lost == number - first + 1 and (lost == MAX_LOST or number == facts.page_count)
            ):
                raise
            page = ReadPage(number=number, text="", is_lost=True)
        spent += time.monotonic() - began
        if spent > READING_TIME:
            raise _TooSlow(
                f"The PDF takes too long: after {READING_TIME / 60:.0f} minutes, page {number} of"
                f" {facts.page_count} was reached."
            )
        yield page


@_reading
def render(path: Path, page: int, *, width: int) -> bytes:
    """Return a WebP image of the page, ``width`` pixels wide, or less if it would be too large.

    Raises ``PageNotFound``, ``DocumentEncrypted``, ``DocumentBroken``, and ``PageImageBusy`` if
    another page takes long.
    """
    width = min(max(width, MIN_WIDTH), MAX_WIDTH)
    about = {"number": page, "width": width}
    return _ask(_RENDERER, path, "render", PAGE_TIME, turn=DRAWING_TURN, **about).blobs[0]


def render_at(path: Path, page: int, *, dpi: float, most: int) -> bytes:
    """Return an image as ``render`` does, in dots per inch, with at most so many a side."""
    glyphs = _laid_out(_identity(path, None), page).glyphs
    scale = min(dpi / 72, most / max(glyphs.width, glyphs.height))
    return render(path, page, width=round(scale * glyphs.width))


@_reading
def boxes(
    path: Path, page: int, first: int, last: int, *, ocr: OcrLookup | None = None
) -> list[Box]:
    """Return the boxes of characters [first, last) of the page's text: one for each line, or
    several that follow a line which is not level.
    """
    identity = _identity(path, ocr)
    laid, prose = _laid_out(identity, page), _prose(identity, page)
    marked: OrderedDict[int, list[int]] = OrderedDict()
    glyph_range = slice(max(0, first), last)
    for glyph, line in zip(prose.origin[glyph_range], prose.lines[glyph_range], strict=True):
        if glyph >= 0:
            marked.setdefault(line, []).append(glyph)
    return [
        box_around(laid.glyphs, laid.lines[line], piece)
        for line, glyphs in marked.items()
        for piece in level_pieces(laid.glyphs, glyphs)
    ]


@_reading
def text_lines(
    path: Path, page: int, *, ocr: OcrLookup | None = None
) -> list[tuple[int, int, Box]]:
    """Return the lines of the page's text, as characters [first, last), and where they stand."""
    identity = _identity(path, ocr)
    laid, prose = _laid_out(identity, page), _prose(identity, page)
    lines = []
    first = 0
    for line, run in groupby(prose.lines):
        last = first + sum(1 for _ in run)
        glyphs = [glyph for glyph in prose.origin[first:last] if glyph >= 0]
        if glyphs and laid.lines[line].main.turn == 0:
            lines.append((first, last, box_around(laid.glyphs, laid.lines[line], glyphs)))
        first = last
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _LaidOut:
    """A page's lines in reading order, and its facts."""

    glyphs: Glyphs
    lines: list[TextLine]
    label: str
    page_count: int
    is_drawn_on: bool
    is_by_ocr: bool
    has_layers_off: bool


# Path, inode, bytes. Files are never changed in place; their time is that of the last use.
Identity: TypeAlias = tuple[str, int, int, OcrLookup | None]


@_reading
def _read_page(identity: Identity, number: int, headings: Headings) -> ReadPage:
    laid, prose = _laid_out(identity, number), _prose(identity, number)
    is_slide = _is_slide(laid, prose)
    return ReadPage(
        number=number,
        text=prose.text,
        label=laid.label,
        blocks=tuple(headings.paragraphs(number, prose, is_slide=is_slide)),
        is_slide=is_slide,
        is_picture=not prose.text and laid.is_drawn_on and not laid.is_by_ocr,
        is_blank=not prose.text and not laid.is_drawn_on,
        has_layers_off=laid.has_layers_off,
        words=prose.words,
        repaired=prose.repaired,
        garbled=prose.words if is_gibberish(prose.text) else prose.garbled,
    )


@lru_cache(maxsize=16)
def _prose(identity: Identity, number: int) -> Prose:
    laid = _laid_out(identity, number)
    near = range(max(1, number - BEFORE), min(laid.page_count, number + AFTER) + 1)
    others = [(page, _rows_of(identity, page)) for page in near if page != number]
    own = _rows_of(identity, number)
    edges = find_headers_footers(number, own, others, page_count=laid.page_count)
    return compose(laid.glyphs, laid.lines, edges=edges)


def _is_slide(laid: _LaidOut, prose: Prose) -> bool:
    return laid.glyphs.width > laid.glyphs.height and len(prose.text) < MAX_SLIDE


def _identity(path: Path, ocr: OcrLookup | None) -> Identity:
    stat = path.stat()
    return str(path), stat.st_ino, stat.st_size, ocr


@lru_cache(maxsize=KEPT_PAGES)
@_reading
def _laid_out(identity: Identity, number: int) -> _LaidOut:
    answer = _ask(_READER, Path(identity[0]), "read", PAGE_TIME, number=number)
    head = answer.head
    codes, styles, geometry, angles = answer.blobs
    glyphs = Glyphs(
        width=head["width"],
        height=head["height"],
        codes=array("I", codes),
        styles=array("B", styles),
        geometry=array("f", geometry),
        angles=array("f", angles),
    )
    ocr = identity[3](number) if identity[3] else None
    is_ocr = ocr and (ocr.is_readable or not codes)
    glyphs = ocr.glyphs(glyphs.width, glyphs.height) if ocr and is_ocr else clean(glyphs)
    if head["notes"]:
        glyphs = add_notes(glyphs, head["notes"])
    lines = lay_out(glyphs)
    return _LaidOut(
        glyphs=with_raised_figures(glyphs, lines),
        lines=lines,
        label=one_line(head["label"]),
        page_count=head["page_count"],
        is_drawn_on=head["is_drawn_on"],
        is_by_ocr=ocr is not None,
        has_layers_off=head["has_layers_off"],
    )


@lru_cache(maxsize=4 * KEPT_PAGES)
def _rows_of(identity: Identity, number: int) -> PageRows:
    """Return the rows of a page, none of an unreadable one."""
    try:
        laid = _laid_out(identity, number)
    except DocumentBroken:
        return PageRows()
    return page_rows(laid.glyphs, laid.lines)


def _note(facts: dict[str, Any]) -> str:
    """Return what a file has beside its pages, which is not read."""
    notes = []
    if facts["is_xfa"]:
        notes.append("It has a form in XFA, which is not read: only what pages show without it.")
    if (count := facts["attachments"]) > 0:
        notes.append(f"Attached files that are not read: {count}.")
    return " ".join(notes)


def _meaningful(text: str) -> str:
    """Return a title or author, "" for a program's placeholder."""
    text = one_line(text)
    return "" if text.casefold().strip("()") in _PLACEHOLDERS else text


_PLACEHOLDERS = ("untitled", "anonymous", "unspecified", "unknown", "none")


def _ask(
    child: ChildProcess, path: Path, action: str, seconds: float, *, turn: float = -1, **about: Any
) -> ChildReply:
    page = about.get("number")
    try:
        request = {"do": action, "path": str(path), **about}
        answer = child.ask(request, seconds=seconds, turn=turn)
    except ChildBusy as error:
        raise PageImageBusy("Another page is being drawn and takes long.") from error
    except ChildTimeout as error:
        raise _TooSlow(
            f"The PDF takes too long: page {page} was not read within {seconds:.0f} seconds."
            if page
            else f"The PDF takes too long: no answer within {seconds:.0f} seconds."
        ) from error
    except ChildExited as error:
        raise DocumentBroken(
            f"The PDF cannot be read: the program that reads it failed on page {page}."
            if page
            else "The PDF cannot be read: the program that reads it failed."
        ) from error
    refused = answer.head.get("refused")
    if refused == "encrypted":
        raise DocumentEncrypted("The PDF opens only with a password.")
    if refused == "no such page":
        raise PageNotFound(f"The document has no page {page}.")
    if refused:
        raise DocumentBroken(
            f"The PDF cannot be read on page {page}: it is damaged, or no PDF."
            if page
            else "The PDF cannot be read: it is damaged, or no PDF."
        )
    return answer
