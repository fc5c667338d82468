"""Values that all readers of files return: pages with their paragraphs, and a document's facts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

SHOWN_RANGES = 8  # of page numbers in a note
MIN_GARBLED, GARBLED_SHARE = 3, 0.1  # words of a page whose text layer is of no use


class Paragraph(NamedTuple):
    """Characters [first, last) of a page's text, and the heading they stand under.

    A ``boundary`` starts something new: no chunk extends across it. ``Page.blocks`` stores it as a
    JSON list.
    """

    first: int
    last: int
    heading: str = ""
    boundary: bool = False


class OutlineEntry(NamedTuple):
    """An entry of a document's outline, stored as a JSON list; level and page from 1."""

    level: int
    title: str
    page: int


class Box(NamedTuple):
    """A rectangle on a displayed page, in fractions (0–1) of its size from the upper left."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPage:
    """A page as read. Paragraphs are in reading order and do not overlap. Behind the last, the text
    has the page's headers and footers: they are searched for, and belong to no passage.

    ``label`` is the printed page number (xii) if the file has one. ``is_picture``: the page shows
    something, but has no text. ``is_blank``: it shows nothing. ``is_lost``: it could not be read.
    """

    number: int  # counted from 1
    text: str
    html: str = ""  # the same words as a web page has them, "" where there is only text
    label: str = ""
    blocks: tuple[Paragraph, ...] = ()
    is_picture: bool = False
    is_blank: bool = False
    is_lost: bool = False
    is_slide: bool = False
    has_layers_off: bool = False  # with words, which are not read
    words: int = 0
    repaired: int = 0  # words whose wrong letters were corrected
    garbled: int = 0  # words that still have impossible letters

    @property
    def needs_ocr(self) -> bool:
        """Whether its words are only in its picture, or surely not those that it shows."""
        is_broken = self.garbled >= max(MIN_GARBLED, GARBLED_SHARE * self.words)
        return self.is_picture or is_broken


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Metadata of a file. Texts are cleaned and of limited length.

    ``published`` is a date as the file writes it, ``url`` the address that it names as its own.
    ``note`` is what the user should know of how it was read.
    """

    page_count: int
    title: str = ""
    author: str = ""
    language: str = ""
    published: str = ""
    url: str = ""
    note: str = ""
    outline: tuple[OutlineEntry, ...] = ()


@dataclass(slots=True)
class Survey:
    """Counts the flaws of a document's pages as they are read."""

    pages: int = 0
    words: int = 0
    repaired: int = 0
    garbled: int = 0
    pictures: list[int] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    layered: list[int] = field(default_factory=list)

    def add(self, page: ReadPage) -> None:
        self.pages += 1
        self.words += page.words
        self.repaired += page.repaired
        self.garbled += page.garbled
        if page.is_picture:
            self.pictures.append(page.number)
        if page.is_blank:
            self.blank.append(page.number)
        if page.is_lost:
            self.lost.append(page.number)
        if page.has_layers_off:
            self.layered.append(page.number)

    def note(self) -> str:
        """Return what the user should know about the text, "" if all is well."""
        notes = []
        if self.pictures:
            pages = named_pages(self.pictures, self.pages)
            notes.append(f"No text on {pages}: images whose words must be recognised (OCR) first.")
        if self.blank and not self.words:  # a book may have empty pages
            pages = named_pages(self.blank, self.pages)
            notes.append(
                f"No text on {pages}: they are empty, or filled by a program that is not run."
            )
        if self.lost:
            pages = named_pages(self.lost, self.pages)
            notes.append(f"No text on {pages}: the program that reads the file failed there.")
        if self.layered:
            pages = named_pages(self.layered, self.pages)
            notes.append(f"Layers that are switched off on {pages} have words that are not read.")
        wrong = self.repaired + self.garbled
        if wrong >= max(3, self.words / 200):
            share = max(1, round(100 * wrong / max(1, self.words)))
            repaired = f"{100 * self.repaired // wrong} %" if self.repaired else "none"
            result = (
                f"{repaired} were corrected, and searches may miss the others."
                if self.garbled
                else "they were corrected."
            )
            notes.append(
                "The text layer of this file is broken: "
                f"about {share} % of its words have wrong letters; {result}"
            )
        return " ".join(notes)


def named_pages(numbers: Sequence[int], count: int) -> str:
    """Write pages 1, 2 and 3 of 10 as “pages 1–3 of 10”."""
    return f"page{'s' * (len(numbers) > 1)} {_ranges(numbers)} of {count}"


def _ranges(numbers: Sequence[int]) -> str:
    """Write 1, 2, 3, 7 as “1–3, 7”; only the first few, then “…”."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    ]
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:SHOWN_RANGES]]
    return ", ".join(texts) + (", …" if len(runs) > SHOWN_RANGES else "")
