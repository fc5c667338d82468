"""Finds headers and footers: lines at a page's edges that its neighbours repeat. Pure.

Only the two pages before and after are compared, so that a page always reads the same.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import TypeAlias

from citations.readers.pdf.layout import Glyphs, TextLine
from citations.readers.pdf.paragraphs import line_text

REACH = 2  # pages before and after
EDGE_LINES = 4  # at the top and at the bottom that may be headers or footers
ZONE = 0.16  # share of the page's height that may hold them
WIDE_ZONE = 0.24  # and those that are repeated to the letter
MAX_LINE = 150  # characters
SHIFT = 3  # points that a header's position may differ from page to page


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLine:
    """A row near an edge of its page, ``distance`` points from it.

    ``is_near``: within ``ZONE``. ``is_apart``: there is space between it and the text.
    """

    indexes: tuple[int, ...]  # among the page's lines
    text: str
    distance: float
    is_top: bool
    is_near: bool = True
    is_apart: bool = False


Edges: TypeAlias = Sequence[EdgeLine]


def edge_lines(glyphs: Glyphs, lines: Sequence[TextLine]) -> Edges:
    """Return the upright rows near the upper and lower edges of a page, outermost first."""
    result: list[EdgeLine] = []
    for is_top in (True, False):
        placed = [
            _PlacedLine(line.base if is_top else glyphs.height - line.base, index, line)
            for index, line in enumerate(lines)
            if line.main.turn == 0
        ]
        result += _at_edge(glyphs, _rows(placed), is_top)
    return tuple(result)


def find_headers_footers(
    number: int, own: Edges, others: Sequence[tuple[int, Edges]]
) -> frozenset[int]:
    """Return the indexes of page ``number``'s lines that are headers or footers.

    ``others`` are its neighbours by number. Stops at the first row from the edge that is text: a
    sentence that two pages share is no header.
    """
    indexes: list[int] = []
    for is_top in (True, False):
        rows = (line for line in own if line.is_top == is_top)
        for line in takewhile(lambda line: _is_header(number, line, others), rows):
            indexes += line.indexes
    return frozenset(indexes)


def _is_header(number: int, line: EdgeLine, others: Sequence[tuple[int, Edges]]) -> bool:
    return any(_repeats(number, line, page, edges) for page, edges in others) or (
        line.is_apart and _is_at_header_position(line, others)
    )


@dataclass(frozen=True, slots=True)
class _PlacedLine:
    distance: float
    index: int
    line: TextLine


def _rows(placed: list[_PlacedLine]) -> list[list[_PlacedLine]]:
    """Group the outermost lines by baseline."""
    rows: list[list[_PlacedLine]] = []
    for line in sorted(placed, key=attrgetter("distance")):
        if rows and line.distance - rows[-1][0].distance < 2.5:
            rows[-1].append(line)
        elif len(rows) <= EDGE_LINES:
            rows.append([line])
        else:
            break
    return rows


def _at_edge(glyphs: Glyphs, rows: list[list[_PlacedLine]], is_top: bool) -> Iterator[EdgeLine]:
    steps = [b[0].distance - a[0].distance for a, b in pairwise(rows)]
    for rank, row in enumerate(rows[:EDGE_LINES]):
        ordered = sorted(row, key=lambda placed: placed.line.left)
        text = " ".join(line_text(glyphs, placed.line) for placed in ordered)
        distance = row[0].distance
        if distance < WIDE_ZONE * glyphs.height and len(text) <= MAX_LINE:
            is_near = distance < ZONE * glyphs.height
            has_gap = not steps or steps[0] > 1.9 * row[0].line.main.size
            yield EdgeLine(
                indexes=tuple(placed.index for placed in row),
                text=text,
                distance=distance,
                is_top=is_top,
                is_near=is_near,
                is_apart=rank == 0 and is_near and has_gap,
            )


def _repeats(number: int, line: EdgeLine, page: int, edges: Edges) -> bool:
    """Whether a neighbour has the same row at that position, but for the page number."""
    for other in edges:
        shift = abs(other.distance - line.distance)
        if other.is_top != line.is_top or shift > SHIFT:
            continue
        if other.text == line.text and shift < 1:
            return True
        if line.is_near and (
            _is_alike(number, line.text, page, other.text)
            or _counts_pages(number, line.text, page, other.text)
        ):
            return True
    return False


def _is_alike(number: int, text: str, page: int, other: str) -> bool:
    """Whether two rows differ at most in numbers that count pages, not in “Exercise 4”."""
    numbers = zip(_NUMBER.findall(text), _NUMBER.findall(other), strict=False)
    return _masked(other) == _masked(text) and all(
        int(a) - int(b) in (0, number - page) for a, b in numbers
    )


def _counts_pages(number: int, text: str, page: int, other: str) -> bool:
    """Whether both rows begin or end with a page number; chapter titles beside it may differ."""
    for position in (_FIRST, _LAST):
        own = position.search(text)
        if own and any(
            theirs and int(own[0]) - int(theirs[0]) == number - page
            for theirs in (_FIRST.search(other), _LAST.search(other))
        ):
            return True
    return bool(_ROMAN.fullmatch(text.strip()) and _ROMAN.fullmatch(other.strip()))


def _is_at_header_position(line: EdgeLine, others: Sequence[tuple[int, Edges]]) -> bool:
    """Whether most neighbours have a separate row at this position, whatever its text."""
    alike = [
        any(
            other.is_top == line.is_top
            and other.is_apart
            and abs(other.distance - line.distance) < 1.5
            for other in edges
        )
        for _, edges in others
    ]
    return sum(alike) >= 3


def _masked(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).casefold().split())


_NUMBER = re.compile(r"[0-9]{1,6}")
_FIRST = re.compile(r"^[0-9]{1,5}(?=\s|$)")
_LAST = re.compile(r"(?:(?<=\s)|^)[0-9]{1,5}$")
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
