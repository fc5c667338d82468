"""Small figures above or below their line, written as such: 10³ is not 103. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from citations.readers.markup.raised import LOWERED, RAISED
from citations.readers.pdf.layout import TextLine
from citations.readers.pdf.runs import Glyphs, PdfRun

SMALLER = 0.9  # of the size of the line
HIGHER, LOWER = 0.2, 0.06  # of its size, above or below its baseline
NEAR = 0.25  # sizes between a figure and what it belongs to
LONGEST = 5  # figures
BETWEEN = frozenset(map(ord, ",;–"))  # the numbers of several notes


def with_raised_figures(glyphs: Glyphs, lines: Sequence[TextLine]) -> Glyphs:
    """Return the characters with these figures; in the lines, join them to what they belong to."""
    codes: list[int] = []
    for line in lines:
        for before, run in pairwise(line.runs):
            table = _table(glyphs, before, run)
            if table is None:
                continue
            codes = codes or list(glyphs.codes)
            for index in filter(lambda index: index >= 0, run.glyphs):
                codes[index] = table.get(codes[index], codes[index])
            _join(line, run)
        for before, run in pairwise(line.runs) if codes else ():
            is_written = codes[before.glyphs[-1]] != glyphs.codes[before.glyphs[-1]]
            if is_written and run.left - before.right < NEAR * run.size and _goes_on(glyphs, run):
                _join(line, run)
    return replace(glyphs, codes=codes) if codes else glyphs


def _table(glyphs: Glyphs, before: PdfRun, run: PdfRun) -> dict[int, int] | None:
    """Return how a run's figures are written that belong to the run before, None for any other."""
    if run.size > SMALLER * before.size or len(run.glyphs) > LONGEST or run.backwards:
        return None
    if abs(run.left - before.right) > NEAR * before.size:
        return None
    up = (before.base - run.base) / before.size
    table = RAISED if up > HIGHER else LOWERED if up < -LOWER else None
    codes = {glyphs.codes[index] for index in run.glyphs if index >= 0}
    return table if table and codes - BETWEEN and codes - BETWEEN <= table.keys() else None


def _goes_on(glyphs: Glyphs, run: PdfRun) -> bool:
    first = chr(glyphs.codes[run.glyphs[0]])
    return first.isalpha() or first in ".,;:!?)]”’"


def _join(line: TextLine, run: PdfRun) -> None:
    """Leave no blank before a run of the line."""
    at = line.glyphs.index(run.glyphs[0])
    if line.glyphs[at - 1] < 0:
        del line.glyphs[at - 1]
