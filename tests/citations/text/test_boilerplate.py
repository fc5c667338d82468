"""The formula with which several sources begin is found by comparing them."""

from citations.text.boilerplate import formula_end

LICENCE = (
    "The following content is provided under a licence of the commons. Your support will help us to"
    " offer high quality resources for free. To make a donation or to see more of the material of"
    " hundreds of courses visit our site. "
)
LECTURE = "Today we begin with the definition of the derivative. It is the limit of a quotient. "
OTHER = "Last time we talked about areas below a curve. They are limits of sums of rectangles. "


def test_sentences_that_another_source_begins_with_are_a_formula() -> None:
    text = LICENCE + LECTURE
    assert text[: formula_end(text, [LICENCE + OTHER])] == LICENCE


def test_a_word_that_differs_makes_no_difference() -> None:
    text = LICENCE + LECTURE
    other = LICENCE.replace("to see more", "see more") + OTHER
    assert text[: formula_end(text, [other])] == LICENCE


def test_a_greeting_before_the_formula_belongs_to_it() -> None:
    text = f"Hello there. {LICENCE}{LECTURE}"
    assert text[: formula_end(text, [LICENCE + OTHER])] == f"Hello there. {LICENCE}"


def test_a_text_that_nothing_resembles_has_none() -> None:
    assert formula_end(LECTURE, [OTHER, LICENCE]) == 0
    assert formula_end(LECTURE, []) == 0
    assert formula_end("", [OTHER]) == 0


def test_a_copy_of_a_source_makes_no_formula_of_it() -> None:
    assert formula_end(LECTURE, [LECTURE]) == 0


def test_a_sentence_that_returns_far_behind_the_beginning_is_no_formula() -> None:
    text = LECTURE + "We will prove this in the next hour of the course, as I said. "
    other = OTHER + "We will prove this in the next hour of the course, as I said. "
    assert formula_end(text, [other]) == 0
