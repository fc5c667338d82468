"""Documents without pages of their own: pieces of text flow into pages of about 3,000 characters. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from citations.errors import DocumentTooLarge
from citations.readers.page import Facts, OutlineEntry, Paragraph, ReadPage
from citations.text.sentences import between_letters

PAGE = 3_000  # characters that a page is filled up to
FULL_ENOUGH = 0.6  # of a page: a heading after that begins the next one
LONGEST_HEADING = 300  # characters; what is longer is a paragraph
MOST_ENTRIES = 5_000  # of an outline


class MarkupBlock(NamedTuple):
    """A paragraph, list, table or program; with a ``level`` (1–6) a heading."""

    text: str
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocument:
    """A document that is being read: what it says of itself, and its pages as they come. Pages may raise what the reader raises."""

    facts: Facts
    pages: Iterable[ReadPage]


def paginate(
    pieces: Iterable[MarkupBlock],
    *,
    most_pages: int,
    title: str = "",
    author: str = "",
    language: str = "",
) -> OpenDocument:
    """Lay pieces out on pages. Raises ``DocumentTooLarge`` for more than ``most_pages`` of them."""
    layout = _Layout(most_pages=most_pages)
    for piece in chain.from_iterable(_fitting(piece) for piece in pieces):
        layout.add(piece)
    layout.turn()
    first = next((entry.title for entry in layout.outline if entry.level == 1), "")
    facts = Facts(
        page_count=len(layout.pages),
        title=title or first,
        author=author,
        language=language,
        outline=tuple(layout.outline),
    )
    return OpenDocument(facts=facts, pages=layout.pages)


@dataclass(slots=True)
class _Layout:
    most_pages: int
    pages: list[ReadPage] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    heading: str = ""
    after_heading: bool = False
    _texts: list[str] = field(default_factory=list)
    _blocks: list[Paragraph] = field(default_factory=list)
    _length: int = 0

    def add(self, piece: MarkupBlock) -> None:
        """Put a piece on this page, or on the next one where it does not fit, or where a heading does better there."""
        if self._length and (
            self._length + len(piece.text) > PAGE
            or piece.level
            and self._length > FULL_ENOUGH * PAGE
        ):
            self.turn()
        if piece.level:
            self.heading = piece.text
            self._note_heading(piece)
        first = self._length + 2 if self._texts else 0
        self._blocks.append(
            Paragraph(
                first,
                first + len(piece.text),
                self.heading,
                bool(piece.level) and not self.after_heading,
            )
        )
        self._texts.append(piece.text)
        self._length = first + len(piece.text)
        self.after_heading = bool(piece.level)

    def turn(self) -> None:
        """End the page."""
        if not self._texts:
            return
        if len(self.pages) >= self.most_pages:
            raise DocumentTooLarge(
                f"It has more than {self.most_pages:,} pages of {PAGE:,} characters."
            )
        text = "\n\n".join(self._texts)
        self.pages.append(
            ReadPage(
                number=len(self.pages) + 1,
                text=text,
                blocks=tuple(self._blocks),
                words=text.count(" ") + 1,
            )
        )
        self._texts, self._blocks, self._length = [], [], 0

    def _note_heading(self, piece: MarkupBlock) -> None:
        if len(self.outline) < MOST_ENTRIES:
            self.outline.append(
                OutlineEntry(piece.level, " ".join(piece.text.split()), len(self.pages) + 1)
            )


_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n", r"[.!?…。！？][\"'”’»)]*\s", r"\s"))


def _fitting(piece: MarkupBlock) -> Iterator[MarkupBlock]:
    """Yield a piece without blanks around it, in parts where it is longer than a page; a heading nobody would call one becomes a paragraph."""
    text = piece.text.strip("\n").rstrip() if not piece.level else piece.text.strip()
    if not text.strip():
        return
    if len(text) <= PAGE:
        yield MarkupBlock(text, piece.level if len(text) <= LONGEST_HEADING else 0)
        return
    start = 0
    while len(text) - start > PAGE:
        stop = _cut(text, start)
        if part := text[start:stop].rstrip():
            yield MarkupBlock(part)
        start = stop
    if rest := text[start:].strip():
        yield MarkupBlock(rest)


def _cut(text: str, start: int) -> int:
    """Say where a part ends: after the last line, else sentence, else word that begins in the page's second half, else between two letters."""
    for pattern in _BREAKS:
        places = [match.end() for match in pattern.finditer(text, start + PAGE // 2, start + PAGE)]
        if places:
            return places[-1]
    return between_letters(text, start + PAGE)
