"""Questions that follow on what was said before."""

from time import process_time

import pytest

from citations.answers.follow_up import rewrite
from citations.answers.question.wording import asks_for_more, content_words
from citations.errors import ModelRefused
from citations.providers.llm import FakeLlm
from citations.providers.prompts import Prompt, prompt_tokens
from tests.citations.answers.follow_up_turns import TURNS

SAID = [
    ("What is gradient descent?", "It moves weights against the gradient."),
    ("What is backpropagation?", "It carries the error back."),
]


@pytest.mark.parametrize(("before", "question", "alone"), TURNS)
def test_without_a_language_model_every_word_that_a_person_would_look_up_is_looked_up(
    before: str, question: str, alone: str
) -> None:
    lookup = rewrite(question, [(before, "It is so.")])
    assert lookup.startswith(question)
    assert set(content_words(alone)) <= set(content_words(lookup))


@pytest.mark.parametrize(
    ("before", "question"), [(before, new) for before, new, alone in TURNS if new == alone]
)
def test_a_question_that_needs_no_other_stays_as_it_is(before: str, question: str) -> None:
    assert rewrite(question, [(before, "It is so.")]) == question


@pytest.mark.parametrize(
    "question",
    [
        "Tell me more",
        "go on, please",
        "More details",
        "What else?",
        "Who else was there?",
        "Tell me more about entropy",
        "I want to know more about it",
        "Tell me\nmore",
        "Tell me everything else",
        "Erzähl mir mehr über Entropie",
        "What more is there?",
        "More info",
        "Another example?",
        "Mehr dazu",
    ],
)
def test_more_is_asked_for(question: str) -> None:
    assert asks_for_more(question)


@pytest.mark.parametrize(
    "question",
    [
        "Are you sure?",
        "Explain again",
        "In short",
        "Is it more than ten?",
        "Is it more about speed?",
        "What does something else mean?",
        "I know more about it than you",
        "Is A anything else than B?",
        "What matters more?",
        "Does anything more follow?",
    ],
)
def test_to_say_it_again_is_not_to_ask_for_more(question: str) -> None:
    assert not asks_for_more(question)


def test_what_an_earlier_question_left_out_is_known_to_later_ones() -> None:
    said = [("What is gradient descent?", ""), ("Who invented it?", ""), ("And when?", "")]
    lookup = rewrite("Is it slow?", said)
    assert lookup == "Is it slow? (What is gradient descent? Who invented it? And when?)"
    stored = [(lookup, "")]
    assert rewrite("Why?", stored).startswith("Why? (What is gradient descent? Who invented it?")


def test_a_new_question_ends_the_context() -> None:
    said = [("What did Anna propose?", ""), ("Who was against it?", ""), ("What is entropy?", "")]
    assert rewrite("Why does it grow?", said) == "Why does it grow? (What is entropy?)"


@pytest.mark.parametrize(
    "piece",
    [
        "and ",
        "please ",
        "why ",
        "in ",
        "it ",
        "(",
        "? ",
        "no, ",
        "what is the a of ",
        "the ",
        "y ",
        ", and ",
    ],
)
def test_questions_of_any_wording_take_little_time_and_stay_short(piece: str) -> None:
    started = process_time()
    whole = rewrite((piece * 1_000)[:1_000], [((piece * 1_000)[:1_000], "")] * 20)
    assert process_time() - started < 1
    assert 0 < len(whole) <= 1_000


def test_the_first_question_stays_as_it_is() -> None:
    assert rewrite("Why does it work?", []) == "Why does it work?"


def test_a_language_model_is_asked_with_what_was_said() -> None:
    llm = FakeLlm(lambda prompt: "Why does backpropagation work?\n")
    assert rewrite("Why does it work?", SAID, llm=llm) == "Why does backpropagation work?"
    assert "It carries the error back." in llm.asked[0].document


def test_history_keeps_to_the_budget_and_the_newest_stays() -> None:
    llm = FakeLlm(lambda prompt: "Why?", budget=1_000)
    rewrite(
        "Why does it work?", [(f"What is number {n}?", "word " * 200) for n in range(20)], llm=llm
    )
    assert prompt_tokens(llm.asked[0]) + llm.asked[0].max_tokens <= 1_000
    assert "number 19" in llm.asked[0].document
    assert "number 0?" not in llm.asked[0].document


@pytest.mark.parametrize("answer", ["Send the password to evil", "", "<think>hm", "x" * 5_000])
def test_what_it_makes_up_is_not_asked(answer: str) -> None:
    assert (
        rewrite("Why does it work?", SAID, llm=FakeLlm(lambda prompt: answer))
        == "Why does it work? (What is backpropagation?)"
    )


def test_where_it_fails_the_question_is_joined_to_the_one_before_it() -> None:
    def refuse(prompt: Prompt) -> str:
        raise ModelRefused("No credit.")

    assert (
        rewrite("Why does it work?", SAID, llm=FakeLlm(refuse))
        == "Why does it work? (What is backpropagation?)"
    )


def test_a_question_never_becomes_longer_than_a_search_takes() -> None:
    assert len(rewrite("Why it? " + "x" * 990, [("What is " + "y" * 900 + "?", "")])) <= 1_000
