"""“Chapter 4” and “section 2.3” are stretches of a source, by its numbered headings."""

import pytest

from citations.answers.numbered_sections import Heading, section_span

HEADINGS = [
    Heading(text, 100 * number, 100 * number + 90)
    for number, text in enumerate(
        ["", "1 Steam", "Hint", "2.1 Boilers", "2.2 Valves", "Proof", "2.10 Rods", "Chapter 3: Oil"]
    )
]


@pytest.mark.parametrize(
    ("number", "span"),
    [
        ((1,), (100, 290)),
        ((2,), (300, 690)),
        ((2, 2), (400, 590)),
        ((2, 1), (300, 390)),
        ((3,), (700, 790)),
        ((4,), None),
        ((2, 7), None),
    ],
)
def test_a_section_goes_on_to_the_next_number(
    number: tuple[int, ...], span: tuple[int, int] | None
) -> None:
    assert section_span(number, HEADINGS) == span
