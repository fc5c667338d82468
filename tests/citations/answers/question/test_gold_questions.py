"""Questions as people ask them go where a person would send them."""

import pytest

from citations.answers.answer import Breadth
from citations.answers.question.router import route
from tests.citations.answers.question import gold_questions


def with_breadth(specific: str, broad: str) -> list[tuple[str, Breadth]]:
    both = ((specific, Breadth.SPECIFIC), (broad, Breadth.BROAD))
    return [(line.strip(), breadth) for text, breadth in both for line in text.strip().splitlines()]


SETTLED = with_breadth(gold_questions.SPECIFIC, gold_questions.BROAD)
LATER = with_breadth(gold_questions.LATER_SPECIFIC, gold_questions.LATER_BROAD)


def wrong(labelled: list[tuple[str, Breadth]]) -> list[str]:
    return [
        question
        for question, breadth in labelled
        if [part.breadth for part in route(question).parts] != [breadth]
    ]


def test_nineteen_of_twenty_questions_go_where_a_person_would_send_them() -> None:
    for labelled in (SETTLED, LATER):
        assert len(wrong(labelled)) <= 0.05 * len(labelled), wrong(labelled)


@pytest.mark.parametrize(
    "heading",
    [
        "Gradient descent",
        "Energy-based models",
        "Applications of the central limit theorem",
        "Buttons and interface design",
    ],
)
def test_what_asks_nothing_wants_its_place(heading: str) -> None:
    assert [part.breadth for part in route(heading).parts] == [Breadth.SPECIFIC]


@pytest.mark.parametrize("question", ["What does it mean?", "Why?", "What is it?"])
def test_a_question_without_a_word_that_says_anything_is_not_for_the_whole(question: str) -> None:
    assert route(question).parts[0].breadth == Breadth.SPECIFIC


@pytest.mark.parametrize(
    "question",
    ["How do I resume the download?", "Who invented backpropagation?", "Is it all on one disk?"],
)
def test_a_fact_about_an_overview_is_a_fact(question: str) -> None:
    assert route(question).parts[0].breadth == Breadth.SPECIFIC
