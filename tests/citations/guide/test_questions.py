"""Questions that a source may answer."""

import pytest

from citations.guide import questions
from citations.guide.questions import QuestionCandidate
from citations.providers.languages import stop_words
from citations.text import statements
from citations.text.words import function_words
from tests.citations.text_tables import rows

TEXT = (
    "How does the dough rise without yeast? The wild yeast in the flour makes gas in the dough. "
    "Who has baked dough before? Do you like dough? Why does it rise? "
    "Dough needs time. Dough needs salt."
)


def candidates(text: str = TEXT) -> list[QuestionCandidate]:
    words = function_words("en")
    read = statements.read(text, stops=stop_words("en"), function_words=words)
    return questions.of_text(read.statements, read.counts, words)


def test_a_question_of_the_text_is_kept_if_it_can_be_understood_alone() -> None:
    assert [candidate.text for candidate in candidates()] == [
        "How does the dough rise without yeast?"
    ]


def test_a_question_that_somebody_is_said_to_ask_loses_its_quotation_marks() -> None:
    text = TEXT.replace("yeast?", "yeast?”", 1)
    assert [candidate.text for candidate in candidates(text)] == [
        "How does the dough rise without yeast?"
    ]


def test_a_question_to_who_is_spoken_to_or_a_statement_with_a_tag_is_left_out() -> None:
    for question in ("What is your dough made of?", "How dough rises without yeast, right?"):
        assert question not in [each.text for each in candidates(f"{TEXT} {question} It rises.")]
    question = "How does dough rise in flour, water and salt?"
    assert question in [each.text for each in candidates(f"{TEXT} {question} It rises.")]


def test_an_answer_says_something_after_its_question() -> None:
    (candidate,) = candidates()
    end = TEXT.index("Who")
    assert questions.is_answered(candidate, (0, end), TEXT)
    assert not questions.is_answered(candidate, (0, TEXT.index("The wild")), TEXT)


def test_an_answer_from_elsewhere_does_not_count() -> None:
    candidate = QuestionCandidate(text="Why?", within=(500, 600))
    assert not questions.is_answered(candidate, (0, 90), TEXT)


def test_headings_that_ask_are_questions_without_their_numbers() -> None:
    sections = [("2.1 Why does bread rise?", (0, 90)), ("2.2 Salt", (90, 120))]
    (candidate,) = questions.of_headings(sections)
    assert candidate == QuestionCandidate(text="Why does bread rise?", within=(0, 90))


def about(
    terms: list[str], text: str, language: str = "en", titles: frozenset[str] = frozenset()
) -> list[QuestionCandidate]:
    words = function_words(language)
    return list(
        questions.of_terms(terms, text, titles=titles, language=language, function_words=words)
    )


def test_a_term_of_several_words_that_is_a_noun_is_asked_about() -> None:
    text = "A relay fee is paid, which is pretty cool. Rosen Bridge has relay fees."
    candidates = about(["relay fee", "pretty cool", "Rosen Bridge", "fees"], text)
    assert [candidate.text for candidate in candidates] == [
        "What is said about “relay fee”?",
        "What is said about “Rosen Bridge”?",
    ]


def test_a_noun_of_a_title_is_asked_about_though_it_is_one_word() -> None:
    text = "The yeast is alive. A dough rises with yeast, and random doughs fail. A random dough."
    candidates = about(["yeast", "dough", "random"], text, titles=frozenset({"yeast", "random"}))
    assert [candidate.about for candidate in candidates] == ["yeast"]


def test_what_names_a_part_is_asked_about_there_as_the_text_writes_it() -> None:
    text = "The sour dough rises. Then we bake. The Sour Dough is done."
    first, last = (0, 21), (22, len(text))
    parts = [("Sour dough", first), ("Oven", first), ("Sour dough", last)]
    candidates = list(questions.of_parts(parts, text, language="en"))
    assert [(candidate.about, candidate.within) for candidate in candidates] == [
        ("sour dough", first),
        ("Sour Dough", last),
    ]
    assert not questions.is_answered(candidates[1], first, text)
    assert list(questions.of_parts(parts, text, language="ru")) == []


def test_a_term_is_asked_about_in_the_language_of_its_text() -> None:
    (candidate,) = about(["totale Ableitung"], "Das ist die totale Ableitung.", "de")
    assert candidate.text == "Was wird über „totale Ableitung“ gesagt?"
    assert about(["полная производная"], "Это полная производная.", "ru") == []


def test_an_answer_about_a_term_contains_it() -> None:
    text = "A relay fee is paid to whoever relays the transaction. Fees differ from day to day."
    (candidate,) = about(["relay fee"], text)
    end = text.index("Fees")
    assert questions.is_answered(candidate, (0, end), text)
    assert not questions.is_answered(candidate, (end, len(text)), text)


def test_kinds_take_turns() -> None:
    first, second, third = (
        QuestionCandidate(text=text, within=(0, 1)) for text in ("one", "two", "three")
    )
    assert questions.in_turns([first, second], [third]) == [first, third, second]


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
    return questions.of_sentences(
        read.statements, read.counts, text, language=language, stops=stops, function_words=words
    )


def questions_of(sentence: str, language: str = "en") -> list[str]:
    return [candidate.text for kind in kinds(sentence, language) for candidate in kind]


@pytest.mark.parametrize(
    ("sentence", "question"),
    rows(
        """
        To slow the rise of a dough, put it into the fridge. | How do you slow the rise of a dough?
        If you want to knead a soft dough, wet both hands with water. |
          How do you knead a soft dough?
        The dough is sticky in summer because warm flour takes up less water. |
          Why is the dough sticky in summer?
        If the dough stays in the cold, the yeast makes less gas. |
          What if the dough stays in the cold?
        When a baker folds the dough, the gluten becomes strong. |
          What happens when a baker folds the dough?
        """
    ),
)
def test_a_sentence_answers_the_question_that_its_form_tells(sentence: str, question: str) -> None:
    assert question in questions_of(sentence)


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    rows(
        """
        de | Um den Teig langsam zu kneten, braucht der Bäcker kaltes Wasser. |
          Wie kann man den Teig langsam kneten?
        de | Um den Teig vorsichtig aufzurollen, braucht der Bäcker viel Mehl. |
          Wie kann man den Teig vorsichtig aufrollen?
        de | Der kalte Teig kann nicht aufgehen, weil die Hefe Wärme braucht. |
          Warum kann der kalte Teig nicht aufgehen?
        de | Falls der Teig zu lange ruht, schmeckt das Brot sauer und fest. |
          Was gilt, falls der Teig zu lange ruht?
        fr | Pour pétrir la pâte lentement, le boulanger prend de l'eau froide. |
          Comment pétrir la pâte lentement ?
        es | Para amasar la masa despacio, el panadero usa agua muy fría. |
          ¿Cómo amasar la masa despacio?
        """
    ),
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
