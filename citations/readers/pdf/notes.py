"""Places what annotations say after the text of their page. Pure."""

import math
from collections.abc import Iterable
from dataclasses import replace

from citations.readers.pdf.runs import NOTE, Glyphs

SIZE = 10.0  # points, of letters that the page does not show
LINE, GAP = 12.0, 30.0  # points from line to line, and from note to note


def add_notes(glyphs: Glyphs, notes: Iterable[tuple[str, float, float, float, float]]) -> Glyphs:
    """Add notes as letters that each lie over the whole annotation: left, top, right, bottom.

    Many programs copy the words that a note marks into it; these are on the page already.
    """
    said = _letters("".join(map(chr, glyphs.codes)))
    codes, styles, geometry = list(glyphs.codes), list(glyphs.styles), list(glyphs.geometry)
    base = 0.0
    for text, *corners in notes:
        letters = _letters(text)
        if not letters or letters in said or not all(map(math.isfinite, corners)):
            continue
        limits = (glyphs.width, glyphs.height) * 2
        box = [min(max(corner, 0.0), limit) for corner, limit in zip(corners, limits, strict=True)]
        base += GAP
        for line in text.splitlines():
            base += LINE
            for letter in f"{line}\n":
                codes.append(ord(letter))
                styles.append(NOTE)
                geometry += (*box, box[0], base, SIZE)
    angles = [*glyphs.angles, *[0.0] * (len(codes) - len(glyphs.codes))] if glyphs.angles else ()
    return replace(glyphs, codes=codes, styles=styles, geometry=geometry, angles=angles)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
