"""Scripts that run from right to left, or have no spaces between words. Pure."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from unicodedata import bidirectional

_EAST_ASIAN = (
    *(range(0x3001, 0xA000), range(0xF900, 0xFB00)),
    *(range(0xFF00, 0xFFF0), range(0x20000, 0x40000)),
)


def is_backwards(code: int) -> bool:
    """Whether a character is a letter or mark of a script that runs from right to left."""
    return code > 0x58F and bidirectional(chr(code)) in ("R", "AL", "NSM")


def is_east_asian(code: int) -> bool:
    """Whether a character is Chinese or Japanese: there are no spaces between words."""
    return any(code in part for part in _EAST_ASIAN)


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
