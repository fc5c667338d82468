"""The blocks of a source's text, which readers produce, and the tables in it. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from citations.text.sentences import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a source's text in one location: a cue with its times, a paragraph with its page.

    ``offset`` is its first character in the source's text, ``start`` and ``end`` are milliseconds.
    ``words`` holds (character offset in the source's text, start in ms) of words with known times.
    A ``boundary`` (chapter, heading) starts something new: no chunk extends across it.
    """

    text: str
    offset: int
    start: int | None = None
    end: int | None = None
    page: int | None = None
    heading: str = ""
    boundary: bool = False
    words: tuple[tuple[int, int], ...] = ()


def text_of(blocks: Sequence[Block]) -> str:
    """Return the source's text: the blocks' texts at their offsets.

    A gap of one character between two blocks is a space; a longer gap is line breaks.
    """
    parts: list[str] = []
    length = 0
    for block in blocks:
        gap = block.offset - length
        parts += (" " if gap == 1 else "\n" * gap, block.text)
        length = block.offset + len(block.text)
    return "".join(parts)


def share_of_cue(start: int, end: int, position: int, length: int) -> int:
    """Return when (ms) a character of a cue is said, if all of its characters take as long.

    ``end`` is that of the cue, or the start of the next one, which captions that roll show earlier.
    """
    return start + round(max(0, end - start) * min(1.0, max(0, position) / max(1, length)))


_ROW: Final = re.compile(r"^[^\n|]*(?: \| ?[^\n|]*)+$", re.MULTILINE)


class TableRow(NamedTuple):
    """Where a row stands, and the cells of its table's header, the first row: () for the header
    itself, and where it names no column but the first.
    """

    span: Span
    text: str
    header: tuple[str, ...]


def table_rows(text: str, offset: int = 0) -> Iterator[TableRow]:
    """Yield the rows of a text's tables, a line each, with bars between its cells; their spans
    count from ``offset`` characters before it.

    A table goes on below a break of pages, an empty line, with rows of as many cells.
    """
    header: tuple[str, ...] = ()
    end, count = -1, 0
    for row in _ROW.finditer(text):
        cells = tuple(cell.strip() for cell in row[0].split("|"))
        between = text[end : row.start()] if end >= 0 else ""
        is_first = between != "\n" and (between != "\n\n" or len(cells) != count)
        header = cells if is_first else header
        span = (offset + row.start(), offset + row.end())
        yield TableRow(span, row[0], () if is_first or not any(header[1:]) else header)
        end, count = row.end(), len(cells)
