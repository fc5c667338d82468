"""Tables as readers write them: a row a line, its cells parted by bars. The first is the header."""

import re
from collections.abc import Iterator
from typing import Final

from citations.text.sentences import Span

_ROW: Final = re.compile(r"^[^\n|]*(?: \| ?[^\n|]*)+$", re.MULTILINE)


def rows(text: str) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Yield the rows of tables with the cells of their header, which is () for the header itself,
    and where it names no column but the first.
    """
    header: tuple[str, ...] = ()
    end = -1
    for row in _ROW.finditer(text):
        is_first = row.start() != end + 1
        if is_first:
            header = tuple(cell.strip() for cell in row[0].split("|"))
        yield row.span(), () if is_first or not any(header[1:]) else header
        end = row.end()


def start(text: str, position: int) -> int:
    """Return where the table begins that a position is in; without one, the position."""
    first, begin = position, text.rfind("\n", 0, position) + 1
    stop = text.find("\n", begin)
    line = text[begin : stop if stop >= 0 else None]
    while _ROW.fullmatch(line):
        first, before = begin, max(0, begin - 1)
        begin = text.rfind("\n", 0, before) + 1
        line = text[begin:before]
    return first
