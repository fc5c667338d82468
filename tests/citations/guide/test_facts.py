"""The sentences that say what a source is about, and names and numbers in sentences."""

from collections.abc import Callable

import pytest

from citations.answers.writing.answer_types import definition_of
from citations.guide import facts
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.statements import SourceSentences
from citations.text.words import function_words, words_of

OPENING = "In this lecture we look at how sourdough bread is made from flour and water."
LATER = "Wild yeast and bacteria in the sourdough turn sugar into gas and acid."
TEXT = " ".join(
    (
        OPENING,
        *["They keep it in a jar that stands near the oven for a few days."] * 8,
        LATER,
        "It rises slowly, which is why bakers of sourdough bread get up early.",
        "What do bakers of sourdough bread feed their starter with?",
    )
)


def chosen(
    title: str,
    text: str = TEXT,
    *,
    worth: Callable[[str], float] | None = None,
    is_talk: bool = True,
) -> list[str]:
    stops, words = stop_words("en"), function_words("en")
    read = statements.read(text, stops=stops, function_words=words)
    picked = facts.overview(
        read.statements,
        summaries={statement.span for statement in read.statements},
        title=words_of(title, stops),
        definitions=[definition_of(title)],
        counts=read.counts,
        length=len(text),
        is_talk=is_talk,
        function_words=words,
        rate=lambda able: [
            worth(each.text) if worth else each.salience(read.counts) for each in able
        ],
    )
    return [statement.text for statement in picked]


def test_sentences_that_stand_alone_are_chosen_in_their_order() -> None:
    assert chosen("Sourdough") == [OPENING, LATER]


def test_who_introduces_a_text_may_speak_of_themselves() -> None:
    opening = "Today, we want to concentrate on the starter of sourdough bread."
    assert chosen("Sourdough", TEXT.replace(OPENING, opening)) == [opening, LATER]


def test_a_sentence_that_introduces_a_text_is_chosen_whatever_others_say_of_the_whole() -> None:
    def worth(text: str) -> float:
        return 0.4 if text == OPENING else 1.0

    assert OPENING in chosen("Sourdough", worth=worth)


def test_sentences_that_say_far_less_of_the_whole_than_the_best_are_left_out() -> None:
    assert chosen("Sourdough", worth=lambda text: 0.1 if text == LATER else 1.0) == [OPENING]


def test_in_a_talk_that_nobody_introduces_only_the_words_of_its_title_tell_the_subject() -> None:
    opening = "Sourdough bread is made from flour and water by hand."
    starter = "Wild yeast and bacteria turn sugar into the gas of the bread."
    text = TEXT.replace(OPENING, opening).replace(LATER, starter)
    assert chosen("Sourdough", text, is_talk=False) == [opening, starter]
    assert starter not in chosen("Sourdough", text)


def test_who_names_a_number_of_minutes_introduces_nothing() -> None:
    opening = "We feed the starter of the sourdough bread about ten minutes later."
    assert chosen("Fermentation", TEXT.replace(OPENING, opening)) == []
    assert chosen("Fermentation") == [OPENING, LATER]


def test_speech_without_full_stops_has_no_sentence_that_says_what_it_is_about() -> None:
    said = TEXT.replace(". ", " ").replace("? ", " ").rstrip("?")
    assert chosen("Sourdough", said) == []


def test_too_few_sentences_on_the_subject_say_nothing() -> None:
    assert (
        facts.overview(
            (),
            summaries=(),
            title=words_of("Sourdough", frozenset()),
            definitions=[],
            counts=words_of(TEXT, frozenset()),
            length=len(TEXT),
            is_talk=True,
            function_words=function_words("en"),
            rate=lambda able: [1.0 for _ in able],
        )
        == []
    )


TALK = (
    "In 1957 a gentleman by the name of Frank Rosenblatt built a machine. "
    "Many engineers at Bell Labs heard of it, and deep learning began. "
    "The machine of Frank Rosenblatt could learn from its errors. "
    "Today deep learning is done at Bell Labs and elsewhere."
)


def read(text: str) -> SourceSentences:
    return statements.read(text, stops=stop_words("en"), function_words=function_words("en"))


def names_of(text: str) -> list[str]:
    return [name.text for name in facts.names(read(text).statements, text)]


def numbers_of(text: str) -> list[str]:
    own = read(text)
    return [number.text for number in facts.numbers(own.statements, own.counts, stop_words("en"))]


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
