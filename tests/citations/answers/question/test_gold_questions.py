"""Questions as people ask them go where a person would send them."""

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
