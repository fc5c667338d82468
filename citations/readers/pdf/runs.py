"""A page's characters, and the runs of them that the file writes on one baseline. Pure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from unicodedata import category

from citations.readers.pdf.scripts import in_order, is_backwards, is_east_asian

# Bits of a style, see ``page_characters``; notes come last.
GENERATED, BOLD, TURNS, FIELD, NOTE, UNMAPPED = 1, 2, 12, 16, 32, 64
OBLIQUE = 1_000  # the turn of a line at 0 degrees, if there were one; others are near it
AFTER_LETTER, AFTER_SPACE = 0.95, 0.7  # sizes: wider gaps end a run; a gutter may be narrow
FAR = 0.8  # sizes between letters that are one word only where most of the run's are as far
FARTHEST_BACK = 2.5  # sizes that letters of scripts may run backwards
BACK = 0.5  # sizes that a word may end before the letter that is written before it
SPACED = 8  # characters that tell whether letters are set apart
GUTTER = 1.25  # usual spaces of a line: those between columns are wider
ALIGNED = 0.6  # share of the lines across a gutter whose second part begins there
MIN_ALIGNED = 5  # lines
MAX_GUTTERS = 60  # that are tried


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
    far: list[int] = field(default_factory=list)  # letters that stand far from the one before

    @property
    def top(self) -> float:
        return self.base - 0.72 * self.size

    @property
    def bottom(self) -> float:
        return self.base + 0.22 * self.size


def runs_of(glyphs: Glyphs) -> list[PdfRun]:
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
        back = BACK if blank >= 0 and not is_backwards(code) else FARTHEST_BACK
        if runs and (at := _beneath(glyphs, runs[-1], index, turn, y)):
            runs[-1].glyphs.insert(at, index)
            continue
        if run is None or not _continues(run, turn, left, right, y, size, gap, back):
            run = PdfRun([], left, right, y, size, turn=turn, is_field=bool(style & FIELD))
            runs.append(run)
        elif blank >= 0 and not (
            styles[blank] & GENERATED
            and (_is_close(run, code, left, size) or _is_apart(glyphs, run, left, size))
        ):
            run.glyphs.append(-1)
        elif left - run.end > FAR * size and turn < NOTE and not is_east_asian(code):
            run.far.append(index)
        blank = -1
        run.glyphs.append(index)
        run.left, run.right, run.end = min(run.left, left), max(run.right, right), right
        run.bold += bool(style & BOLD)
        run.backwards += is_backwards(code)
    return [piece for run in runs for piece in _finished(glyphs, run)]


def _beneath(glyphs: Glyphs, run: PdfRun, index: int, turn: int, base: float) -> int:
    """Return where in a run a vowel sign or an accent belongs that stands over an earlier letter
    than the last, 0 for any other character.
    """
    code = glyphs.codes[index]
    if code < 0x300 or category(chr(code))[0] != "M" or is_backwards(code):
        return 0
    if glyphs.box(index) == glyphs.box(index - 1):
        return 0  # of the same ligature
    _, left, right, _ = _placed(glyphs, index)
    middle = (left + right) / 2
    if turn != run.turn or middle > run.right or abs(base - run.base) > 0.2 * run.size:
        return 0
    letters = [(at, own) for at, own in enumerate(run.glyphs, 1) if own >= 0]
    for at, letter in reversed(letters):
        _, first, last, _ = _placed(glyphs, letter)
        if first < middle < last:
            return at if at < len(run.glyphs) else 0
    return 0


def _finished(glyphs: Glyphs, run: PdfRun) -> Iterator[PdfRun]:
    """Put letters in order; split a run at those that stand far apart, unless most of them do."""
    if run.backwards:
        run.glyphs = in_order(glyphs.codes, glyphs.geometry, run.glyphs)
    elif run.far and len(run.far) <= max(1, len(run.glyphs) // 2):
        for index in run.far:
            run.glyphs.insert(run.glyphs.index(index), -1)
        yield from _pieces(glyphs, run, [run.glyphs.index(index) - 1 for index in run.far])
        return
    yield run


_BREAKS = frozenset((10, 13, 0x2028, 0x2029))
BLANKS = frozenset(
    (*(0, 1), *range(3, 33), *range(0x7F, 0x83), 0xA0, 0x1680, *range(0x2000, 0x200C))
).union((0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF))


def _continues(
    run: PdfRun,
    turn: int,
    left: float,
    right: float,
    base: float,
    size: float,
    gap: float,
    back: float,
) -> bool:
    """Whether a character continues a run. Right-to-left scripts run backwards."""
    larger = max(run.size, size)
    if turn != run.turn or abs(base - run.base) > 0.2 * larger or not 0.75 < size / run.size < 1.34:
        return False
    return left - run.end <= gap * larger and run.end - right <= back * larger


def _is_close(run: PdfRun, code: int, left: float, size: float) -> bool:
    """Whether a character stands where the next of a script without spaces does."""
    return is_east_asian(code) and left - run.end < 0.5 * size


def _is_apart(glyphs: Glyphs, run: PdfRun, left: float, size: float) -> bool:
    """Whether a character stands as far from a run as the run's letters from each other."""
    gap, gaps, letters = left - run.end, [], 0
    for after, index in pairwise(reversed(run.glyphs[-SPACED:])):
        pair = "".join(chr(glyphs.codes[each]) for each in (after, index) if each >= 0)
        if len(pair) == 2 and pair.isalnum():
            gaps.append(_placed(glyphs, after)[1] - _placed(glyphs, index)[2])
            letters += 2 if pair.isalpha() else 1  # beside a 1 there is always space
    most = 1.7 if len(gaps) > 1 else 1.1  # “ln x” has a narrow space
    return letters > 1 and min(gaps) >= 0.12 * size and gap <= most * min(gaps)


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


def split_at_gutters(glyphs: Glyphs, runs: Sequence[PdfRun]) -> list[PdfRun]:
    """Split runs that cross a gutter: where a wide space ends at the same place in most of them, a
    program has written two columns row by row.
    """
    spaces = [[*_spaces(glyphs, run)] for run in runs]
    usual = [median(width for _, _, width in own) if own else 0.0 for own in spaces]
    starts = Counter(
        round(left)
        for own, most in zip(spaces, usual, strict=True)
        for _, left, width in own
        if width > GUTTER * most
    )
    near = ((sum(starts[x + step] for step in (-1, 0, 1)), x) for x in starts)
    gutters = []
    for count, x in sorted(near, reverse=True)[:MAX_GUTTERS]:
        across = sum(run.left < x - 1 and x + 1 < run.right for run in runs)
        if count < MIN_ALIGNED:
            break
        if count > ALIGNED * across:
            gutters.append(x)
    if not gutters:
        return list(runs)
    return [
        piece
        for run, own in zip(runs, spaces, strict=True)
        for piece in _pieces(
            glyphs, run, [at for at, left, _ in own if any(abs(left - x) < 1.6 for x in gutters)]
        )
    ]


def _spaces(glyphs: Glyphs, run: PdfRun) -> Iterator[tuple[int, float, float]]:
    """Yield the spaces of a run: their index in it, where the next word begins, their width."""
    for at, index in enumerate(run.glyphs):
        if index < 0 and 0 < at < len(run.glyphs) - 1:
            before, after = (_placed(glyphs, run.glyphs[at + step]) for step in (-1, 1))
            yield at, after[1], after[1] - before[2]


def _pieces(glyphs: Glyphs, run: PdfRun, ends: Sequence[int]) -> Iterator[PdfRun]:
    if not ends:
        yield run
        return
    for first, last in pairwise((-1, *ends, len(run.glyphs))):
        if indexes := run.glyphs[first + 1 : last]:
            own = [index for index in indexes if index >= 0]
            places = [_placed(glyphs, index) for index in own]
            bold = sum(bool(glyphs.styles[index] & BOLD) for index in own)
            left, right = min(place[1] for place in places), max(place[2] for place in places)
            yield replace(run, glyphs=indexes, left=left, right=right, bold=bold, end=right)
