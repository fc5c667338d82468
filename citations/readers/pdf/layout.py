"""Arranges a page's characters as lines in reading order: columns left to right, turned text last.

Coordinates are in points of the displayed page from its upper left corner. Rotated text is laid out
as if the page were rotated with it. Pure.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median

from citations.readers.pdf.runs import MAX_GUTTERS, NOTE, Glyphs, PdfRun, runs_of, split_at_gutters

DEPTH = 4  # columns within columns
MIN_ROWS = 3  # of columns side by side
MIN_LINES = 2  # of those that the file writes one after the other
NARROW = 0.25  # gutter between such columns, or long ones, in sizes of their letters
LONG = 5  # rows of a long column
MAX_RUNS = 2_500  # of a page with columns; one with more is a drawing full of labels, or hostile
CELL = 18  # characters: aligned rows of shorter runs are a table, which is read row by row
LABEL = 12  # the same where the file writes one side after the other, as some programs fill forms


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
    for run in runs_of(glyphs):
        by_turn.setdefault(run.turn, []).append(run)
    notes = by_turn.pop(NOTE, [])
    lengths = {turn: sum(len(run.glyphs) for run in runs) for turn, runs in by_turn.items()}
    by_length = sorted(by_turn, key=lambda turn: (turn > NOTE, -lengths[turn], turn))
    groups = [by_turn[turn] for turn in by_length] + [notes]
    if sum(map(len, groups)) > MAX_RUNS:
        return [line for column, runs in enumerate(groups) for line in _plain_lines(runs, column)]
    parts = [split_at_gutters(glyphs, runs) for runs in groups[:-1]]
    regions = [region for runs in (*parts, notes) for region in _regions(runs, DEPTH)]
    return [line for column, region in enumerate(regions) for line in _lines(region, column)]


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
    if width < (NARROW if in_turn or fewest >= LONG else 1.0) * size:
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
        size = max(before.size, run.size)
        if gap > 0.12 * size or gap < -size:  # or one lies on the other
            glyphs.append(-1)
        glyphs += run.glyphs
    return glyphs
