"""Finds headers and footers: rows at a page's edges that near pages have, too. Pure.

Only near pages are compared, so that a page always reads the same. A row stays where its words are
new; others follow the page's paragraphs (see ``paragraphs``).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import attrgetter

from citations.readers.pdf.layout import TextLine
from citations.readers.pdf.paragraphs import line_text, plain_text
from citations.readers.pdf.runs import Glyphs, PdfRun

BEFORE, AFTER = 4, 2  # pages that are compared: left and right ones, and some without a header
EDGE_LINES = 4  # at the top and at the bottom that may be headers or footers
ZONE = 0.24  # share of the page's height that may hold them
MAX_LINE = 150  # characters
SHIFT = 3  # points that a header's position may differ from page to page
USUAL = 3  # near pages that make large type at the same place of a portrait page a header
SAME_TYPE = 0.95  # of the size of letters
APART = 2.0  # sizes of the letters between two parts of a row


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """A row near an edge of its page, ``distance`` points from it; tabs separate its parts.

    ``is_title``: it is of the page's largest type, which is not that of most lines.
    """

    indexes: tuple[int, ...]  # among the page's lines
    text: str
    distance: float
    is_top: bool
    is_title: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRows:
    """The rows near the upper and lower edges of a page, outermost first, and all its lines."""

    edges: tuple[EdgeRow, ...] = ()
    lines: tuple[str, ...] = ()
    is_wide: bool = False  # as slides are, whose titles stand where a book has its header


def page_rows(glyphs: Glyphs, lines: Sequence[TextLine]) -> PageRows:
    """Return the upright rows of a page."""
    return PageRows(
        edges=tuple(row for is_top in (True, False) for row in _at_edge(glyphs, lines, is_top)),
        lines=tuple(line_text(glyphs, line) for line in lines),
        is_wide=glyphs.width > glyphs.height,
    )


def find_headers_footers(
    number: int, own: PageRows, others: Sequence[tuple[int, PageRows]], *, page_count: int
) -> frozenset[int]:
    """Return the indexes of page ``number``'s lines that are headers or footers.

    ``others`` are the near pages by number. Stops at the first row from the edge that is text: a
    sentence that two pages share is no header. A page that has nothing else keeps them.
    """
    headers = {
        index
        for is_top in (True, False)
        for row in takewhile(
            lambda row: _is_header(number, row, own, others, page_count),
            (row for row in own.edges if row.is_top == is_top),
        )
        for index in row.indexes
    }
    has_more = any(text for index, text in enumerate(own.lines) if index not in headers)
    return frozenset(headers) if has_more else frozenset()


def _is_header(
    number: int,
    row: EdgeRow,
    own: PageRows,
    others: Sequence[tuple[int, PageRows]],
    page_count: int,
) -> bool:
    alike = [
        (page, other, them)
        for page, other in others
        for them in other.edges
        if them.is_top == row.is_top and abs(them.distance - row.distance) < SHIFT
    ]
    if any(_counts_pages(number, row.text, page, them.text) for page, _, them in alike):
        return True
    parts = [
        _parts(number, row.text, page, them.text, page_count)
        for page, other, them in alike
        if _masked(them.text) == _masked(row.text) and not _is_copy(row, own, other)
    ]
    fewest = min((len(each) for each in parts if each), default=0)
    if not fewest or (fewest > 1 and not all(parts)):  # what counts pages counts them all
        return False
    repeated = [each for each in parts if len(each) == fewest]
    if row.is_title and (own.is_wide or len(repeated) < USUAL):
        return False
    edges = (edge for edge in own.edges if not edge.is_title or edge is row)
    at_edge = {index for edge in edges for index in edge.indexes}
    lines = [line for page, other in others if page < number for line in other.lines]
    lines += [line for index, line in enumerate(own.lines) if index not in at_edge]
    words = [_words(line) for line in lines] if repeated else []
    return any(all(part in line for part in parts) for parts in repeated for line in words)


def _at_edge(glyphs: Glyphs, lines: Sequence[TextLine], is_top: bool) -> Iterator[EdgeRow]:
    placed = [
        _PlacedLine(line.base if is_top else glyphs.height - line.base, index, line)
        for index, line in enumerate(lines)
        if line.main.turn == 0
    ]
    largest = SAME_TYPE * max((each.line.main.size for each in placed), default=0.0)
    titles = [each.index for each in placed if each.line.main.size >= largest]
    for row in _rows(placed)[:EDGE_LINES]:
        text = _row_text(glyphs, [run for each in row for run in each.line.runs])
        indexes = tuple(each.index for each in row)
        if row[0].distance < ZONE * glyphs.height and len(text) <= MAX_LINE:
            yield EdgeRow(
                indexes=indexes,
                text=text,
                distance=row[0].distance,
                is_top=is_top,
                is_title=2 * len(titles) <= len(placed) and not set(titles).isdisjoint(indexes),
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


def _row_text(glyphs: Glyphs, runs: list[PdfRun]) -> str:
    text, right = "", 0.0
    for run in sorted(runs, key=attrgetter("left")):
        text += "\t" if text and run.left - right > APART * run.size else " "
        text += plain_text(glyphs, run.glyphs)
        right = run.right
    return text.strip()


def _is_copy(row: EdgeRow, own: PageRows, other: PageRows) -> bool:
    """Whether most other lines are the same: a copy of a form, or a slide that is built up."""
    left_out = {own.lines[index] for index in row.indexes}
    ours, theirs = (set(page.lines) - left_out for page in (own, other))
    return len(ours & theirs) > 0.5 * min(len(ours), len(theirs))


def _parts(number: int, text: str, page: int, other: str, page_count: int) -> list[str]:
    """Return the words of a row around the numbers that count pages as those of another row do.

    Nothing if other numbers differ, as in “Exercise 4” and “Exercise 9”. A number above that of all
    pages counts them only if it stands apart, unlike “Invoice 1002”.
    """
    parts, start = [], 0
    for own, theirs in zip(_NUMBER.finditer(text), _NUMBER.finditer(other), strict=True):
        if own[0] == theirs[0]:
            continue
        is_counting = int(own[0]) <= page_count or _ALONE.match(text, own.start())
        if int(own[0]) - int(theirs[0]) != number - page or not is_counting:
            return []
        parts.append(text[start : own.start()])
        start = own.end()
    return [_words(part) for part in (*parts, text[start:])]


def _counts_pages(number: int, text: str, page: int, other: str) -> bool:
    """Whether both rows are nothing but page numbers."""
    own, theirs = _PAGE_NUMBER.fullmatch(text), _PAGE_NUMBER.fullmatch(other)
    if own and theirs:
        return int(own[1]) - int(theirs[1]) == number - page
    return bool(_ROMAN.fullmatch(text) and _ROMAN.fullmatch(other))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} ".replace("  ", " ")


def _masked(text: str) -> str:
    return " ".join(_NUMBER.sub("#", text).casefold().split())


_NUMBER = re.compile(r"(?<![0-9.,])[0-9]{1,6}(?![.,]?[0-9])")  # no sum
_WORD = re.compile(r"\w+")
_ALONE = re.compile(r"(?:(?<=\t)|(?<![^\t]))[0-9]+(?=\t|$)")
_PAGE_NUMBER = re.compile(r"\W*([0-9]{1,5})(?:\s*[/|]\s*[0-9]{1,5})?\W*")
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
