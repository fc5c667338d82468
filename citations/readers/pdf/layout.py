"""Arranges a page's characters as lines in reading order: columns left to right, rotated text last.

Coordinates are in points of the displayed page from its upper left corner. Rotated text is laid out
as if the page were rotated with it. Pure.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

from citations.readers.pdf.scripts import in_order, is_backwards, is_east_asian

# Bits of a style, see ``page_characters``; notes come last.
GENERATED, BOLD, TURNS, FIELD, NOTE = 1, 2, 12, 16, 32
OBLIQUE = 1_000  # the turn of lines at this many degrees less
DEPTH = 4  # columns within columns
MIN_ROWS = 3  # of columns side by side
MIN_LINES = 2  # of those that the file writes one after the other
NARROW = 0.25  # gutter between such columns, in sizes of their letters
MAX_GUTTERS = 60  # that are tried
MAX_RUNS = 2_500  # of a page with columns; one with more is a drawing full of labels, or hostile
AFTER_LETTER, AFTER_SPACE = 0.95, 0.7  # sizes: wider gaps end a run; a gutter may be narrow
CELL = 18  # characters: aligned rows of shorter runs are a table, which is read row by row
LABEL = 12  # the same where the file writes one side after the other, as some programs fill forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Glyphs:
    """The characters of a page in the order of the file.

    ``geometry`` holds seven numbers each: left, top, right, bottom, x and y of the baseline, size.
    They are of the page turned about its middle until its lines are level; ``skew`` is how far they
    run downwards (radians). ``angles`` are those of lines that run at none of the quarter turns,
    clockwise in radians, or else 0.0.
    """

    width: float
    height: float
    codes: Sequence[int]
    styles: Sequence[int]
    geometry: Sequence[float]
    skew: float = 0.0
    angles: Sequence[float] = ()

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom of a character."""
        left, top, right, bottom = self.geometry[7 * index : 7 * index + 4]
        return left, top, right, bottom


@dataclass(slots=True)
class PdfRun:
    """Characters on a baseline, with spaces (-1); positions follow the direction of the text."""

    glyphs: list[int]
    left: float
    right: float
    base: float
    size: float
    bold: int = 0  # characters
    turn: int = 0
    is_field: bool = False
    backwards: int = 0  # characters of right-to-left scripts
    end: float = 0.0  # of its last character

    @property
    def top(self) -> float:
        return self.base - 0.72 * self.size

    @property
    def bottom(self) -> float:
        return self.base + 0.22 * self.size


@dataclass(slots=True)
class TextLine:
    """Runs beside each other, from left to right; ``column`` numbers the columns of a page."""

    runs: list[PdfRun]
    column: int = 0
    glyphs: list[int] = field(default_factory=list)  # of all runs, with spaces (-1) between them

    @property
    def main(self) -> PdfRun:
        """The longest run."""
        return max(self.runs, key=lambda run: (len(run.glyphs), run.size))

    @property
    def base(self) -> float:
        return self.main.base

    @property
    def is_bold(self) -> bool:
        return sum(run.bold for run in self.runs) > 0.75 * sum(len(run.glyphs) for run in self.runs)

    @property
    def left(self) -> float:
        return min(run.left for run in self.runs)

    @property
    def right(self) -> float:
        return max(run.right for run in self.runs)

    @property
    def top(self) -> float:
        return min(run.top for run in self.runs)

    @property
    def bottom(self) -> float:
        return max(run.bottom for run in self.runs)


def lay_out(glyphs: Glyphs) -> list[TextLine]:
    """Return the page's lines in reading order, row by row if it has over ``MAX_RUNS`` runs."""
    by_turn: dict[int, list[PdfRun]] = {}
    for run in _runs(glyphs):
        by_turn.setdefault(run.turn, []).append(run)
    notes = by_turn.pop(NOTE, [])
    by_length = sorted(by_turn, key=lambda turn: (-sum(len(r.glyphs) for r in by_turn[turn]), turn))
    groups = [by_turn[turn] for turn in by_length] + [notes]
    if sum(map(len, groups)) > MAX_RUNS:
        return [line for column, runs in enumerate(groups) for line in _plain_lines(runs, column)]
    regions = [region for runs in groups for region in _regions(runs, DEPTH)]
    return [line for column, region in enumerate(regions) for line in _lines(region, column)]


def _runs(glyphs: Glyphs) -> list[PdfRun]:
    """Split the file's order of characters at jumps and line breaks."""
    runs: list[PdfRun] = []
    run: PdfRun | None = None
    blank = -1  # the index of a space before the character
    styles, geometry = glyphs.styles, glyphs.geometry
    for index, code in enumerate(glyphs.codes):
        if code in BLANKS:
            blank, run = index, None if code in _BREAKS else run
            continue
        left, top, right, bottom, _, _, size = geometry[7 * index : 7 * index + 7]
        if right < 0 or bottom < 0 or left > glyphs.width or top > glyphs.height:
            continue  # beside the page
        style, size = styles[index], size or max(1.0, bottom - top)
        turn, left, right, y = _placed(glyphs, index)
        gap = AFTER_SPACE if blank >= 0 else AFTER_LETTER
        if run is None or not _continues(run, turn, left, right, y, size, gap):
            run = PdfRun([], left, right, y, size, turn=turn, is_field=bool(style & FIELD))
            runs.append(run)
        elif blank >= 0 and not (styles[blank] & GENERATED and _is_close(run, code, left, size)):
            run.glyphs.append(-1)
        blank = -1
        run.glyphs.append(index)
        run.left, run.right, run.end = min(run.left, left), max(run.right, right), right
        run.bold += bool(style & BOLD)
        run.backwards += is_backwards(code)
    for run in runs:
        if run.backwards:
            run.glyphs = in_order(glyphs.codes, geometry, run.glyphs)
    return runs


_BREAKS = frozenset((10, 13, 0x2028, 0x2029))
BLANKS = frozenset(
    (*(0, 1), *range(3, 33), *range(0x7F, 0x83), 0xA0, 0x1680, *range(0x2000, 0x200C))
).union((0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF))


def _continues(
    run: PdfRun, turn: int, left: float, right: float, base: float, size: float, gap: float
) -> bool:
    """Whether a character continues a run. Right-to-left scripts run backwards."""
    larger = max(run.size, size)
    if turn != run.turn or abs(base - run.base) > 0.2 * larger or not 0.75 < size / run.size < 1.34:
        return False
    return left - run.end <= gap * larger and run.end - right <= 2.5 * larger


def _is_close(run: PdfRun, code: int, left: float, size: float) -> bool:
    """Whether a character stands where the next of a script without spaces does."""
    return is_east_asian(code) and left - run.end < 0.5 * size


def _placed(glyphs: Glyphs, index: int) -> tuple[int, float, float, float]:
    """Return a character's turn, and its left, right and baseline on the page turned so."""
    left, top, right, bottom, x, y, _ = glyphs.geometry[7 * index : 7 * index + 7]
    style = glyphs.styles[index]
    if glyphs.angles and glyphs.angles[index]:
        return OBLIQUE + round(math.degrees(glyphs.angles[index])), *_level(glyphs, index)
    turn = style & NOTE or (style & TURNS) >> 2
    if style & TURNS:
        return turn, *_turned(turn, (left, top, right, bottom), (x, y))
    return turn, left, right, y


def _turned(
    turn: int, box: tuple[float, float, float, float], origin: tuple[float, float]
) -> tuple[float, float, float]:
    """Return left, right and baseline on the page rotated so that the text is upright."""
    left, top, right, bottom = box
    x, y = origin
    if turn == 1:  # from top to bottom
        return top, bottom, -x
    if turn == 2:  # upside down
        return -right, -left, -y
    return -bottom, -top, x


def _level(glyphs: Glyphs, index: int) -> tuple[float, float, float]:
    """Return left, right and baseline on the page rotated so that an oblique line is level.

    A letter ends where the next one begins.
    """
    angle = glyphs.angles[index]
    x, y, size, *following = glyphs.geometry[7 * index + 4 : 7 * index + 14]
    cosine, sine = math.cos(angle), math.sin(angle)
    left, base = x * cosine + y * sine, y * cosine - x * sine
    width = 0.5 * size
    if following:
        x, y = following[4:6]
        step = x * cosine + y * sine - left
        is_beside = abs(y * cosine - x * sine - base) < 0.2 * size
        width = step if is_beside and 0 < step < 1.2 * size else width
    return left, left + width, base


def _regions(runs: list[PdfRun], depth: int) -> list[list[PdfRun]]:
    """Split runs into columns, and into bands at the runs that cross a gutter."""
    if depth == 0 or len(runs) < 2 * MIN_LINES:
        return [runs]
    gutter = _gutter(runs)
    if gutter is None:
        return [runs]
    regions: list[list[PdfRun]] = []
    plain: list[PdfRun] = []
    for band, is_split in _bands(sorted(runs, key=lambda run: (run.base, run.left)), gutter):
        if not is_split:
            plain += band
            continue
        regions += _regions(plain, depth - 1) if plain else []
        plain = []
        for side in _sides(band, gutter):
            regions += _regions(side, depth - 1)
    return regions + ([plain] if plain else [])


def _gutter(runs: list[PdfRun]) -> float | None:
    """Return the x with the most rows on both sides; tries positions left of aligned runs."""
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    room = 0.12 * (right - left)
    starts = Counter(round(run.left) for run in runs if left + room < run.left < right - room)
    near = Counter({x: starts[x - 1] + starts[x] + starts[x + 1] for x in list(starts)})
    ordered = sorted(runs, key=lambda run: (run.base, run.left))
    best, most = None, MIN_LINES
    for start, count in near.most_common(MAX_GUTTERS):
        x = start - 2.0
        crossing = sum(run.left < x < run.right for run in runs)
        if count >= MIN_LINES and len(runs) - crossing >= 2 * MIN_LINES:
            rows = sum(len(band) for band, is_split in _bands(ordered, x) if is_split)
            if rows - crossing > most:
                best, most = x, rows - crossing
    return best


def _bands(ordered: list[PdfRun], gutter: float) -> list[tuple[list[PdfRun], bool]]:
    """Split runs, top to bottom, where they cross the gutter; tell whether bands have columns."""
    bands = [
        list(band) for _, band in groupby(ordered, key=lambda run: run.left < gutter < run.right)
    ]
    return [(band, _has_columns(band, gutter)) for band in bands]


def _sides(band: Iterable[PdfRun], gutter: float) -> tuple[list[PdfRun], list[PdfRun]]:
    sides: tuple[list[PdfRun], list[PdfRun]] = ([], [])
    for run in band:
        sides[run.left >= gutter].append(run)
    return sides


def _has_columns(band: list[PdfRun], gutter: float) -> bool:
    if len(band) < 2 * MIN_LINES or band[0].left < gutter < band[0].right:
        return False
    sides = _sides(band, gutter)
    left, right = (_rows(side) for side in sides)
    fewest = min(len(left), len(right))
    # A program writes columns one after the other, but tables row by row.
    in_turn = _turns(band, gutter) <= max(1.0, fewest / MIN_ROWS)
    if fewest < (MIN_LINES if in_turn else MIN_ROWS):
        return False
    width = min(run.left for run in sides[1]) - max(run.right for run in sides[0])
    size = median(run.size for run in band)
    if width < (NARROW if in_turn else 1.0) * size:
        return False
    overlap = min(left[-1][0], right[-1][0]) - max(left[0][0], right[0][0])
    if any(run.is_field for run in band):  # a value stands beside its label, however long
        return overlap > 0 and not _is_table(left, right, math.inf, 0.5 * size)
    return overlap > 0 and not _is_table(left, right, LABEL if in_turn else CELL, 2.5)


def _turns(band: list[PdfRun], gutter: float) -> int:
    """Count how often the file goes from one side of the gutter to the other."""
    ordered = sorted(band, key=lambda run: run.glyphs[0])
    return sum((a.left < gutter) != (b.left < gutter) for a, b in pairwise(ordered))


def _rows(runs: list[PdfRun]) -> list[tuple[float, int]]:
    """Return the baseline and the number of characters of each row."""
    rows: list[tuple[float, int]] = []
    for run in sorted(runs, key=lambda run: run.base):
        if rows and run.base - rows[-1][0] < 0.4 * run.size:
            rows[-1] = rows[-1][0], rows[-1][1] + len(run.glyphs)
        else:
            rows.append((run.base, len(run.glyphs)))
    return rows


def _is_table(
    left: list[tuple[float, int]], right: list[tuple[float, int]], cell: float, reach: float
) -> bool:
    """Whether a side's rows are shorter than ``cell`` and most have others within ``reach``."""
    few, many = sorted((left, right), key=len)
    bases = [base for base, _ in many]
    aligned = sum(1 for base, _ in few if any(abs(base - other) < reach for other in bases))
    length = min(median(count for _, count in side) for side in (left, right))
    return length < cell and aligned > 0.6 * len(few)


def _lines(runs: list[PdfRun], column: int) -> list[TextLine]:
    """Join runs to lines, top to bottom; a superscript joins the line it overlaps most."""
    lines: list[TextLine] = []
    for run in sorted(runs, key=lambda run: -len(run.glyphs)):
        near = max(lines, key=lambda line: _height_overlap(line, run), default=None)
        if near is not None and _height_overlap(near, run) > 0.5:
            near.runs.append(run)
        else:
            lines.append(TextLine([run], column))
    lines.sort(key=lambda line: (line.base, line.left))
    return _in_order(lines)


def _plain_lines(runs: list[PdfRun], column: int) -> list[TextLine]:
    """Join runs on one baseline, whatever their size, in nearly linear time."""
    lines: list[TextLine] = []
    base = float("-inf")  # of the line's first run, so that lines cannot drift
    for run in sorted(runs, key=lambda run: run.base):
        if run.base - base > 0.4 * run.size:
            lines.append(TextLine([], column))
            base = run.base
        lines[-1].runs.append(run)
    return _in_order(lines)


def _in_order(lines: list[TextLine]) -> list[TextLine]:
    for line in lines:
        line.runs.sort(key=lambda run: run.left)
        if 2 * sum(run.backwards for run in line.runs) > sum(len(run.glyphs) for run in line.runs):
            parts = groupby(reversed(line.runs), key=lambda run: run.backwards > 0)
            line.runs = [run for key, part in parts for run in (part if key else [*part][::-1])]
        line.glyphs = _joined(line.runs)
    return lines


def _height_overlap(line: TextLine, run: PdfRun) -> float:
    """Return the overlap in height as a share of the smaller one, 0 if they overlap in width."""
    main = line.runs[0]
    height = min(main.bottom, run.bottom) - max(main.top, run.top)
    if height <= 0 or any(
        min(run.right, other.right) - max(run.left, other.left) > 0.4 * run.size
        for other in line.runs
    ):
        return 0.0
    return height / (0.94 * min(main.size, run.size))


def _joined(runs: list[PdfRun]) -> list[int]:
    glyphs = list(runs[0].glyphs)
    for before, run in pairwise(runs):
        gap = max(run.left - before.right, before.left - run.right)
        if gap > 0.12 * max(before.size, run.size):
            glyphs.append(-1)
        glyphs += run.glyphs
    return glyphs
