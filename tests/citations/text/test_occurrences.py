"""Words and phrases in a text, as they are typed and in other forms."""

import pytest

from citations.text import occurrences
from citations.text.occurrences import SearchTerm

TEXT = (
    "He does not run the networks. “Don’t run,” says C. Vitamin c can run\nthe network in 机器学习."
)


def matches_of(query: str, stops: tuple[str, ...] = ()) -> list[str]:
    terms = occurrences.split_terms(query, stops)
    return [TEXT[first:last] for first, last in occurrences.find(TEXT, terms)]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("NETWORK", ["network", "network"]),
        ("net", ["net", "net"]),
        ("work", []),  # a word is found from its beginning
        ("don't", ["Don’t"]),
        ("c", ["C", "c"]),  # a letter is a word, not the beginning of one
        ('"run the net"', ["run the net", "run\nthe net"]),
        ("run says?", ["run", "run", "says", "run"]),
        ("学习", ["学习"]),  # there are no blanks at which words begin
        ("zebra", []),
        ("", []),
    ],
)
def test_what_is_typed_is_found_at_the_beginning_of_words(query: str, texts: list[str]) -> None:
    assert matches_of(query) == texts


def test_stop_words_count_only_where_there_are_no_others() -> None:
    assert matches_of("the networks", ("the",)) == ["networks"]
    assert matches_of("the", ("the",)) == ["the", "the"]


def test_other_forms_of_a_word_are_those_with_its_stem() -> None:
    terms = occurrences.split_terms('running vitamins "runs the"')
    running, vitamins, phrase = occurrences.with_forms(
        terms, occurrences.words_by_stem(TEXT, "en"), "en"
    )
    assert running == SearchTerm("running", ("run",))
    assert vitamins == SearchTerm("vitamins", ("vitamin",))
    assert phrase == SearchTerm("runs the")
    assert [TEXT[a:b] for a, b in occurrences.find(TEXT, [vitamins])] == ["Vitamin"]
    assert occurrences.find("The runt may run", [running]) == [(13, 16)]


@pytest.mark.parametrize(
    ("query", "text", "language", "word"),
    [
        ("Straßen", "Die Straße ist nass.", "de", "Straße"),
        ("großen", "Eine große Zahl.", "de", "große"),
        ("Strasse", "Die Straße ist nass.", "de", "Straße"),
        ("Netzwerke", "Ein Netz\u00adwerk lernt.", "de", "Netz\u00adwerk"),
        ("Newton's", "It is Newton who said it.", "en", "Newton"),
        ("l'intégrale", "C'est une intégrale.", "fr", "intégrale"),
    ],
)
def test_a_form_is_found_as_its_text_writes_it(
    query: str, text: str, language: str, word: str
) -> None:
    terms = occurrences.split_terms(query)
    assert occurrences.find(text, terms) == []
    forms = occurrences.with_forms(terms, occurrences.words_by_stem(text, language), language)
    assert [text[a:b] for a, b in occurrences.find(text, forms)] == [word]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("What's a tangent?", ["tangent"]),
        ("(much) f(x) c++", ["much", "f(x)", "c++"]),
        ('what "the what"', ["the what"]),
        ("what's", ["what's"]),
    ],
)
def test_stop_words_with_an_apostrophe_and_brackets_do_not_count(
    query: str, texts: list[str]
) -> None:
    terms = occurrences.split_terms(query, ("what", "a", "the"))
    assert [term.text for term in terms] == texts


@pytest.mark.parametrize(
    ("query", "text", "places"),
    [
        (
            "gradient descent",
            "Descent. Gradient\ndescent and gradient-descent; descent, gradient",
            ["Descent", "Gradient\ndescent", "gradient-descent", "descent", "gradient"],
        ),
        ("hepatitis a", "Hepatitis A is one", ["Hepatitis A"]),
        ("each", "each each", ["each", "each"]),
        ('"a b"', "a b a  b a\nb", ["a b", "a  b", "a\nb"]),
        ("机器 学习", "学机器学习机器", ["机器学习", "机器"]),
        ("net work", "network", ["net"]),
    ],
)
def test_different_words_side_by_side_are_one_place(
    query: str, text: str, places: list[str]
) -> None:
    runs = occurrences.find_runs(text, occurrences.split_terms(query))
    assert [text[first:last] for first, last in runs] == places


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("What is the slope of a line?", "What is the slope of a line"),
        ("the slope", None),
        ('"the slope" line', None),
        ("the a", "the a"),
        ("", None),
    ],
)
def test_a_search_of_several_telling_words_is_a_phrase(query: str, phrase: str | None) -> None:
    term = occurrences.phrase_of(query, ("what", "is", "of", "the", "a"))
    assert (term and term.text) == phrase


def test_a_letter_at_the_end_of_a_phrase_is_a_word() -> None:
    assert occurrences.find("f(x) at all; f(x) at a", [SearchTerm("f(x) at a")]) == [(13, 22)]


SLOPES = "A slope is steep. The slope of a line, or its slope. A line ends."
SLOPE_TERMS = occurrences.split_terms("slope line")


def words_of(fewest: int) -> list[list[str]]:
    places = occurrences.places(SLOPES, SLOPE_TERMS, fewest=fewest)
    return [[SLOPES[first:last] for first, last in place] for place in places]


def test_a_place_has_the_words_of_a_sentence_with_enough_of_them() -> None:
    assert words_of(2) == [["slope", "line", "slope"]]
    assert words_of(1) == [["slope"], ["slope"], ["line"], ["slope"], ["line"]]
    assert words_of(3) == []


def test_the_most_words_in_one_sentence_count() -> None:
    assert occurrences.most_together(["A slope.", "A line.", SLOPES], SLOPE_TERMS) == 2
    assert occurrences.most_together(["A slope. A line."], SLOPE_TERMS) == 1
    assert occurrences.most_together(["Nothing."], SLOPE_TERMS) == 0


def test_a_word_is_found_with_and_without_its_accents() -> None:
    text = "The café and the cafe, a résumé."
    words = occurrences.words_by_stem(text, "en")
    for typed, written in {
        "cafe": ["café", "cafe"],
        "café": ["café", "cafe"],
        "resume": ["résumé"],
    }.items():
        terms = occurrences.with_forms(occurrences.split_terms(typed), words, "en")
        assert [text[a:b] for a, b in occurrences.find(text, terms)] == written
