"""Names and numbers in sentences."""

import pytest

from citations.guide import proper_names
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.function_words import function_words
from citations.text.statements import SourceSentences

TALK = (
    "In 1957 a gentleman by the name of Frank Rosenblatt built a machine. "
    "Many engineers at Bell Labs heard of it, and deep learning began. "
    "The machine of Frank Rosenblatt could learn from its errors. "
    "Today deep learning is done at Bell Labs and elsewhere."
)


def read(text: str) -> SourceSentences:
    return statements.read(text, stops=stop_words("en"), function_words=function_words("en"))


def names_of(text: str) -> list[str]:
    return [name.text for name in proper_names.names(read(text).statements, text)]


def numbers_of(text: str) -> list[str]:
    own = read(text)
    return [
        number.text for number in proper_names.numbers(own.statements, own.counts, stop_words("en"))
    ]


def test_repeated_words_with_capitals_within_sentences_are_names() -> None:
    assert names_of(TALK) == ["Frank Rosenblatt", "Bell Labs"]


def test_captions_without_capitals_have_no_names() -> None:
    assert names_of(TALK.lower()) == []


def test_titles_in_capitals_have_no_names() -> None:
    assert names_of(TALK.title()) == []


def test_what_is_also_written_without_capitals_is_no_name() -> None:
    text = TALK.replace("Bell Labs", "Deep Learning")
    assert names_of(text) == ["Frank Rosenblatt"]


@pytest.mark.parametrize(
    "sentence",
    [
        "The training set of the network had 1.3 million samples.",
        "The queue of the service pauses for at least 15 minutes.",
        "The model is correct in 84% of all the cases.",
    ],
)
def test_a_number_of_something_is_shown_in_its_sentence(sentence: str) -> None:
    assert numbers_of(f"{sentence} Bread rises in the oven.") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "The slope of the line in this point is 2 of course.",
        "Is a network of 50 layers better than others?",
        "The method is explained in section 12 of the book.",
        "It took them 18 months to do the same.",
        "Theorem 24 gave all the rules of the book.",
        "The rule of the book is shown in Figure 12 where the curve bends.",
    ],
)
def test_bare_numbers_questions_and_pointing_sentences_are_left_out(sentence: str) -> None:
    assert numbers_of(f"{sentence} Bread rises in the oven.") == []
