"""What a claim may be taken from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.writing.claim_support import attribute, is_backed
from citations.quotes import matching
from tests.citations.answers.writing.conftest import passage


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("It takes 1,000 steps.", True),
        ("It takes 1000 steps.", True),
        ("It takes 100 steps.", False),
        ("It takes 10 % of 1000.", False),
        ("It takes long.", True),
    ],
)
def test_numbers_of_a_claim_have_to_be_said(claim: str, is_true: bool) -> None:
    assert (
        is_backed(claim, ["one text", "and it takes 1,000 steps in all"], contains=matching.occurs)
        is is_true
    )


SAID = (
    "So BM25 rests on three observations: rare words count. It can't carry the error back! "
    "Salt is added at the end, never at the start. "
    "Nothing, not even light, can escape a black hole. Is the rate always falling after a while?"
)


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("BM25 rests on three observations.", True),
        ("BM25 does not rest on three observations.", False),
        ("It can carry the error back.", False),
        ("It cannot carry the error back.", True),
        ("Salt is added at the end.", True),
        ("Salt is not added at the start.", True),
        ("Light cannot escape a black hole.", True),
        ("The rate isn't always falling after a while.", True),  # that it does was only asked
        ("No more is said of salt than of any other thing.", True),
        ("Not so.", True),
    ],
)
def test_a_claim_that_denies_the_sentence_that_it_repeats_is_not_backed(
    claim: str, is_true: bool
) -> None:
    assert is_backed(claim, ["how does it work?", SAID], contains=matching.occurs) is is_true


@pytest.mark.parametrize(
    ("claim", "is_true"),
    [
        ("It is said that “salt is added at the end”.", True),
        ('Passage 2 says "salt is taken away at the end" of it.', False),
        ('It goes back. QUOTE [-1]: "carry the error to the moon"', False),
        ('This is called "weighing of words".', True),
    ],
)
def test_what_a_claim_quotes_has_to_be_said_word_for_word(claim: str, is_true: bool) -> None:
    assert is_backed(claim, ["how?", SAID], contains=matching.occurs) is is_true


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_claimed_has_an_answer(claim: str, said: str) -> None:
    assert is_backed(claim, [said], contains=matching.occurs) in (True, False)


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
