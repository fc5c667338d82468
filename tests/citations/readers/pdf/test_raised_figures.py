"""Figures that stand above or below their line are not read as if they stood on it."""

import pytest

from citations.readers.pdf.layout import lay_out
from citations.readers.pdf.paragraphs import compose
from citations.readers.pdf.raised_figures import with_raised_figures
from tests.citations.readers.pdf.test_layout import Set, page


def read(*pieces: Set) -> str:
    glyphs = page(*pieces)
    lines = lay_out(glyphs)
    return compose(with_raised_figures(glyphs, lines), lines).text


def beside(before: str, figures: str, after: str, *, up: float, gap: float = 0.0) -> list[Set]:
    """Set letters of 10 points, figures of 7 so far above their line, and letters again."""
    left = 50 + 5 * len(before) + gap
    return [
        (before, 50, 100, 10, 0),
        (figures, left, 100 - up, 7, 0),
        (after, left + 3.5 * len(figures) + gap, 100, 10, 0),
    ]


@pytest.mark.parametrize(
    ("before", "figures", "after", "up", "text"),
    [
        ("about 10", "3", " kg", 4, "about 10³ kg"),
        ("about 10", "-3", " kg", 4, "about 10⁻³ kg"),
        ("of H", "2", "O and", -2, "of H₂O and"),
        ("boats left", "1", ", and", 4, "boats left¹, and"),
        ("is known", "4,5", ". It", 4, "is known⁴,⁵. It"),
    ],
)
@pytest.mark.parametrize("gap", [0.0, 1.5])
def test_figures_are_written_as_they_stand(
    before: str, figures: str, after: str, up: float, text: str, gap: float
) -> None:
    assert read(*beside(before, figures, after, up=up, gap=gap)) == text


@pytest.mark.parametrize(
    ("figures", "up", "gap"), [("st", 4, 0.0), ("3", 0, 0.0), ("3", 4, 9.0)], ids=str
)
def test_others_stay_as_they_are(figures: str, up: float, gap: float) -> None:
    text = read(*beside("the 1", figures, "of May", up=up, gap=gap))
    assert figures in text.replace(" ", "")
