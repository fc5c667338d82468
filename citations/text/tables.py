"""Tables as readers write them: a row a line, its cells parted by bars. The first is the header."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from citations.text.sentences import Span

_ROW: Final = re.compile(r"^[^\n|]*(?: \| ?[^\n|]*)+$", re.MULTILINE)
_BREAK: Final = "\n\n"  # between pages


class TableRow(NamedTuple):
    """Where a row stands, and the cells of its table's header: () for the header itself, and where
    it names no column but the first.
    """

    span: Span
    text: str
    header: tuple[str, ...]


def rows(text: str, offset: int = 0) -> Iterator[TableRow]:
    """Yield the rows of a text's tables; their spans count from ``offset`` characters before it.

    A table goes on below a break of pages with rows of as many cells.
    """
    header: tuple[str, ...] = ()
    end, count = -1, 0
    for row in _ROW.finditer(text):
        cells = tuple(cell.strip() for cell in row[0].split("|"))
        between = text[max(end, 0) : row.start()]
        is_continued = between == "\n" or (between == _BREAK and len(cells) == count)
        is_first = end < 0 or not is_continued
        if is_first:
            header = cells
        span = (offset + row.start(), offset + row.end())
        yield TableRow(span, row[0], () if is_first or not any(header[1:]) else header)
        end, count = row.end(), len(cells)
