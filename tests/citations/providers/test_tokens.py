"""Counting tokens: what is kept of a text is its end, in whole words."""

from collections.abc import Iterator

import pytest

from citations.errors import ModelMissing
from citations.providers import tokens, weights

TEXT = "Backpropagation carries the error from the end of the network to its start."


@pytest.fixture(autouse=True)
def counted_anew() -> Iterator[None]:
    tokens._tokenizer.cache_clear()
    yield
    tokens._tokenizer.cache_clear()


def test_a_short_text_stays_whole() -> None:
    assert tokens.keep_end(TEXT, most=50) == TEXT
    assert tokens.keep_end("", most=5) == ""


def test_the_end_is_kept_in_whole_words() -> None:
    kept = tokens.keep_end(TEXT, most=6)
    assert kept == "the network to its start."
    assert tokens.count(kept) <= 6
    assert tokens.keep_end(TEXT, most=0) == ""


def test_half_characters_and_long_words_are_no_trouble() -> None:
    assert tokens.count("\ud800 half") > 0
    assert (
        tokens.keep_end("x" * 5_000, most=10) == "x" * 5_000
    )  # a word that the model does not know is one token


def test_without_the_model_on_this_machine_the_length_is_a_guess_on_the_safe_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = tokens.count(TEXT)

    def missing(name: str) -> None:
        raise ModelMissing(f"{name} is not here.")

    monkeypatch.setattr(weights, "find", missing)
    tokens._tokenizer.cache_clear()
    assert tokens.count(TEXT) >= real
    assert tokens.keep_end(TEXT, most=10).endswith("its start.")
    assert len(tokens.keep_end(TEXT, most=10)) <= 10 * tokens.TOKEN_LENGTH
