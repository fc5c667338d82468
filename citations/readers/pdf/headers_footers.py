"""Running heads, feet and page numbers: the lines at the edges of a page that its neighbours have as well. Pure.

Whether a line is one is told from the two pages before and the two after alone, so that a page reads the same however one comes to it.
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
EDGE_LINES = 4  # at the top and at the bottom that may be running heads
ZONE, WIDE_ZONE = (
    0.16,
    0.24,
)  # shares of the page's height: for running heads of all kinds, and for those that are alike to the letter
LONGEST = 150  # characters
SHIFT = 3  # points that a running head may stand higher or lower than on the page before


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLine:
    """What stands beside each other near an edge of its page. ``distance`` (points) is from that edge; ``is_apart``: there is room between it and the text."""

    indexes: tuple[int, ...]  # among the page's lines
    text: str
    distance: float
    is_top: bool
    is_near: bool = True
    is_apart: bool = False


Edges: TypeAlias = Sequence[EdgeLine]


def edge_lines(glyphs: Glyphs, lines: Sequence[TextLine]) -> Edges:
    """Return what stands near the upper and lower edges of a page. Turned text does not count."""
    found: list[EdgeLine] = []
    for is_top in (True, False):
        placed = [
            _Placed(line.base if is_top else glyphs.height - line.base, index, line)
            for index, line in enumerate(lines)
            if line.main.turn == 0
        ]
        found += _at_edge(glyphs, _rows(placed), is_top)
    return tuple(found)


def find_headers_footers(
    number: int, own: Edges, others: Sequence[tuple[int, Edges]]
) -> frozenset[int]:
    """Return the indexes of the lines of page ``number`` that run through the document. ``others`` are its neighbours with their numbers.

    They are told from the edge inwards, up to the first that is the page's own: a sentence that two pages share is no running head.
    """
    found: list[int] = []
    for is_top in (True, False):
        rows = (line for line in own if line.is_top == is_top)
        for line in takewhile(lambda line: _runs_through(number, line, others), rows):
            found += line.indexes
    return frozenset(found)


def _runs_through(number: int, line: EdgeLine, others: Sequence[tuple[int, Edges]]) -> bool:
    return any(_repeats(number, line, page, edges) for page, edges in others) or (
        line.is_apart and _stands_where_heads_stand(line, others)
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    distance: float
    index: int
    line: TextLine


def _rows(placed: list[_Placed]) -> list[list[_Placed]]:
    """Return the outermost lines, those on one baseline together."""
    rows: list[list[_Placed]] = []
    for one in sorted(placed, key=attrgetter("distance")):
        if rows and one.distance - rows[-1][0].distance < 2.5:
            rows[-1].append(one)
        elif len(rows) <= EDGE_LINES:
            rows.append([one])
        else:
            break
    return rows


def _at_edge(glyphs: Glyphs, rows: list[list[_Placed]], is_top: bool) -> Iterator[EdgeLine]:
    steps = [b[0].distance - a[0].distance for a, b in pairwise(rows)]
    for place, row in enumerate(rows[:EDGE_LINES]):
        ordered = sorted(row, key=lambda one: one.line.left)
        text = " ".join(line_text(glyphs, one.line) for one in ordered)
        distance = row[0].distance
        if distance < WIDE_ZONE * glyphs.height and len(text) <= LONGEST:
            is_near = distance < ZONE * glyphs.height
            is_apart = (
                place == 0 and is_near and (not steps or steps[0] > 1.9 * row[0].line.main.size)
            )
            indexes = tuple(one.index for one in row)
            yield EdgeLine(
                indexes=indexes,
                text=text,
                distance=distance,
                is_top=is_top,
                is_near=is_near,
                is_apart=is_apart,
            )


def _repeats(number: int, line: EdgeLine, page: int, edges: Edges) -> bool:
    """Say whether a neighbour has the same line at that place, or one that differs by what a page number differs."""
    for other in edges:
        away = abs(other.distance - line.distance)
        if other.is_top != line.is_top or away > SHIFT:
            continue
        if other.text == line.text and away < 1:
            return True
        if line.is_near and (
            _is_alike(number, line.text, page, other.text)
            or _counts_on(number, line.text, page, other.text)
        ):
            return True
    return False


def _is_alike(number: int, text: str, page: int, other: str) -> bool:
    return _plain(other) == _plain(text) and _is_steady(number, text, page, other)


def _is_steady(number: int, text: str, page: int, other: str) -> bool:
    """Numbers in equal lines are equal or count the pages; “Exercise 4” and “Exercise 7” at the head of two pages are text."""
    mine, theirs = _NUMBER.findall(text), _NUMBER.findall(other)
    return len(mine) == len(theirs) and all(
        int(a) - int(b) in (0, number - page) for a, b in zip(mine, theirs, strict=True)
    )


def _counts_on(number: int, text: str, page: int, other: str) -> bool:
    """Say whether both lines begin or end with a number and the numbers are as far apart as the pages: chapter titles beside them may differ."""
    for place in (_FIRST, _LAST):
        mine = place.search(text)
        if mine and any(
            theirs and int(mine[0]) - int(theirs[0]) == number - page
            for theirs in (_FIRST.search(other), _LAST.search(other))
        ):
            return True
    return bool(_ROMAN.fullmatch(text.strip()) and _ROMAN.fullmatch(other.strip()))


def _stands_where_heads_stand(line: EdgeLine, others: Sequence[tuple[int, Edges]]) -> bool:
    """Say whether most neighbours have a lone line just there, whatever it says: the title of a section of one page runs on that page only."""
    alike = [
        any(
            other.is_top == line.is_top
            and other.is_apart
            and abs(other.distance - line.distance) < 1.5
            for other in edges
        )
        for _, edges in others
    ]
    return len(alike) >= 3 and sum(alike) >= 3


def _plain(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).casefold().split())


_NUMBER = re.compile(r"[0-9]{1,6}")
_FIRST = re.compile(r"^[0-9]{1,5}(?=\s|$)")
_LAST = re.compile(r"(?:(?<=\s)|^)[0-9]{1,5}$")
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
