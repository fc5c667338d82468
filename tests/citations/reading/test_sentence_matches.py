"""Sentences with the words of a search."""

from citations.reading import spoken_text
from citations.reading.spoken_text import SentenceMatches
from citations.text import occurrences

SENTENCES = (
    "The gradients vanish in deep networks.",
    "A network has weights.",
    "Each weight follows its gradient.",
    "And so it does, on and on.",
)
TEXT = " ".join(SENTENCES)
STARTS = [TEXT.index(sentence) for sentence in SENTENCES]


def matches_of(query: str) -> SentenceMatches:
    terms = occurrences.split_terms(query)
    words = occurrences.words_by_stem(TEXT, "en")
    return spoken_text.find_matches(
        TEXT,
        STARTS,
        terms,
        phrase=occurrences.phrase_of(query),
        inflect=lambda terms: occurrences.with_forms(terms, words, "en"),
    )


def numbers_of(query: str) -> tuple[tuple[int, ...], bool]:
    matches = matches_of(query)
    return matches.numbers, matches.has_forms


def test_sentences_with_a_word_as_typed_are_found_in_order() -> None:
    assert numbers_of("gradient") == ((0, 2), False)
    assert numbers_of("networks") == ((0,), False)
    assert numbers_of("doe") == ((3,), False)


def test_sentences_with_the_most_words_are_found() -> None:
    for query, numbers, words, of in (
        ("gradient weight", (2,), 2, 2),
        ("gradient weight zebra", (2,), 2, 3),
    ):
        matches = matches_of(query)
        assert (matches.numbers, matches.words, matches.of) == (numbers, words, of)


def test_other_forms_count_where_more_is_found_with_them() -> None:
    assert numbers_of("vanishing") == ((0,), True)
    assert numbers_of("vanishing networks") == ((0,), True)
    assert numbers_of("weights gradients") == ((2,), True)


def test_what_occurs_nowhere_is_not_found() -> None:
    assert numbers_of("zebra") == ((), False)
    assert numbers_of("!") == ((), False)


def test_where_the_words_stand_together_only_these_sentences_are_found() -> None:
    matches = matches_of("and so")
    assert (matches.numbers, matches.is_phrase) == ((3,), True)
    apart = matches_of("so and")
    assert (apart.numbers, apart.is_phrase) == ((3,), False)
    assert matches_of("in deep network").is_phrase, "the last word is still being typed"
