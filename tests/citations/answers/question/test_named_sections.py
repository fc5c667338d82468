"""“Chapter 4” and “section 2.3” are named by their numbers."""

import pytest

from citations.answers.question.named_sections import find_named_section


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
