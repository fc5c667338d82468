"""Words of questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.writing.term_matching import covered, named, stems, subject


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What is the capital of France?", "the capital of France"),
        ("Tell me about backpropagation.", "backpropagation"),
        ("Tell me some more about backpropagation", "backpropagation"),
        ("Can you please explain gradient descent?", "gradient descent"),
        ("How many layers are there?", "layers are there"),
        ("Who?", "Who"),
        ("entropy", "entropy"),
    ],
)
def test_a_question_is_named_by_what_it_asks_about(question: str, about: str) -> None:
    assert subject(question) == about


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the capital of France?", "the capital of France"),
        ("Can you please explain gradient descent?", "gradient descent"),
        ("a deadline", "a deadline"),
        ("How tall is Mount Everest?", "“How tall is Mount Everest?”"),
        ("Who won the match?", "“Who won the match?”"),
    ],
)
def test_a_question_that_no_noun_names_is_named_by_itself(question: str, name: str) -> None:
    assert named(question) == name


@given(st.text(max_size=500))
def test_whatever_is_asked_can_be_named_in_a_line(question: str) -> None:
    assert len(subject(question)) <= 121
    assert "\n" not in subject(question)


def test_forms_of_a_word_are_the_same_word() -> None:
    assert (
        stems("The gradients were computed")
        == stems("computing a gradient")[::-1]
        == ["gradient", "comput"]
    )
    assert stems("entropies") == stems("entropy")
    assert stems("What is it about?") == []


def test_rare_words_weigh_more() -> None:
    assert covered({"a", "b"}, {"a"}, {"a": 3.0, "b": 1.0}) == 0.75
    assert covered((), {"a"}, {}) == 0
