"""“Chapter 4” and “section 2.3” are named by their numbers, and are stretches of a source."""

import pytest

from citations.answers.question.named_sections import Heading, find_named_section, section_span


@pytest.mark.parametrize(
    ("question", "number", "left"),
    [
        ("What does chapter 4 say about roots?", (4,), "What does it say about roots?"),
        ("In section 2.3, what is a limit?", (2, 3), "What is a limit?"),
        ("What is a limit according to Section 2.3 of the book?", (2, 3), "What is a limit?"),
        ("Summarize chapter 3", (3,), "Summarize"),
        ("Was steht in Kapitel 2 über Ventile?", (2,), "Was steht über Ventile?"),
        ("Que dit le chapitre 12 ?", (12,), "Que dit le?"),
        ("What, in chapter 4, is a gene?", (4,), "What is a gene?"),
        ('Explain chapter 5 "Genes"', (5,), 'Explain "Genes"'),
        ('What about chapter 2, "dual parity"?', (2,), 'What about "dual parity"?'),
    ],
)
def test_a_section_is_named_by_its_number(
    question: str, number: tuple[int, ...], left: str
) -> None:
    named = find_named_section(question)
    assert named is not None
    assert (named.number, named.question) == (number, left)


@pytest.mark.parametrize("question", ["What is a chapter?", "Who was 4 years old?", "Part of it"])
def test_no_number_names_no_section(question: str) -> None:
    assert find_named_section(question) is None


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
