"""Terms, and the sentences that may define them."""

import pytest

from citations.guide import terms
from citations.guide.terms import Definition
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.words import function_words
from tests.citations.text_tables import rows

FILLER = "The oven gets hot before the bread goes in."


def definitions(term: str, sentence: str, language: str = "en") -> list[Definition]:
    read = statements.read(
        f"{FILLER} {sentence} {FILLER}",
        stops=stop_words(language),
        function_words=function_words(language),
    )
    return terms.definitions(term, read.statements, language=language, stops=stop_words(language))


@pytest.mark.parametrize(
    ("term", "sentence", "question"),
    rows(
        """
        jitter | The cure is called jitter: a random share. | What is jitter?
        circuit breaker | A circuit breaker is a switch that opens after several failures. |
          What is a circuit breaker?
        term frequency |
          The term frequency, tf for short, is the number of times that a word occurs. |
          What is the term frequency?
        layer styles | Layer styles are a great way to add effects to text. | What are layer styles?
        alternating series |
          A series whose terms change their signs is called an alternating series. |
          What is an alternating series?
        tokens | The text is split into chunks called tokens. | What are tokens?
        token | A small piece of the text is called token in such models. | What is token?
        bias | The shift is called bias: a constant that is added. | What is bias?
        sourdough | In practice, sourdough means bread without yeast. | What is sourdough?
        """
    ),
)
def test_a_definition_answers_what_its_term_is(term: str, sentence: str, question: str) -> None:
    (definition,) = definitions(term, sentence)
    assert definition.statement.text == sentence
    assert definition.question == question


@pytest.mark.parametrize(
    ("term", "sentence"),
    [
        ("y-intercept", "The shortcut to the y-intercept is to use the symmetry of the curve."),
        ("probability", "The probability is very small in such a case."),
        ("output", "In fact, the output is a whole bunch of images."),
        ("baking", "Baking is an art."),
        ("jitter", "Others use what is called jitter in their programs."),
        ("jitter", "What is jitter?"),
        ("token", "The tokenizer also returns what are called token type ids for each pair."),
        ("integration", "Integration by substitution is a technique for many integrals."),
        ("Integration", "Another technique of this kind is called Integration by Parts."),
        ("initial", "An equation with such a value is called an initial-value problem."),
        ("code", "Another tool that measures the emissions is called code carbon."),
        ("limits", "The ends of the interval are called the limits of integration."),
        ("integration", "Limits are useful, and so is something called integration."),
        ("jitter", "Jitter is one of the most important ideas of this text."),
    ],
)
def test_a_sentence_that_only_has_the_term_is_no_definition(term: str, sentence: str) -> None:
    assert definitions(term, sentence) == []


def test_a_german_definition_is_asked_for_in_german() -> None:
    (definition,) = definitions(
        "Sauerteig", "Ein Sauerteig ist ein Teig aus Mehl und Wasser, der gärt.", "de"
    )
    assert definition.question == "Was ist ein Sauerteig?"


def test_terms_are_parts_of_headings_and_phrases_that_the_text_repeats() -> None:
    text = "Sourdough rises. A sourdough starter needs flour. The sourdough is sour. Salt helps."
    candidates = terms.candidates(
        text,
        headings=["2.1 Sourdough and salt", "Introduction"],
        phrases=["sourdough starter", "x_0"],
        stops=stop_words("en"),
    )
    assert [term.text for term in candidates] == ["sourdough"]


def test_what_is_said_about_a_term_begins_with_it() -> None:
    text = (
        "Deep learning is about learning representations. In deep learning, depth matters a lot."
        " Why is deep learning so popular? The deep learnings of others count as well."
    )
    read = statements.read(
        f"{FILLER} {text} {FILLER}", stops=stop_words("en"), function_words=function_words("en")
    )
    said = [
        statement.text for statement in terms.statements_about("deep learning", read.statements)
    ]
    assert said == [
        "Deep learning is about learning representations.",
        "The deep learnings of others count as well.",
    ]


def test_a_term_first_occurs_where_it_is_a_whole_word() -> None:
    assert terms.first_place("rye", "The fryer bakes rye bread.") == (16, 19)
    assert terms.first_place("inaudible comment", "Well. [Inaudible comment] Yes.") is None


def test_terms_that_differ_in_their_endings_are_alike() -> None:
    assert terms.are_alike("neural net", "neural nets")
    assert terms.are_alike("neural net", "net")
    assert not terms.are_alike("weighted sum", "weighted mean")
