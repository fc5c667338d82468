"""What is expected in the answer to a question."""

import pytest

from citations.answers.writing.answer_types import expected, fitness, term


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many states has it?", "There are three states.", "There are states of many kinds."),
        (
            "How often is a block mined?",
            "A block comes every 2 minutes.",
            "Blocks are mined by miners.",
        ),
        ("What percentage of the votes was it?", "It was half of them.", "The votes were counted."),
        (
            "When was BM25 made?",
            "It was made in the early nineteen-nineties.",
            "It was made in London.",
        ),
        ("Since when do they meet?", "They have met for years.", "They meet in a hall."),
        ("Who proved the theorem?", "It was Emmy Noether who did.", "It was proved in a night."),
        ("What is jitter?", "Jitter is a random share of a pause.", "Add jitter to the pause."),
        (
            "What is exponential backoff?",
            "This doubling is called exponential backoff.",
            "Exponential backoff needs no guess.",
        ),
        (
            "What is entropy?",
            "Entropy in modern physics is a measure of disorder.",
            "Entropy grows, which is sad.",
        ),
        (
            "What are stop words?",
            "Stop words are left out.",
            "Lists of stop words became superfluous.",
        ),
        (
            "What does the chain rule say?",
            "We use the chain rule, which states that derivatives are multiplied.",
            "The second thing about the chain rule is that it makes other rules easier.",
        ),
        ("What does tf stand for?", "In short, tf stands for term frequency.", "The tf grows."),
        (
            "What is a cue?",
            "A cue, by the way, is a line with two times.",
            "Ask of every cue which of its words are new.",
        ),
        ("What is BM25?", "BM25 (best match) really is a formula.", "With BM25 a word is weighed."),
        (
            "What is Replace By Fee?",
            "Aaron: Replace By Fee is when you pay a higher fee.",
            "Opt-in Replace By Fee is a flag.",
        ),
        (
            "What is a tangent line?",
            "The tangent line to f(x) at a is the line through the point (a, f(a)).",
            "The slope of the tangent line is the velocity.",
        ),
        (
            "What is the chain rule?",
            "Instead, we use the chain rule, which states that derivatives are multiplied.",
            "We are applying the chain rule twice.",
        ),
        ("What is attention?", "So attention is a weighted sum.", "Flash attention is faster."),
        (
            "List the parts of a pump",
            "A pump has a valve, a rod, and a wheel.",
            "A pump has parts.",
        ),
        ("What are the main risks?", "The first is a double spend.", "The risks are high."),
        ("How long does it cool?", "It cools for twenty minutes.", "It cools slowly."),
        ("Wie viele waren es?", "Es waren sieben.", "Es waren alle."),
        ("Wann war das?", "Das war im März.", "Das war in Bonn."),
        ("Wer hat es bewiesen?", "Es war Emmy Noether.", "Es wurde nachts bewiesen."),
        ("Was ist Entropie?", "Entropie ist ein Maß der Unordnung.", "Die Entropie wächst."),
        ("Combien étaient-ils ?", "Ils étaient trois.", "Ils étaient là."),
        ("Quand est-il né ?", "Il est né en 1912.", "Il est né à Paris."),
        ("Qui l’a prouvé ?", "C’est bien Emmy Noether.", "On l’a prouvé une nuit."),
        (
            "Qu’est-ce que l’entropie ?",
            "L’entropie est une mesure du désordre.",
            "L’entropie croît.",
        ),
        ("¿Cuántos eran?", "Eran cuatro.", "Eran todos."),
        ("¿Cuándo nació?", "Nació hace un siglo.", "Nació en casa."),
        ("¿Quién lo probó?", "Lo probó sola Emmy Noether.", "Lo probó de noche."),
        ("¿Qué es la entropía?", "La entropía es una medida del desorden.", "La entropía crece."),
    ],
)
def test_an_answer_is_told_from_what_speaks_of_the_same(
    question: str, answer: str, other: str
) -> None:
    pattern = expected(question)
    assert pattern is not None
    assert pattern.search(answer)
    assert not pattern.search(other)


def test_what_a_thing_is_counts_more_than_how_it_is_and_the_question_again_least() -> None:
    answer = expected("What is FROST?")
    values = [
        fitness(answer, "So FROST is basically a way to sign together."),
        fitness(answer, "You have convinced me that FROST is cool."),
        fitness(answer, "FROST was new to me."),
        fitness(answer, "We have to start with what FROST is, and then we build it."),
    ]
    assert values == sorted(values, reverse=True)
    assert (values[0], values[-1]) == (1.0, -1.0)
    assert fitness(expected("Why does it matter?"), "It matters.") == 0.0


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
    ],
)
def test_most_questions_do_not_say_what_their_answer_has_in_it(question: str) -> None:
    assert expected(question) is None


def test_an_indirect_question_counts_as_the_question_asked_again() -> None:
    sentence = "You should have a strong sense of what the limit of a function means."
    assert fitness(expected("What is a limit?"), sentence) == -1.0


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What is a UTXO?", "UTXO"),
        ("What does the term entropy mean?", "term entropy"),
        ("How many states has it?", ""),
        ("What size is a block?", ""),
    ],
)
def test_the_term_is_what_a_question_asks_the_meaning_of(question: str, wanted: str) -> None:
    assert term(question) == wanted


def test_whatever_is_to_be_defined_is_looked_for_as_it_stands() -> None:
    pattern = expected("What is a (regular] ex+pression*?")
    assert pattern is None or not pattern.search("aaaa")
