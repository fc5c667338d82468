"""Running heads, feet and page numbers: the lines at the edges of a page that its neighbours have as well. Pure.

Whether a line is one is told from the two pages before and the two after alone, so that a page reads the same however one comes to it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

from citations.readers.layout import Glyphs, Line
from citations.readers.prose import line_text

REACH = 2  # pages before and after
EDGE_LINES = 4  # at the top and at the bottom that may be running heads
ZONE = 0.16  # share of the page's height
LONGEST = 150  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLine:
    """A line near an edge of its page. ``distance`` (points) is from that edge, ``is_apart`` says that there is room between it and the text."""

    index: int  # among the page's lines
    text: str
    distance: float
    is_top: bool
    is_apart: bool


Edges: TypeAlias = Sequence[EdgeLine]


def edges(glyphs: Glyphs, lines: Sequence[Line]) -> Edges:
    """Return the lines near the upper and lower edges of a page. Turned text has none."""
    upright = [(index, line) for index, line in enumerate(lines) if line.main.turn == 0]
    found: list[EdgeLine] = []
    for is_top in (True, False):
        distances = [(line.top if is_top else glyphs.height - line.bottom, index, line) for index, line in upright]
        found += _at_edge(glyphs, sorted(distances, key=itemgetter(0, 1)), is_top)
    return tuple(found)


def _at_edge(glyphs: Glyphs, ordered: list[tuple[float, int, Line]], is_top: bool) -> Iterator[EdgeLine]:
    """Yield the outermost lines; those beside the outermost one are as far apart from the text as it is."""
    if not ordered:
        return
    size = max(1.0, ordered[0][2].main.size)
    reach = ordered[0][0] + size
    inner = next((distance for distance, _, _ in ordered if distance > reach), None)
    is_apart = inner is None or inner - reach > 0.8 * size
    for distance, index, line in ordered[:EDGE_LINES]:
        text = line_text(glyphs, line).strip()
        if distance < ZONE * glyphs.height and len(text) <= LONGEST:
            yield EdgeLine(index=index, text=text, distance=distance, is_top=is_top, is_apart=is_apart and distance <= reach)


def running(number: int, own: Edges, others: Sequence[tuple[int, Edges]]) -> frozenset[int]:
    """Return the indexes of the lines of page ``number`` that run through the document. ``others`` are its neighbours with their numbers."""
    found = {line.index for line in own if any(_repeats(number, line, page, edges) for page, edges in others)}
    found |= {line.index for line in own if line.is_apart and _stands_where_heads_stand(line, others)}
    return frozenset(found)


def _repeats(number: int, line: EdgeLine, page: int, edges: Edges) -> bool:
    """Say whether a neighbour has the same line at that place, or one that differs by what a page number differs."""
    for other in edges:
        if other.is_top != line.is_top or abs(other.distance - line.distance) > 12:
            continue
        if _plain(other.text) == _plain(line.text) and _is_steady(number, line.text, page, other.text):
            return True
        if _counts_on(number, line.text, page, other.text) and abs(other.distance - line.distance) < 3:
            return True
    return False


def _is_steady(number: int, text: str, page: int, other: str) -> bool:
    """Numbers in equal lines are equal or count the pages; “Exercise 4” and “Exercise 7” at the head of two pages are text."""
    mine, theirs = _NUMBER.findall(text), _NUMBER.findall(other)
    return len(mine) == len(theirs) and all(int(a) - int(b) in (0, number - page) for a, b in zip(mine, theirs, strict=True))


def _counts_on(number: int, text: str, page: int, other: str) -> bool:
    """Say whether both lines begin or end with a number and the numbers are as far apart as the pages: chapter titles beside them may differ."""
    for place in (_FIRST, _LAST):
        mine = place.search(text)
        if mine and any(theirs and int(mine[0]) - int(theirs[0]) == number - page for theirs in (_FIRST.search(other), _LAST.search(other))):
            return True
    return bool(_ROMAN.fullmatch(text.strip()) and _ROMAN.fullmatch(other.strip()))


def _stands_where_heads_stand(line: EdgeLine, others: Sequence[tuple[int, Edges]]) -> bool:
    """Say whether most neighbours have a lone line just there, whatever it says: the title of a section of one page runs on that page only."""
    alike = [any(other.is_top == line.is_top and other.is_apart and abs(other.distance - line.distance) < 1.5 for other in edges) for _, edges in others]
    return len(alike) >= 3 and sum(alike) >= 3


def _plain(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).casefold().split())


_NUMBER = re.compile(r"[0-9]{1,6}")
_FIRST = re.compile(r"^[0-9]{1,5}(?=\s|$)")
_LAST = re.compile(r"(?:(?<=\s)|^)[0-9]{1,5}$")
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
