"""A claim without a quote is traced to the sentences of its passages."""

import pytest

from citations.answers.writing.attribution import attribute
from tests.citations.answers.writing.conftest import passage

TEXT = (
    "The error is carried from the end to the start. Each weight moves a little. "
    "Soup tastes of bones."
)


@pytest.mark.parametrize(
    ("claim", "sentence", "is_said"),
    [
        ("Each weight moves.", None, False),  # two content words are everywhere
        ("The error is carried to the start.", TEXT[:47], True),
        ("The error is carried from the start to the end.", TEXT[:47], False),
        ("The error travels from the end to the start.", TEXT[:47], False),
        ("The error is carried to the start, and each weight moves.", TEXT[:75], False),
        ("Backpropagation was invented in London by Ada Lovelace.", None, False),
    ],
)
def test_a_claim_stands_on_the_sentences_with_most_of_its_words(
    claim: str, sentence: str | None, is_said: bool
) -> None:
    place = attribute(claim, [passage(TEXT)])
    assert (place and place.pick.text) == sentence
    assert bool(place and place.is_said) == is_said


def test_meaning_counts_where_there_are_no_words_in_common() -> None:
    claim = "Bouillons owe their aroma to marrow."
    place = attribute(
        claim, [passage(TEXT)], rate=lambda _, texts: [0.8 * ("bones" in text) for text in texts]
    )
    assert place is not None
    assert (place.pick.text, place.is_said) == ("Soup tastes of bones.", False)
