"""Where characters stand on the image of their page. Pure."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from citations.readers.page import Box
from citations.readers.pdf.layout import TextLine
from citations.readers.pdf.runs import NOTE, TURNS, Glyphs

MAX_DRIFT = 0.25  # of a size, by which a line that is not level may leave its box


def level_pieces(glyphs: Glyphs, marked: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split characters of a line that is not level, so that boxes can follow it."""
    drift = abs(math.tan(glyphs.skew))
    if not marked or not drift:
        yield marked
        return
    start, size = glyphs.box(marked[0]), glyphs.geometry[7 * marked[0] + 6]
    reach = MAX_DRIFT * size / drift
    edge = 1 if glyphs.styles[marked[0]] & TURNS in (4, 12) else 0  # top of a line that runs down
    for _, piece in groupby(
        marked, key=lambda index: (glyphs.box(index)[edge] - start[edge]) // reach
    ):
        yield list(piece)


def box_around(glyphs: Glyphs, line: TextLine, marked: Sequence[int]) -> Box:
    """Return the rectangle around characters, as high as all of the line's letters."""
    size = line.main.size
    own = [glyphs.box(index) for index in marked]
    letters = [
        box
        for box in map(glyphs.box, (index for index in line.main.glyphs if index >= 0))
        if max(box[3] - box[1], box[2] - box[0]) < 1.6 * size
    ]
    is_upright = line.main.turn % 2 == 0
    across, down = (own, own + letters) if is_upright else (own + letters, own)
    if line.main.turn > NOTE:  # oblique
        across = down = own
    left, right = min(box[0] for box in across), max(box[2] for box in across)
    top, bottom = min(box[1] for box in down), max(box[3] for box in down)
    x, y = _offset(glyphs, (left + right) / 2, (top + bottom) / 2)
    left, right = (min(max((edge + x) / glyphs.width, 0.0), 1.0) for edge in (left, right))
    top, bottom = (min(max((edge + y) / glyphs.height, 0.0), 1.0) for edge in (top, bottom))
    return Box(left, top, right - left, bottom - top)


def _offset(glyphs: Glyphs, x: float, y: float) -> tuple[float, float]:
    """Return how far a point of the level page is from its place on the page as it is."""
    x, y = x - glyphs.width / 2, y - glyphs.height / 2
    cosine, sine = math.cos(glyphs.skew) - 1, math.sin(glyphs.skew)
    return cosine * x - sine * y, sine * x + cosine * y
