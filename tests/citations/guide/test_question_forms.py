"""Questions that sentences answer by their form."""

import pytest

from citations.guide import question_forms
from citations.guide.questions import QuestionCandidate
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.function_words import function_words

FREQUENT = {
    "en": "The dough rises. Dough needs salt. A baker sees the dough. The dough rests.",
    "de": "Der Teig geht auf. Teig braucht Salz. Ein Teig ruht. Der Teig ist fertig.",
    "fr": "La pâte lève. Une pâte repose. La pâte est salée. La pâte est prête.",
    "es": "La masa sube. Una masa reposa. La masa tiene sal. La masa se hornea.",
}


def kinds(sentence: str, language: str = "en") -> list[list[QuestionCandidate]]:
    text = f"{FREQUENT.get(language, '')} {sentence}"
    stops, words = stop_words(language), function_words(language)
    read = statements.read(text, stops=stops, function_words=words)
    return question_forms.of_sentences(
        read.statements, read.counts, text, language=language, stops=stops, function_words=words
    )


def questions_of(sentence: str, language: str = "en") -> list[str]:
    return [candidate.text for kind in kinds(sentence, language) for candidate in kind]


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "To slow the rise of a dough, put it into the fridge.",
            "How do you slow the rise of a dough?",
        ),
        (
            "If you want to knead a soft dough, wet both hands with water.",
            "How do you knead a soft dough?",
        ),
        (
            "The dough is sticky in summer because warm flour takes up less water.",
            "Why is the dough sticky in summer?",
        ),
        (
            "If the dough stays in the cold, the yeast makes less gas.",
            "What if the dough stays in the cold?",
        ),
        (
            "When a baker folds the dough, the gluten becomes strong.",
            "What happens when a baker folds the dough?",
        ),
    ],
)
def test_a_sentence_answers_the_question_that_its_form_tells(sentence: str, question: str) -> None:
    assert question in questions_of(sentence)


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        (
            "de",
            "Um den Teig langsam zu kneten, braucht der Bäcker kaltes Wasser.",
            "Wie kann man den Teig langsam kneten?",
        ),
        (
            "de",
            "Um den Teig vorsichtig aufzurollen, braucht der Bäcker viel Mehl.",
            "Wie kann man den Teig vorsichtig aufrollen?",
        ),
        (
            "de",
            "Der kalte Teig kann nicht aufgehen, weil die Hefe Wärme braucht.",
            "Warum kann der kalte Teig nicht aufgehen?",
        ),
        (
            "de",
            "Falls der Teig zu lange ruht, schmeckt das Brot sauer und fest.",
            "Was gilt, falls der Teig zu lange ruht?",
        ),
        (
            "fr",
            "Pour pétrir la pâte lentement, le boulanger prend de l'eau froide.",
            "Comment pétrir la pâte lentement ?",
        ),
        (
            "es",
            "Para amasar la masa despacio, el panadero usa agua muy fría.",
            "¿Cómo amasar la masa despacio?",
        ),
    ],
)
def test_the_question_is_in_the_language_of_the_sentence(
    language: str, sentence: str, question: str
) -> None:
    assert question in questions_of(sentence, language)
    assert questions_of(sentence, "ru") == []


def test_the_answer_stands_where_the_sentence_does() -> None:
    sentence = "If the dough stays in the cold, the yeast makes less gas."
    (candidate,) = [candidate for kind in kinds(sentence) for candidate in kind]
    first = len(FREQUENT["en"]) + 1
    assert candidate.within == (first, first + len(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "If it stays in the cold, the yeast makes less gas.",  # what does?
        "To every good dough, bakers add a little salt and much time.",
        "If the dough stays in the cold, what does the yeast make?",
        "When the oven fan fails, the crust becomes soft and pale.",  # no word that returns
    ],
)
def test_a_sentence_that_answers_no_question_alone_is_left_out(sentence: str) -> None:
    assert questions_of(sentence) == []
