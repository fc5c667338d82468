"""A page as OCR has read it, as the characters that a text layer would have. Pure."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final, Self, TypeAlias

from citations.readers.pdf.glyph_repair import is_gibberish
from citations.readers.pdf.runs import Glyphs

READABLE: Final = 0.7  # a mean score below which a page's words are surely not those it shows
MISSING: Final = 0.1  # share of the letters of words that are followed by a gap as of a letter
EMPTY: Final = 0.5  # share of the width of lines where nothing was read
WIDE: Final = 1.7  # usual distances from letter to letter, beyond which one is missing between
MIN_USUAL, NARROW = 5, 0.45  # letters of a line with a usual distance, else that in its heights
MIN_PAIRS: Final = 20  # letters beside each other, by which a page is judged
LINE: Final = 0.5  # a score below which a line is left out: speckles, drawings
BOX: Final = 1.12  # height of a line's box in sizes of its letters
BASE: Final = 0.25  # of a size, from the middle of a line down to its baseline
FLAT: Final = 0.79  # of the height of a box: that of a line in which no letter descends
STEP: Final = 1.25  # between sizes that differ: those of boxes vary with the letters in them
SPACE: Final = 32

_DESCENDING: Final = re.compile(r"[gjpqyçşţµ()\[\]{}|\u2e80-\uffff]")

Line: TypeAlias = tuple[str, float, float, float, float, Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPage:
    """What OCR has read in a picture of a page, in pixels of the picture turned upright.

    The page was ``turn``ed by quarter turns to the left, and its ``lines`` made level by ``skew``
    (radians). A line is its text, its score (0–1), its middle, width and height, and where each
    character that is no space begins and ends. In ``blank`` others no letter was read.
    """

    width: float
    height: float
    turn: int = 0
    skew: float = 0.0
    engine: str = ""
    blank: int = 0
    lines: Sequence[Line] = ()

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """Return the page of what ``stored`` has returned."""
        return cls(**stored)

    def stored(self) -> dict[str, Any]:
        """Return the page as JSON."""
        return asdict(self)

    @property
    def text(self) -> str:
        return " ".join(text for text, *_ in self.lines)

    @property
    def score(self) -> float:
        """The mean score of its characters, 0 without any."""
        count = sum(len(text) for text, *_ in self.lines)
        return sum(len(text) * score for text, score, *_ in self.lines) / count if count else 0.0

    @property
    def is_readable(self) -> bool:
        """Whether its words can be those that it shows. Of scripts that they do not know, the
        models guess letters or leave them out.
        """
        if self.blank > max(1, len(self.lines)):
            return False
        if not self.lines:
            return True
        is_sure = self.score >= READABLE and not is_gibberish(self.text)
        return is_sure and not self._lacks_letters()

    def _lacks_letters(self) -> bool:
        wide = pairs = 0
        empty = 0.0
        for line in self.lines:
            within, across = _distances(line)
            usual = median(within) if len(within) >= MIN_USUAL else NARROW * line[4]
            wide += sum(distance > WIDE * usual for distance in within)
            pairs += len(within)
            empty += sum(max(0.0, distance - 4 * usual) for distance in across)
        width = sum(line[3] for line in self.lines)
        return (pairs >= MIN_PAIRS and wide > MISSING * pairs) or empty > EMPTY * width

    def glyphs(self, width: float, height: float) -> Glyphs:
        """Return its characters on a page of this size in points, none of what is not readable."""
        upright = (height, width) if self.turn % 2 else (width, height)
        scale = upright[0] / self.width, upright[1] / self.height
        codes: list[int] = []
        geometry: list[float] = []
        for code, left, right, middle, size in self._characters(scale):
            codes.append(code)
            top, bottom, base = middle - size / 2, middle + size / 2, middle + BASE * size
            x1, y1 = _on_page(self.turn, left, top, width, height)
            x2, y2 = _on_page(self.turn, right, bottom, width, height)
            origin = _on_page(self.turn, left, base, width, height)
            geometry += (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2), *origin, size)
        return Glyphs(
            width=width,
            height=height,
            codes=codes,
            styles=[self.turn << 2] * len(codes),
            geometry=geometry,
            skew=self.skew,
        )

    def _characters(
        self, scale: tuple[float, float]
    ) -> Iterator[tuple[int, float, float, float, float]]:
        """Yield code, left, right, middle and size of the characters on the upright page."""
        read = self.lines if self.is_readable else ()
        lines = [line for line in read if line[1] >= LINE]
        usual = median(map(_height, lines)) if lines else 1.0
        for line in lines:
            text, _, middle, _, _, places = line
            step = math.trunc(math.log(_height(line) / usual, STEP))
            size, middle = usual * STEP**step / BOX * scale[1], middle * scale[1]
            following = iter(places)
            left = right = places[0][0] if places else 0
            for letter in text:
                if letter.isspace():
                    left = right
                    yield SPACE, left * scale[0], right * scale[0], middle, size
                    continue
                left, right = next(following, (left, right))
                yield ord(letter), left * scale[0], right * scale[0], middle, size
            yield ord("\n"), right * scale[0], right * scale[0], middle, size


OcrLookup: TypeAlias = Callable[[int], OcrPage | None]
"""Returns what OCR has read on a page, None of a page that it has not read. Equal ones return the
same; they can be hashed."""


def _height(line: Line) -> float:
    """Return the height that a line's box has where letters of it descend."""
    return line[4] if _DESCENDING.search(line[0]) else line[4] / FLAT


def _distances(line: Line) -> tuple[list[float], list[float]]:
    """Return the distances from letter to letter within words, and others: across spaces, and to
    the ends of the line.
    """
    text, _, _, width, _, places = line
    middles = [sum(place) / 2 for place in places]
    within: list[float] = []
    across = [width - (middles[-1] - middles[0])]
    pairs = iter(pairwise(middles))
    for before, letter in pairwise(text.strip()):
        if not letter.isspace():
            left, right = next(pairs, (0.0, 0.0))
            (across if before.isspace() else within).append(right - left)
    return within, across


def _on_page(turn: int, x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """Return a point of the upright page on the page as it is."""
    if turn == 1:
        return width - y, x
    if turn == 2:
        return width - x, height - y
    return (y, height - x) if turn == 3 else (x, y)
