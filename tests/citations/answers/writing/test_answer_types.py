"""Sentences that define, and sentences with the quantity that is asked for."""

import pytest

from citations.answers.writing.answer_types import definition_asked, fitness, quantity_asked, term
from tests.citations.text_tables import rows


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    rows(
        """
        What is jitter? | Jitter is a random share of a pause. | Add jitter to the pause.
        What is exponential backoff? | This doubling is called exponential backoff. |
          Exponential backoff needs no guess.
        What is entropy? | Entropy in modern physics is a measure of disorder. |
          Entropy grows, which is sad.
        What are stop words? | Stop words are left out. | Lists of stop words became superfluous.
        What does the chain rule say? |
          We use the chain rule, which states that derivatives are multiplied. |
          The second thing about the chain rule is that it makes other rules easier.
        What does tf stand for? | In short, tf stands for term frequency. | The tf grows.
        What is a cue? | A cue, by the way, is a line with two times. |
          Ask of every cue which of its words are new.
        What is BM25? | BM25 (best match) really is a formula. | With BM25 a word is weighed.
        What is Replace By Fee? | Aaron: Replace By Fee is when you pay a higher fee. |
          Opt-in Replace By Fee is a flag.
        What is a tangent line? |
          The tangent line to f(x) at a is the line through the point (a, f(a)). |
          The slope of the tangent line is the velocity.
        What is the chain rule? |
          Instead, we use the chain rule, which states that derivatives are multiplied. |
          We are applying the chain rule twice.
        What is attention? | So attention is a weighted sum. | Flash attention is faster.
        Was ist Entropie? | Entropie ist ein Maß der Unordnung. | Die Entropie wächst.
        Qu’est-ce que l’entropie ? | L’entropie est une mesure du désordre. | L’entropie croît.
        ¿Qué es la entropía? | La entropía es una medida del desorden. | La entropía crece.
        """
    ),
)
def test_a_definition_is_told_from_what_speaks_of_the_same(
    question: str, answer: str, other: str
) -> None:
    pattern = definition_asked(question)
    assert pattern is not None
    assert pattern.search(answer)
    assert not pattern.search(other)


def test_what_a_thing_is_counts_more_than_how_it_is_and_the_question_again_least() -> None:
    answer = definition_asked("What is FROST?")
    values = [
        fitness(answer, "So FROST is basically a way to sign together."),
        fitness(answer, "You have convinced me that FROST is cool."),
        fitness(answer, "FROST was new to me."),
        fitness(answer, "We have to start with what FROST is, and then we build it."),
    ]
    assert values == sorted(values, reverse=True)
    assert (values[0], values[-1]) == (1.0, -1.0)
    assert fitness(definition_asked("Why does it matter?"), "It matters.") == 0.0


@pytest.mark.parametrize(
    "question",
    [
        "Why does it matter?",
        "Explain attention.",
        "BM25",
        "Is it true?",
        "",
        "How does a network learn?",
        "What happens then?",
        "How many states has it?",
        "Who proved the theorem?",
    ],
)
def test_most_questions_ask_for_no_meaning(question: str) -> None:
    assert definition_asked(question) is None


def test_an_indirect_question_counts_as_the_question_asked_again() -> None:
    sentence = "You should have a strong sense of what the limit of a function means."
    assert fitness(definition_asked("What is a limit?"), sentence) == -1.0


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is a UTXO?", "UTXO"),
        ("What does the term entropy mean?", "term entropy"),
        ("How many states has it?", ""),
    ],
)
def test_the_term_is_what_a_question_asks_the_meaning_of(question: str, wanted: str) -> None:
    assert term(question) == wanted


def test_whatever_is_to_be_defined_is_looked_for_as_it_stands() -> None:
    pattern = definition_asked("What is a (regular] ex+pression*?")
    assert pattern is None or not pattern.search("aaaa")


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many states has it?", "There are three states.", "There are states of many kinds."),
        ("How long does it cool?", "It cools for twenty minutes.", "It cools for long."),
        ("What percentage of the votes was it?", "It was half of them.", "The votes were counted."),
        ("Wie viele waren es?", "Es waren sieben.", "Es waren alle."),
        ("Combien étaient-ils ?", "Ils étaient trois.", "Ils étaient là."),
        ("¿Cuántos eran?", "Eran cuatro.", "Eran todos."),
        ("What year was it?", "It was in 1994.", "It was in London."),
        ("Quand est-il né ?", "Il est né en 1912.", "Il est né à Paris."),
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
