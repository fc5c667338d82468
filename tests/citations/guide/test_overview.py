"""The sentences that say what a source is about."""

from collections.abc import Callable

from citations.answers.writing.definitions import definition_of
from citations.guide import overview
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.content_words import words_of
from citations.text.function_words import function_words

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
    picked = overview.choose(
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
        overview.choose(
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
