"""Corrects what programs that write PDF do to the places and sizes of characters. Pure."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from unicodedata import normalize

from citations.readers.pdf.glyph_repair import find_shift
from citations.readers.pdf.runs import BLANKS, TURNS, UNMAPPED, Glyphs
from citations.readers.pdf.scripts import is_backwards, is_east_asian

TALL, FLAT = 2.0, 0.15  # heights of usual letters in sizes, beyond which the size is none
USUAL_HEIGHT = 0.55  # of letters, in sizes
SAME_PLACE = 0.12  # sizes between a letter and the same one, drawn again for a shadow or boldness
COLUMN = 3  # letters below each other that are a line
DOWNWARDS = 1 << 2  # the turn of lines from top to bottom
UNKNOWN = 0xFFFD
APPLES = 29  # the shift of fonts in Apple's order of glyphs, whose accents follow as in Mac Roman
MAX_JUDGED = 5_000  # characters that tell the shift
MOST_GLYPHS = 170  # with places that all such fonts share
AWAY = (-1.0,) * 6  # beside the page
# The letters of each Arabic ligature that is a character of Unicode.
LIGATURES = frozenset(
    normalize("NFKC", chr(code)) for code in (*range(0xFB50, 0xFE00), *range(0xFEF5, 0xFEFD))
)
Place = tuple[float, float, float, float, float, float, float]


def clean(glyphs: Glyphs) -> Glyphs:
    """Return the page with true sizes, each letter once, and columns of writing as lines."""
    numbers = glyphs.geometry
    places: list[Place] = list(zip(*(numbers[start::7] for start in range(7)), strict=True))
    codes, styles = list(glyphs.codes), list(glyphs.styles)
    _read_unmapped(codes, styles, places)
    _correct_sizes(codes, places)
    _take_away_doubles(codes, places)
    _turn_columns(codes, styles, places)
    _turn_ligatures(codes, places)
    geometry = [number for place in places for number in place]
    return replace(glyphs, codes=codes, styles=styles, geometry=geometry)


def _read_unmapped(codes: list[int], styles: list[int], places: list[Place]) -> None:
    """Replace the numbers of glyphs of which the file does not say what letters they are."""
    unmapped = [index for index, style in enumerate(styles) if style & UNMAPPED]
    known = "".join(chr(codes[index]) if codes[index] > 2 else " " for index in unmapped)
    shift = find_shift(known[:MAX_JUDGED]) if unmapped else 0
    for index in unmapped:
        left, top, right, bottom, _, _, size = places[index]
        if shift and codes[index] <= MOST_GLYPHS:
            codes[index] = _shifted(codes[index], shift)
        if codes[index] < 32:
            codes[index] = UNKNOWN if min(right - left, bottom - top) > 0.01 * size else 32


def _shifted(code: int, shift: int) -> int:
    letter = code + shift
    if letter < 0x7F:
        return letter
    return ord(bytes([letter + 1]).decode("mac_roman")) if shift == APPLES else UNKNOWN


def _correct_sizes(codes: list[int], places: list[Place]) -> None:
    """Estimate sizes that have nothing to do with the letters, as fonts of a program's own have."""
    heights: dict[float, list[float]] = defaultdict(list)
    for code, (left, top, right, bottom, _, _, size) in zip(codes, places, strict=True):
        if code > 64 and bottom > top and right > left and size:
            heights[size].append(min(bottom - top, right - left) if size < 1 else bottom - top)
    wrong = {
        size: median(own) / USUAL_HEIGHT
        for size, own in heights.items()
        if not FLAT * size < median(own) < TALL * size
    }
    if wrong:
        places[:] = [(*place[:6], wrong.get(place[6], place[6])) for place in places]


def _take_away_doubles(codes: list[int], places: list[Place]) -> None:
    """Move letters beside the page that lie on the same ones; not those of one ligature."""
    sides = [
        (code, x // (2 * SAME_PLACE * size), y // (2 * SAME_PLACE * size))
        for code, (_, _, _, _, x, y, size) in zip(codes, places, strict=True)
        if size and code not in BLANKS
    ]
    if len(set(sides)) == len(sides):
        return  # a string that is drawn again would have a letter in the same cell
    cells: dict[tuple[int, int, int], int] = {}
    for index, (code, place) in enumerate(zip(codes, places, strict=True)):
        *box, x, y, size = place
        if code in BLANKS or not size:
            continue
        side = 2 * SAME_PLACE * size
        column, row = int(x // side), int(y // side)
        near = 1 if x % side > side / 2 else -1, 1 if y % side > side / 2 else -1
        corners = ((column, row), (column + near[0], row), (column, row + near[1]))
        for across, down in (*corners, (column + near[0], row + near[1])):
            earlier = cells.get((code, across, down))
            if earlier is not None and _is_double(index, place, earlier, places[earlier]):
                places[index] = *AWAY, size
                break
        else:
            cells[code, column, row] = index


def _is_double(index: int, place: Place, earlier: int, before: Place) -> bool:
    reach = SAME_PLACE * place[6]
    is_near = abs(place[4] - before[4]) < reach and abs(place[5] - before[5]) < reach
    is_ligature = index - earlier < 4 and place == before
    return is_near and 0.9 < place[6] / before[6] < 1.1 and not is_ligature


def _turn_columns(codes: list[int], styles: list[int], places: list[Place]) -> None:
    """Let Chinese and Japanese letters that follow each other downwards be a line of that turn."""
    for column in _columns(codes, styles, places):
        if len(column) < COLUMN:
            continue
        for index in column:
            left, top, right, bottom, _, y, size = places[index]
            styles[index] |= DOWNWARDS
            middle, center = (left + right) / 2, (top + bottom) / 2
            top, bottom = min(top, center - size / 2), max(bottom, center + size / 2)
            places[index] = left, top, right, bottom, middle, y, size


def _columns(codes: list[int], styles: list[int], places: list[Place]) -> Iterator[list[int]]:
    column: list[int] = []
    for index, code in enumerate(codes):
        if not is_east_asian(code) or styles[index] & TURNS:
            continue
        left, _, right, _, _, y, size = places[index]
        if column:
            before = places[column[-1]]
            is_below = 0.5 * size < y - before[5] < 1.7 * size
            if not is_below or abs(left + right - before[0] - before[2]) > 0.6 * size:
                yield column
                column = []
        column.append(index)
    yield column


def _turn_ligatures(codes: list[int], places: list[Place]) -> None:
    """Put the letters of ligatures of right-to-left scripts in order: PDFium turns those that the
    file names one by one, unlike those that Unicode has as one character.
    """
    start = 0
    for index in range(1, len(codes) + 1):
        is_same = index < len(codes) and places[index] == places[start]
        if is_same and is_backwards(codes[index]) == is_backwards(codes[start]):
            continue
        if index - start > 1 and is_backwards(codes[start]):
            letters = "".join(map(chr, codes[start:index]))
            codes[start:index] = map(ord, letters if letters in LIGATURES else letters[::-1])
        start = index
