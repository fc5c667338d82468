"""A sentence that is shown alone must be understood alone."""

import pytest

from citations.text.function_words import function_words
from citations.text.sentences import split
from citations.text.standalone import (
    DEPENDENT,
    clauses,
    has_stops,
    introduces,
    is_whole,
    standing,
    without_lead,
)

ENGLISH = function_words("en")
FILLERS = frozenset({"uh", "like", "just"})


def rated(sentence: str, language: str = "en") -> float:
    return standing(sentence, function_words=function_words(language), fillers=FILLERS)


def test_a_plain_statement_stands_alone() -> None:
    assert rated("The gradient of the loss tells the weights where to move.") == 1.0


@pytest.mark.parametrize(
    "sentence",
    [
        "Because the gradient of the loss vanishes in very deep networks.",
        "This is why the gradient of the loss vanishes in deep networks.",
        "When they meet, the gradient of the loss vanishes in deep networks.",
        "Why does the gradient of the loss vanish in very deep networks?",
        "The gradient of the loss has two properties that matter here:",
        "(gentle music plays while the lecturer walks to the blackboard)",
        "The loss vanishes. Student: What does it mean that it vanishes?",
        "Thank you.",
    ],
)
def test_what_points_back_asks_or_says_nothing_does_not(sentence: str) -> None:
    assert rated(sentence) == DEPENDENT


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("Weil der Gradient in tiefen Netzen sehr schnell verschwindet.", "de"),
        ("Parce que le gradient disparaît vite dans les réseaux profonds.", "fr"),
        ("Porque el gradiente desaparece en las redes muy profundas.", "es"),
    ],
)
def test_other_languages_have_words_of_their_own(sentence: str, language: str) -> None:
    assert rated(sentence, language) == DEPENDENT


def test_a_text_may_point_at_itself() -> None:
    assert rated("In this chapter, we review all the functions of calculus.") == 1.0
    assert introduces("In this chapter, we review all functions.", ENGLISH)
    assert not introduces("Functions have one value for each argument.", ENGLISH)


def test_hesitation_and_talk_of_oneself_count_against_a_sentence() -> None:
    plain = rated("The window highlights every active view on the screen.")
    assert rated("The the window uh highlights every every active view on screen.") < plain
    assert rated("The window highlights every view that I like on my screen.") < plain


def test_what_points_elsewhere_counts_against_a_sentence_and_more_than_once() -> None:
    plain = rated("The window highlights every active view on the screen.")
    once = rated("The window highlights every view of this kind on the screen.")
    assert rated("The window highlights every view of this kind on these screens.") < once < plain


def test_speakers_and_connectives_are_cut_off() -> None:
    said = "the common denominator is x."
    assert without_lead(f"PhD D: Well, so {said}", ENGLISH.leading) == said
    assert without_lead(f">> And {said}", ENGLISH.leading) == said
    assert without_lead("Soap is made of fat.", ENGLISH.leading) == "Soap is made of fat."


def test_a_sentence_without_its_beginning_or_end_is_not_whole() -> None:
    assert is_whole("The loss falls.")
    assert not is_whole("which the loss falls.")
    assert not is_whole("The loss falls and")


def test_captions_without_full_stops_are_cut_where_clauses_begin() -> None:
    text = "the end so the loss falls at each step but the weights stay small because of"
    assert not has_stops([text], split)
    cut = [text[first:last].strip() for first, last in clauses(text, ENGLISH.opening)]
    assert cut == ["the loss falls at each step", "the weights stay small"]
