"""How wide the columns of a table are, so that it fits a terminal. Pure."""

from collections.abc import Sequence
from typing import Final

GAP: Final = 2  # between two columns
CELL: Final = 7  # characters that a column keeps before another one is left out
MAIN: Final = 20  # the same of the column by which people know a row
ID: Final = 36  # the same of an id, such as a UUID: it is copied


def fitted(natural: Sequence[int], room: int, *, main: int) -> dict[int, int]:
    """Return the width of each column that is shown, by its index.

    ``natural`` are the widths that cut nothing. The first column, an id that is copied, keeps
    ``ID`` characters unless it is ``main``, which keeps ``MAIN``. What does not fit is cut, the
    widest first; where too little would be left of a column, the last ones are left out.
    """
    least = [min(width, MAIN if index == main else CELL) for index, width in enumerate(natural)]
    if main:
        least[0] = min(natural[0], ID)
    columns = list(range(len(natural)))
    others = [index for index in columns if index not in (0, main)]
    while others and _total([least[index] for index in columns]) > room:
        columns.remove(others.pop())
    widths = {index: least[index] for index in columns}
    spare = room - _total(list(widths.values()))
    while spare > 0 and (cut := [index for index in columns if widths[index] < natural[index]]):
        narrowest = min(cut, key=lambda index: widths[index] / (3 if index == main else 1))
        widths[narrowest] += 1
        spare -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
