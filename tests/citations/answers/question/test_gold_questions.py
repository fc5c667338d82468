"""Questions as people ask them go where a person would send them."""

import pytest

from citations.answers.answer import Breadth
from citations.answers.question.router import Embed, route
from citations.providers import registry
from citations.providers.embedding import Embedder
from tests.citations.answers.question import gold_questions


def with_breadth(specific: str, broad: str) -> list[tuple[str, Breadth]]:
    both = ((specific, Breadth.SPECIFIC), (broad, Breadth.BROAD))
    return [(line.strip(), breadth) for text, breadth in both for line in text.strip().splitlines()]


SETTLED = with_breadth(gold_questions.SPECIFIC, gold_questions.BROAD)
LATER = with_breadth(gold_questions.LATER_SPECIFIC, gold_questions.LATER_BROAD)


def wrong(labelled: list[tuple[str, Breadth]], embed: Embed | None = None) -> list[str]:
    return [
        question
        for question, breadth in labelled
        if [part.breadth for part in route(question, embed=embed).parts] != [breadth]
    ]


@pytest.fixture(scope="module")
def usual() -> Embedder:
    return registry.embedder("local")


def test_rules_alone_send_nine_of_ten_questions_where_a_person_would() -> None:
    assert len(wrong(SETTLED)) <= 0.1 * len(SETTLED), wrong(SETTLED)
    assert len(wrong(LATER)) <= 0.1 * len(LATER), wrong(LATER)


def test_with_the_usual_model_nineteen_of_twenty_go_there(usual: Embedder) -> None:
    assert len(wrong(SETTLED, usual.embed_queries)) <= 0.05 * len(SETTLED), wrong(
        SETTLED, usual.embed_queries
    )
    assert len(wrong(LATER, usual.embed_queries)) <= 0.05 * len(LATER), wrong(
        LATER, usual.embed_queries
    )


@pytest.mark.parametrize(
    "heading",
    [
        "Gradient descent",
        "Energy-based models",
        "Applications of the central limit theorem",
        "Buttons and interface design",
    ],
)
def test_what_asks_nothing_wants_its_place_whatever_it_is_near_to(heading: str) -> None:
    routed = route(heading, embed=lambda texts: pytest.fail("A heading needs no model."))
    assert ([part.breadth for part in routed.parts], routed.by) == ([Breadth.SPECIFIC], "rules")


@pytest.mark.parametrize("question", ["What does it mean?", "Why?", "What is it?"])
def test_a_question_without_a_word_that_says_anything_is_not_for_the_whole(question: str) -> None:
    assert route(question).parts[0].breadth == Breadth.SPECIFIC


@pytest.mark.parametrize(
    "question",
    ["How do I resume the download?", "Who invented backpropagation?", "Is it all on one disk?"],
)
def test_a_fact_about_an_overview_is_a_fact(question: str) -> None:
    assert route(question).parts[0].breadth == Breadth.SPECIFIC
