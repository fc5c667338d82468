"""Counting tokens: what is kept of a text is its end, in whole words."""

from collections.abc import Iterator

import pytest

from citations.errors import ModelMissing
from citations.providers import encoders, weights

TEXT = "Backpropagation carries the error from the end of the network to its start."


@pytest.fixture(autouse=True)
def counted_anew() -> Iterator[None]:
    encoders._tokenizer.cache_clear()
    yield
    encoders._tokenizer.cache_clear()


def test_a_short_text_stays_whole() -> None:
    assert encoders.keep_end(TEXT, most=50) == TEXT
    assert encoders.keep_end("", most=5) == ""


def test_the_end_is_kept_in_whole_words() -> None:
    kept = encoders.keep_end(TEXT, most=6)
    assert kept == "the network to its start."
    assert encoders.count_tokens(kept) <= 6
    assert encoders.keep_end(TEXT, most=0) == ""


def test_half_characters_and_long_words_are_no_trouble() -> None:
    assert encoders.count_tokens("\ud800 half") > 0
    assert (
        encoders.keep_end("x" * 5_000, most=10) == "x" * 5_000
    )  # a word that the model does not know is one token


def test_without_the_model_on_this_machine_the_length_is_a_guess_on_the_safe_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = encoders.count_tokens(TEXT)

    def missing(name: str) -> None:
        raise ModelMissing(f"{name} is not here.")

    monkeypatch.setattr(weights, "find", missing)
    encoders._tokenizer.cache_clear()
    assert encoders.count_tokens(TEXT) >= real
    assert encoders.keep_end(TEXT, most=10).endswith("its start.")
    assert len(encoders.keep_end(TEXT, most=10)) <= 10 * encoders.TOKEN_LENGTH
