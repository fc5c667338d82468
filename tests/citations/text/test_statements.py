"""Sentences that state something and can be shown, or understood, by themselves."""

import pytest

from citations.providers.languages import stop_words
from citations.text.sentences import split
from citations.text.statements import (
    DEPENDENT,
    SourceSentences,
    clauses,
    has_stops,
    introduces,
    is_exercise,
    is_pointer,
    is_whole,
    points_back,
    read,
    standing,
    without_lead,
)
from citations.text.words import function_words

ENGLISH = function_words("en")


def rated(sentence: str, language: str = "en") -> float:
    return standing(sentence, function_words(language))


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


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("So entropy measures how many they are.", "en"),
        ("That entropy grows is well known.", "en"),
        ("For these gases, entropy grows.", "en"),
        ("Dies nennt man Entropie.", "de"),
        ("Cela s’appelle l’entropie.", "fr"),
        ("Esto se llama entropía.", "es"),
    ],
)
def test_a_sentence_points_back_by_how_it_begins(sentence: str, language: str) -> None:
    assert points_back(sentence, function_words(language))


@pytest.mark.parametrize(
    "sentence",
    [
        "Entropy grows, and so it is measured.",
        "In this chapter, entropy is measured.",
        "Okay, entropy grows in each of these gases.",
        "Why does entropy grow in each of these gases?",
    ],
)
def test_a_sentence_that_begins_afresh_points_back_at_nothing(sentence: str) -> None:
    assert not points_back(sentence, ENGLISH)


@pytest.mark.parametrize(
    "task",
    [
        "Exercise 3.2 Find the slope.",
        "Checkpoint 4",
        "For the following exercises, sketch the curve.",
        "Aufgabe 7: Bestimme die Steigung.",
        "Exercice 2. Trouvez la pente.",
        "Ejercicio 5: halla la pendiente.",
        "Exercise. Find two sensible answers.",
        "Übung: Bestimme die Steigung.",
    ],
)
def test_an_exercise_begins_with_its_number_or_a_stop(task: str) -> None:
    assert is_exercise(task)


def test_a_sentence_about_exercise_is_none() -> None:
    assert not is_exercise("Exercise makes the heart strong.")
    assert not is_exercise("Exercise.com sells weights.")


@pytest.mark.parametrize(
    "sentence",
    [
        "Please watch this short video.",
        "See Figure 3.",
        "To learn more, visit the website.",
        "Siehe Abbildung 4.",
        "Vgl. Kapitel 2.",
        "Voir la page 12.",
        "Véase la tabla 3.",
    ],
)
def test_a_pointer_sends_its_reader_elsewhere(sentence: str) -> None:
    assert is_pointer(sentence)


def test_a_sentence_about_what_one_sees_is_no_pointer() -> None:
    assert not is_pointer("See how the loss falls with each step of the descent.")


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


def sentences_of(text: str) -> SourceSentences:
    return read(text, stops=stop_words("en"), function_words=function_words("en"))


def test_each_sentence_stands_at_its_characters() -> None:
    text = "Yeast makes gas in the dough. So the dough rises within an hour.\n\nWhy does it rise?"
    read = sentences_of(text)
    assert [text[each.first : each.last] for each in read.statements] == [
        "Yeast makes gas in the dough.",
        "the dough rises within an hour.",
        "Why does it rise?",
    ]
    assert [each.is_begun for each in read.statements] == [False, True, False]


@pytest.mark.parametrize(
    "broken",
    [
        "The loss is $\\frac{1}{2}$ of the sum.",
        "Call f(x) with a list of all numbers.",
        "See https://example.org for all of it.",
        "This is , as you see , a transcript .",
        "The dough rises because of the.",
        "27. Find the slope of the curve with 6 rectangles.",
        "3 Approximate the area below the curve with 6 rectangles.",
        "name | size | weight | price.",
    ],
)
def test_formulas_code_addresses_tasks_tables_and_fragments_are_no_sentences(broken: str) -> None:
    read = sentences_of(f"Yeast makes gas in the dough. {broken} The dough rises in an hour.")
    assert broken not in [each.text for each in read.statements]
    assert len(read.statements) == 2


def test_a_text_without_full_stops_has_no_sentences() -> None:
    spoken = "okay so the first thing to understand is the rate of change all right let's go on "
    assert sentences_of(spoken * 5).statements == ()


def test_a_sentence_about_frequent_words_is_more_salient() -> None:
    read = sentences_of("Yeast makes gas. Yeast likes sugar. Yeast needs water. Ovens bake bread.")
    first, *_, last = read.statements
    assert first.salience(read.counts) > last.salience(read.counts)


def test_a_sentence_that_begins_with_a_verb_tells_its_reader_what_to_do() -> None:
    read = sentences_of(
        "You can click the button to go on with it. Click the check mark in the bar now. "
        "The bar has a check mark."
    )
    assert [each.commands for each in read.statements] == [False, True, False]


def test_a_sentence_is_given_for_a_task_that_follows_it() -> None:
    text = (
        "The dough has 300 grams of flour. A second dough is twice as large. "
        "{} Bread is old. Flour is milled. Salt is mined. Water is wet. We bake, and we can bake."
    )
    for task, is_given in (
        ("How much flour is in both?", True),
        ("• Bake both of them.", True),
        ("Both rise in an hour.", False),
    ):
        first, second, *_ = sentences_of(text.format(task)).statements
        assert (first.is_given, second.is_given) == (is_given, is_given)
        assert not sentences_of(text.format(task)).statements[-3].is_given


def test_sounds_and_who_speaks_are_no_part_of_a_sentence() -> None:
    read = sentences_of("(upbeat music) - [Instructor] In this video, yeast makes gas.\nIt rises.")
    assert read.statements[0].text == "In this video, yeast makes gas."
