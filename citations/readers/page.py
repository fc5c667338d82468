"""What every reader of files gives: pages of text with their paragraphs, and what is known of the document as a whole. Pure values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

SHOWN_RANGES = 8  # of page numbers in a note


class Paragraph(NamedTuple):
    """A paragraph of a page: its characters [first, last) in the page's text, the heading it stands under, and whether something new begins with it
    (a heading): no chunk reaches over that. As JSON it is the list that ``Page.blocks`` keeps.
    """

    first: int
    last: int
    heading: str = ""
    boundary: bool = False


class OutlineEntry(NamedTuple):
    """A line of a document's outline: ``level`` counts from 1, ``page`` too. As JSON it is the list that ``Document.outline`` keeps."""

    level: int
    title: str
    page: int


class Box(NamedTuple):
    """A rectangle on a page as it is shown, in fractions (0–1) of its width and height; (0, 0) is the upper left corner."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """A page as it was read. ``text`` is cleaned; its paragraphs do not overlap, are in reading order, and what lies between two is blank.

    ``label`` is the number printed on it (xii) where the file tells it. ``is_picture``: something is drawn on it, but there is no text.
    """

    number: int  # counted from 1
    text: str
    label: str = ""
    blocks: tuple[Paragraph, ...] = ()
    is_picture: bool = False
    words: int = 0
    mended: int = 0  # words whose wrong letters were put right
    garbled: int = 0  # words that still carry letters that cannot be right


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a file says of itself before its pages are read. Texts are cleaned and of bounded length."""

    page_count: int
    title: str = ""
    author: str = ""
    language: str = ""
    outline: tuple[OutlineEntry, ...] = ()


@dataclass(slots=True)
class Survey:
    """Gathers what is worth saying about a document while its pages go by; memory is bounded by the number of pages without text."""

    pages: int = 0
    words: int = 0
    mended: int = 0
    garbled: int = 0
    pictures: list[int] = field(default_factory=list)

    def watch(self, pages: Iterable[ReadPage]) -> Iterator[ReadPage]:
        """Yield the pages as they come, and count them."""
        for page in pages:
            self.add(page)
            yield page

    def add(self, page: ReadPage) -> None:
        """Count a page."""
        self.pages += 1
        self.words += page.words
        self.mended += page.mended
        self.garbled += page.garbled
        if page.is_picture:
            self.pictures.append(page.number)

    def note(self) -> str:
        """Say in sentences what the user should know; empty when all is well."""
        return " ".join(filter(None, (self._about_pictures(), self._about_glyphs())))

    def _about_pictures(self) -> str:
        if not self.pictures:
            return ""
        some = f"{_ranges(self.pictures)} of {self.pages}"
        return f"No text on page{'s' * (len(self.pictures) > 1)} {some}: pictures whose words would have to be recognised (OCR) first."

    def _about_glyphs(self) -> str:
        if self.mended + self.garbled < max(3, self.words / 200):
            return ""
        share = round(100 * (self.mended + self.garbled) / max(1, self.words))
        done = (
            "they were put right."
            if not self.garbled
            else f"{_share(self.mended, self.mended + self.garbled)} were put right, searches may miss the others."
        )
        return f"The text layer of this file is broken: about {max(1, share)} % of its words carry wrong letters; {done}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part // whole} %" if part else "none"


def _ranges(numbers: list[int]) -> str:
    """Write 1, 2, 3, 7 as “1–3, 7”; only the first few, then “…”."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    shown = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:SHOWN_RANGES]]
    return ", ".join(shown) + (", …" if len(runs) > SHOWN_RANGES else "")
