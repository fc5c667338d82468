"""A page as OCR has read it, as the characters that a text layer would have. Pure."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final, Self, TypeAlias

from citations.readers.pdf.glyph_repair import is_gibberish
from citations.readers.pdf.layout import Glyphs

READABLE: Final = 0.7  # a mean score below which a page's words are surely not those it shows
LINE: Final = 0.5  # a score below which a line is left out: speckles, drawings
BOX: Final = 1.12  # height of a line's box in sizes of its letters
BASE: Final = 0.25  # of a size, from the middle of a line down to its baseline
STEP: Final = 1.25  # between sizes that differ: those of boxes vary with the letters in them
SPACE: Final = 32

Line: TypeAlias = tuple[str, float, float, float, Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPage:
    """What OCR has read in a picture of a page, in pixels of the picture turned upright.

    The page was ``turn``ed by quarter turns to the left, and its ``lines`` made level by ``skew``
    (radians). A line is its text, its score (0–1), its middle and height, and where each character
    that is no space begins and ends.
    """

    width: float
    height: float
    turn: int = 0
    skew: float = 0.0
    engine: str = ""
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
        """Whether its words can be those that it shows: the models guess at scripts that they do
        not know.
        """
        return not self.lines or (self.score >= READABLE and not is_gibberish(self.text))

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
        usual = median(line[3] for line in lines) if lines else 1.0
        for text, _, middle, height, places in lines:
            size = usual * STEP ** round(math.log(height / usual, STEP)) / BOX * scale[1]
            middle *= scale[1]
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


def _on_page(turn: int, x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """Return a point of the upright page on the page as it is."""
    if turn == 1:
        return width - y, x
    if turn == 2:
        return width - x, height - y
    return (y, height - x) if turn == 3 else (x, y)
