"""Which sentences of a text can be shown by themselves."""

import pytest

from citations.guide.statements import SourceSentences, read, salience
from citations.providers.languages import stop_words
from citations.text.function_words import function_words


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
    assert salience(first, read.counts) > salience(last, read.counts)


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
