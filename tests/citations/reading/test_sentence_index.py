"""Sentences with the words of a query."""

from citations.reading.sentence_index import SentenceIndex, SentenceMatches

SENTENCES = (
    "The gradients vanish in deep networks.",
    "A network has weights.",
    "Each weight follows its gradient.",
    "And so on.",
)


def matches_of(query: str, stops: tuple[str, ...] = ()) -> SentenceMatches:
    return SentenceIndex.build(SENTENCES, "en").find(query, stops=stops)


def test_words_are_found_in_any_form_in_order() -> None:
    assert matches_of("gradient") == ((0, 2), 1, 1)
    assert matches_of("networks") == ((0, 1), 1, 1)


def test_sentences_with_the_most_words_are_found() -> None:
    assert matches_of("gradient weight") == ((2,), 2, 2)
    assert matches_of("gradient weight zebra") == ((2,), 2, 3)


def test_stop_words_count_only_where_there_are_no_others() -> None:
    assert matches_of("so the gradient", stops=("so", "the")) == ((0, 2), 1, 1)
    assert matches_of("so", stops=("so",)) == ((3,), 1, 1)


def test_what_occurs_nowhere_is_not_found() -> None:
    assert matches_of("zebra") == ((), 0, 1)
    assert matches_of("!") == ((), 0, 0)
