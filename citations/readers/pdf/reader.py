"""PDF files: their pages as text, as pictures, and where on a page its characters stand.

PDFium runs in child processes (see ``pdfium``), one that reads and one that draws: a file that keeps one busy does not keep pages from being shown.
What it gives is laid out here. A page reads the same whenever it is read, so that characters of a stored page are found on it again.
"""

import json
import time
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from citations.errors import DocumentBroken, DocumentEncrypted, DocumentTooLarge, PageNotFound
from citations.readers.page import Box, Facts, OutlineEntry, Paragraph, ReadPage
from citations.readers.pdf.glyph_repair import repair_glyphs
from citations.readers.pdf.headers_footers import REACH, Edges, edge_lines, find_headers_footers
from citations.readers.pdf.layout import Glyphs, TextLine, lay_out
from citations.readers.pdf.paragraphs import Prose, ProsePiece, compose
from citations.readers.sandbox import ChildExited, ChildProcess, ChildReply, ChildTimeout

VERSION = "pdf 1"
"""Changes whenever the same file would give other pages; it goes into ``Document.read_by``."""
PICTURE_TYPE = "image/webp"
"""What ``render`` gives."""
PAGE_TIME = 20.0  # seconds for a page: a hundred times what a heavy one needs
OPENING_TIME = 60.0
READING_TIME = 3_600.0  # for all pages: a book takes minutes
LEAST_WIDTH, MOST_WIDTH = 50, 4_000  # pixels of a picture
MOST_LOST = 3  # pages at the beginning, and none that can be read
MOST_SLOW = 5  # pages that take too long; then it is not the page
KEPT_PAGES = 24  # laid out; one of the largest takes ten megabytes
LEAST_OUTLINE = 3  # pages with entries; an outline of fewer tells nothing
LONGEST_TITLE, LEAST_SECTION = 300, 200  # characters

_PROGRAM = Path(__file__).with_name("worker.py")
_READING, _DRAWING = ChildProcess(_PROGRAM), ChildProcess(_PROGRAM)


class _TooSlow(DocumentBroken):
    """A page that took longer than any page should."""


def describe(path: Path) -> Facts:
    """Return what the file says of itself: number of pages, title, author, outline.

    Raises:
        DocumentEncrypted, DocumentBroken: it cannot be opened.
    """
    facts = json.loads(_ask(_READING, path, "describe", OPENING_TIME).blobs[0])
    if facts["page_count"] < 1:
        raise DocumentBroken("The PDF has no pages.")
    outline = (OutlineEntry(level, _clean(title), page) for level, title, page in facts["outline"])
    return Facts(
        page_count=facts["page_count"],
        title=_told(facts["title"]),
        author=_told(facts["author"]),
        language=_clean(facts["language"]),
        outline=tuple(entry for entry in outline if entry.title),
    )


def read(path: Path, *, most_pages: int, first: int = 1) -> Iterator[ReadPage]:
    """Yield the pages from number ``first`` on, a few of them in memory at a time. A page that cannot be read is yielded without text.

    Raises:
        DocumentTooLarge: it has more than ``most_pages``.
        DocumentEncrypted, DocumentBroken: it cannot be opened, none of its pages can be read, or they take more than ``READING_TIME`` together.
    """
    facts = describe(path)
    if facts.page_count > most_pages:
        raise DocumentTooLarge(
            f"The document has {facts.page_count} pages; at most {most_pages} are taken."
        )
    headings = _Headings(facts.outline, first)
    lost = slow = 0
    spent = 0.0
    for number in range(first, facts.page_count + 1):
        begun = time.monotonic()
        try:
            page = _read_page(path, number, headings)
        except DocumentBroken as error:
            lost, slow = lost + 1, slow + isinstance(error, _TooSlow)
            if slow == MOST_SLOW or (
                lost == number - first + 1 and (lost == MOST_LOST or number == facts.page_count)
            ):
                raise
            page = ReadPage(number=number, text="", is_picture=True)
        spent += time.monotonic() - begun
        if spent > READING_TIME:
            raise _TooSlow(
                f"The PDF takes too long: page {number} of {facts.page_count} was reached within {READING_TIME / 60:.0f} minutes."
            )
        yield page


def render(path: Path, page: int, *, width: int) -> bytes:
    """Return a picture (WebP) of the page, ``width`` pixels wide; fewer where it would have more pixels than anybody can look at.

    Raises:
        PageNotFound, DocumentEncrypted, DocumentBroken
    """
    return _ask(
        _DRAWING,
        path,
        "render",
        PAGE_TIME,
        number=page,
        width=min(max(width, LEAST_WIDTH), MOST_WIDTH),
    ).blobs[0]


def boxes(path: Path, page: int, first: int, last: int) -> list[Box]:
    """Return where the characters [first, last) of the page's text stand on it as it is shown: a box for each piece of a line, in reading order."""
    identity = _identity(path)
    laid, prose = _laid_out(identity, page), _prose(identity, page)
    marked: OrderedDict[int, list[int]] = OrderedDict()
    for glyph, line in zip(
        prose.origin[max(0, first) : last], prose.lines[max(0, first) : last], strict=True
    ):
        if glyph >= 0:
            marked.setdefault(line, []).append(glyph)
    return [_box(laid, laid.lines[line], glyphs) for line, glyphs in marked.items()]


# Pages


@dataclass(frozen=True, slots=True)
class _LaidOut:
    """A page's lines in reading order, and what is known of the page."""

    glyphs: Glyphs
    lines: list[TextLine]
    label: str
    is_drawn_on: bool
    page_count: int


Identity: TypeAlias = tuple[
    str, int, int
]  # path, inode, bytes: a file that is there is never changed, though its time is when it is used


def _read_page(path: Path, number: int, headings: "_Headings") -> ReadPage:
    identity = _identity(path)
    laid, prose = _laid_out(identity, number), _prose(identity, number)
    return ReadPage(
        number=number,
        text=prose.text,
        label=laid.label,
        blocks=tuple(headings.paragraphs(number, prose)),
        is_picture=not prose.text and laid.is_drawn_on,
        words=prose.words,
        mended=prose.mended,
        garbled=prose.garbled,
    )


@lru_cache(maxsize=16)
def _prose(identity: Identity, number: int) -> Prose:
    laid = _laid_out(identity, number)
    near = range(max(1, number - REACH), min(laid.page_count, number + REACH) + 1)
    others = [(page, _edges_of(identity, page)) for page in near if page != number]
    return compose(
        laid.glyphs,
        laid.lines,
        without=find_headers_footers(number, _edges_of(identity, number), others),
    )


def _identity(path: Path) -> Identity:
    stat = path.stat()
    return str(path), stat.st_ino, stat.st_size


@lru_cache(maxsize=KEPT_PAGES)
def _laid_out(identity: Identity, number: int) -> _LaidOut:
    answer = _ask(_READING, Path(identity[0]), "read", PAGE_TIME, number=number)
    glyphs = _glyphs(answer)
    head = answer.head
    return _LaidOut(
        glyphs, lay_out(glyphs), _clean(head["label"]), head["is_drawn_on"], head["page_count"]
    )


def _glyphs(answer: ChildReply) -> Glyphs:
    codes, styles, places = (
        array("I", answer.blobs[0]),
        array("B", answer.blobs[1]),
        array("f", answer.blobs[2]),
    )
    return Glyphs(
        width=answer.head["width"],
        height=answer.head["height"],
        codes=codes,
        styles=styles,
        places=places,
    )


@lru_cache(maxsize=4 * KEPT_PAGES)
def _edges_of(identity: Identity, number: int) -> Edges:
    """Return the lines near the upper and lower edge of a page; none of one that cannot be read."""
    try:
        laid = _laid_out(identity, number)
    except DocumentBroken:
        return ()
    return edge_lines(laid.glyphs, laid.lines)


def _box(laid: _LaidOut, line: TextLine, marked: list[int]) -> Box:
    """Return the rectangle around the marked glyphs; across the line it is as high as the line's letters, so that boxes of a line are alike."""
    glyphs, size = laid.glyphs, line.main.size
    around = [glyphs.box(index) for index in marked]
    high = [
        box
        for box in map(glyphs.box, (index for index in line.main.glyphs if index >= 0))
        if max(box[3] - box[1], box[2] - box[0]) < 1.6 * size
    ]
    is_upright = line.main.turn in (0, 2)
    across, down = (around, around + high) if is_upright else (around + high, around)
    left, right = min(box[0] for box in across), max(box[2] for box in across)
    top, bottom = min(box[1] for box in down), max(box[3] for box in down)
    left, right = (min(max(edge / glyphs.width, 0.0), 1.0) for edge in (left, right))
    top, bottom = (min(max(edge / glyphs.height, 0.0), 1.0) for edge in (top, bottom))
    return Box(left, top, right - left, bottom - top)


# Headings


class _Headings:
    """Knows which heading a paragraph stands under, while the pages go by: the outline's titles where there is an outline, else what looks like one."""

    def __init__(self, outline: Sequence[OutlineEntry], first: int) -> None:
        self._by_page: dict[int, list[str]] = {}
        for entry in outline:
            self._by_page.setdefault(entry.page, []).append(entry.title)
        self._has_outline = len(self._by_page) >= LEAST_OUTLINE
        before = [page for page in self._by_page if page < first]
        self._now = self._by_page[max(before)][-1] if before and self._has_outline else ""

    def paragraphs(self, number: int, prose: Prose) -> Iterator[Paragraph]:
        """Yield the page's paragraphs. What looks like a heading begins a section unless only a few words have passed since the last one."""
        titles = list(self._by_page.get(number, ())) if self._has_outline else []
        starts = self._starts(titles, prose)
        section = -LEAST_SECTION  # where the last one began
        follows_heading = False
        for place, piece in enumerate(prose.pieces):
            self._pass(prose, piece, starts.get(place), follows_heading=follows_heading)
            is_new = place in starts or (
                piece.is_heading and not follows_heading and piece.first - section >= LEAST_SECTION
            )
            section = piece.first if is_new else section
            follows_heading = piece.is_heading or place in starts
            yield Paragraph(piece.first, piece.last, self._now, is_new)
        if titles and not prose.pieces:
            self._now = titles[-1]

    def _pass(
        self, prose: Prose, piece: ProsePiece, title: str | None, *, follows_heading: bool
    ) -> None:
        """Note which heading holds from a paragraph on; a heading right below another goes on with it."""
        if title is not None:
            self._now = title
        elif piece.is_heading and not self._has_outline:
            own = _clean(prose.text[piece.first : piece.last])
            self._now = (f"{self._now} {own}" if follows_heading else own)[:LONGEST_TITLE]

    def _starts(self, titles: list[str], prose: Prose) -> dict[int, str]:
        """Say which paragraphs the outline's titles of the page begin at: those that say the same, else the first one for the first of them."""
        starts: dict[int, str] = {}
        words = [_letters(prose.text[piece.first : piece.last]) for piece in prose.pieces]
        after = 0
        for title in titles:
            wanted = _letters(title)
            found = next(
                (place for place in range(after, len(words)) if _says(words[place], wanted)), None
            )
            if found is None:
                starts.setdefault(after if starts else 0, title)
                continue
            starts[found] = title
            after = found + 1
        return {place: title for place, title in starts.items() if place < len(words)}


def _says(words: str, wanted: str) -> bool:
    """Say whether a paragraph is a title, or begins with it as far as a heading is long; numbers before either do not matter."""
    return (
        bool(wanted)
        and bool(words)
        and (words.startswith(wanted) or (len(words) > 5 and wanted.endswith(words)))
        and len(words) < 3 * len(wanted) + 20
    )


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalpha())


def _clean(text: str) -> str:
    """Return a title on one line, without what must not reach a database."""
    letters = (letter if letter.isprintable() else " " for letter in repair_glyphs(text).text)
    return " ".join("".join(letters).split())


def _told(text: str) -> str:
    """Return what people wrote, nothing for what programs write when nobody did."""
    text = _clean(text)
    return (
        ""
        if text.casefold().strip("()")
        in ("untitled", "anonymous", "unspecified", "unknown", "none")
        else text
    )


# Errors


def _ask(child: ChildProcess, path: Path, deed: str, seconds: float, **about: Any) -> ChildReply:
    try:
        answer = child.ask({"do": deed, "path": str(path), **about}, seconds=seconds)
    except ChildTimeout as error:
        raise _TooSlow(
            f"The PDF takes too long: no answer{_where(about)} within {seconds:.0f} seconds."
        ) from error
    except ChildExited as error:
        raise DocumentBroken(
            f"The PDF cannot be read: the program that reads it failed{_where(about)}."
        ) from error
    _check(answer.head.get("refused"), about)
    return answer


def _where(about: dict[str, Any]) -> str:
    return f" on page {about['number']}" if "number" in about else ""


def _check(refused: str | None, about: dict[str, Any]) -> None:
    if refused == "encrypted":
        raise DocumentEncrypted("The PDF opens only with a password.")
    if refused == "no such page":
        raise PageNotFound(f"The document has no page {about.get('number')}.")
    if refused:
        raise DocumentBroken(f"The PDF cannot be read{_where(about)}: it is damaged, or no PDF.")
