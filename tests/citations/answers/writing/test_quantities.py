"""A question for a number, a duration or a time, and what has one."""

import pytest

from citations.answers.writing.quantities import quantity_asked


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many states has it?", "There are three states.", "There are states of many kinds."),
        ("How long does it cool?", "It cools for twenty minutes.", "It cools to 20 degrees."),
        ("Wie lange dauert es?", "Es dauert zwei Stunden.", "Es dauert bis 3 Uhr."),
        ("Combien de temps faut-il ?", "Il faut deux heures.", "Il faut 3 œufs."),
        ("¿Cuánto tiempo tarda?", "Tarda tres horas.", "Tarda 3 veces más."),
        ("What percentage of the votes was it?", "It was half of them.", "The votes were counted."),
        ("Wie viele waren es?", "Es waren sieben.", "Es waren alle."),
        ("Combien étaient-ils ?", "Ils étaient trois.", "Ils étaient là."),
        ("¿Cuántos eran?", "Eran cuatro.", "Eran todos."),
        ("When was BM25 made?", "It was made in the early nineties.", "It was made in London."),
        ("Since when do they meet?", "They have met for years.", "They meet in a hall."),
        ("What year was it?", "It was in 1994.", "It was in London."),
        ("Wann war das?", "Das war im März.", "Das war in Bonn."),
        ("Quand est-il né ?", "Il est né en 1912.", "Il est né à Paris."),
        ("¿Cuándo nació?", "Nació hace un siglo.", "Nació en casa."),
    ],
)
def test_an_answer_has_the_quantity_that_is_asked_for(
    question: str, answer: str, other: str
) -> None:
    quantity = quantity_asked(question)
    assert quantity is not None
    assert quantity.search(answer)
    assert not quantity.search(other)


@pytest.mark.parametrize(
    "question",
    ["Why does it matter?", "What is jitter?", "When are two events independent?", "BM25", ""],
)
def test_most_questions_ask_for_no_quantity(question: str) -> None:
    assert quantity_asked(question) is None
