"""Scripts that run from right to left, or have no spaces between words. Pure."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from unicodedata import bidirectional

_BACKWARDS = (
    *(range(0x590, 0x900), range(0xFB1D, 0xFE00), range(0xFE70, 0xFEFF)),
    *(range(0x10800, 0x11000), range(0x1E800, 0x1F000)),
)
_EAST_ASIAN = (
    *(range(0x3001, 0x3130), range(0x3190, 0xA000), range(0xF900, 0xFB00)),  # not Korean
    *(range(0xFF00, 0xFFF0), range(0x20000, 0x40000)),
)


def is_backwards(code: int) -> bool:
    """Whether a character is of a script that runs from right to left."""
    return code >= 0x590 and any(code in part for part in _BACKWARDS)


def is_east_asian(code: int) -> bool:
    """Whether a character is Chinese or Japanese: there are no spaces between words."""
    return code > 0x3000 and any(code in part for part in _EAST_ASIAN)


def in_order(codes: Sequence[int], geometry: Sequence[float], indexes: Sequence[int]) -> list[int]:
    """Return characters (-1: a space) in the order of reading; a file may have those of a
    right-to-left script as they stand, from left to right. ``geometry`` is that of ``Glyphs``.
    """
    own = [geometry[7 * index] for index in indexes if index >= 0 and is_backwards(codes[index])]
    if sum((b > a) - (b < a) for a, b in pairwise(own)) <= 0:
        return list(indexes)
    ordered: list[int] = []
    marks: list[int] = []
    for is_plain, part in groupby(
        reversed(indexes), key=lambda index: index >= 0 and chr(codes[index]).isascii()
    ):
        for index in [*part][::-1] if is_plain else part:
            if index >= 0 and bidirectional(chr(codes[index])) == "NSM":
                marks.append(index)  # it follows its letter
            else:
                ordered += (index, *marks)
                marks = []
    return ordered + marks
