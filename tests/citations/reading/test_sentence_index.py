"""Sentences with the words of a query."""

from citations.reading.sentence_index import SentenceIndex, SentenceMatches

SENTENCES = (
    "The gradients vanish in deep networks.",
    "A network has weights.",
    "Each weight follows its gradient.",
    "And so on.",
)


def found(query: str, stops: tuple[str, ...] = ()) -> SentenceMatches:
    return SentenceIndex.build(SENTENCES, "en").find(query, stops=stops)


def test_words_are_found_in_any_form_in_order() -> None:
    assert found("gradient") == ((0, 2), 1, 1)
    assert found("networks") == ((0, 1), 1, 1)


def test_sentences_with_the_most_words_are_found() -> None:
    assert found("gradient weight") == ((2,), 2, 2)
    assert found("gradient weight zebra") == ((2,), 2, 3)


def test_stop_words_count_only_where_there_are_no_others() -> None:
    assert found("so the gradient", stops=("so", "the")) == ((0, 2), 1, 1)
    assert found("so", stops=("so",)) == ((3,), 1, 1)


def test_what_occurs_nowhere_is_not_found() -> None:
    assert found("zebra") == ((), 0, 1)
    assert found("!") == ((), 0, 0)
