"""The model of full stops reads English speech of any length."""

from pathlib import Path

import numpy as np
import pytest

from citations.errors import ModelError
from citations.providers import punctuation
from citations.providers.punctuation import MARKS, Punctuator

SENTENCES = (
    "today we are going to talk about limits",
    "a limit is the value that a function comes close to",
    "it does not have to reach that value",
    "so let me draw a picture of it",
    "here is the curve and here is the point that we care about",
    "does anybody see what happens on the left side",
    "the values become larger and larger",
    "that means there is no limit at this point",
)


@pytest.fixture(scope="module")
def model() -> Punctuator:
    return Punctuator()


def probabilities(model: Punctuator, words: list[str]) -> np.ndarray:
    return np.concatenate(list(model.probabilities(words)))


def test_sentences_of_a_lecture_get_their_full_stops(model: Punctuator) -> None:
    words = " ".join(SENTENCES).split()
    rows = probabilities(model, words)
    ends = set(np.cumsum([len(sentence.split()) for sentence in SENTENCES]) - 1)
    claimed = set(np.flatnonzero(rows[:, MARKS.index(".")] + rows[:, MARKS.index("?")] >= 0.5))
    assert len(claimed & ends) >= len(ends) - 2
    assert len(claimed - ends) <= 1


def test_a_question_gets_its_mark(model: Punctuator) -> None:
    rows = probabilities(model, " ".join(SENTENCES).split())
    question = len(" ".join(SENTENCES[:6]).split()) - 1
    assert MARKS[int(rows[question].argmax())] == "?"


@pytest.mark.parametrize("count", [0, 1, 2, 89, 90, 91, 149, 150, 151, 240, 241, 1_000])
def test_each_word_of_a_speech_is_judged_once(model: Punctuator, count: int) -> None:
    words = (" ".join(SENTENCES).split() * 20)[:count]
    parts = list(model.probabilities(words))
    assert sum(map(len, parts)) == count
    assert all(np.allclose(part.sum(axis=1), 1, atol=1e-4) for part in parts)


def test_words_that_no_vocabulary_has_are_read(model: Punctuator) -> None:
    rows = probabilities(model, ["\ud800", "🤖", "x" * 10_000, "ﷺ", "是"])
    assert rows.shape == (5, len(MARKS))


def test_long_words_never_exceed_what_the_model_reads(model: Punctuator) -> None:
    rows = probabilities(model, ["🤖" * 40] * 300)
    assert rows.shape == (300, len(MARKS))
    assert np.isfinite(rows).all()


def test_what_is_read_together_does_not_matter_within_a_window(model: Punctuator) -> None:
    words = (" ".join(SENTENCES).split() * 20)[:400]
    alone, longer = probabilities(model, words[:150]), probabilities(model, words)
    assert np.allclose(alone[:120], longer[:120], atol=0.02)


def test_a_damaged_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / "punctuation.safetensors"
    damaged.write_bytes(punctuation.TRAINED.read_bytes()[:100_000])
    monkeypatch.setattr(punctuation, "TRAINED", damaged)
    with pytest.raises(ModelError, match="sentence ends"):
        Punctuator()
