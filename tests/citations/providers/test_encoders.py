"""The engine gives what sentence-transformers gives."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import ModelError, ModelMissing
from citations.providers import encoders, weights
from citations.providers.embedding import LocalEmbedder
from citations.providers.encoders import BATCH_TOKENS, TextEncoder, Tokens, TorchEncoder
from citations.providers.weights import ModelConfig
from tests.citations.providers import tiny_models
from tests.programs import run_program
from tests.serving import until

ROOT = Path(__file__).resolve().parents[3]

TEXT = "Backpropagation carries the error from the end of the network to its start."


def loaded(name: str) -> TextEncoder:
    """A tiny model."""
    folder = tiny_models.folder(name)
    return TextEncoder(folder, ModelConfig.read(folder))


@cache
def shared() -> TextEncoder:
    """One for all examples."""
    return loaded(tiny_models.MEAN)


def cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The cosine of each pair."""
    assert left.shape == right.shape
    return np.asarray(
        (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)
    )


@pytest.mark.parametrize(
    "name", [tiny_models.MEAN, tiny_models.CLS, tiny_models.LOWER, tiny_models.ROBERTA]
)
def test_vectors_are_those_of_sentence_transformers(name: str) -> None:
    model = loaded(name).vectors(tiny_models.TEXTS)
    assert model.dtype == np.float32
    assert cosines(model, tiny_models.expected(name)).min() > 0.9999
    assert np.allclose(np.linalg.norm(model, axis=1), 1, atol=1e-5)
    assert cosines(model[:1], model[2:3])[0] < 0.99  # the texts do differ for these models


@pytest.mark.parametrize(
    ("name", "dimensions"), [(tiny_models.DENSE, 16), (tiny_models.ELECTRA, 32)]
)
def test_a_model_of_another_architecture_runs_in_torch(name: str, dimensions: int) -> None:
    plain = LocalEmbedder(provider="local", model=str(tiny_models.folder(name)))
    assert plain.dimensions == dimensions
    made = plain.embed_documents(tiny_models.TEXTS)
    assert cosines(made, tiny_models.expected(name)).min() > 0.9999
    assert plain.embed_documents([]).shape == (0, dimensions)


def test_a_model_that_needs_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="PyTorch") as raised:
        TorchEncoder(tiny_models.folder(tiny_models.DENSE))
    assert "[models]" in raised.value.hint


def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    model = loaded(tiny_models.MEAN)
    together = model.vectors(tiny_models.TEXTS)
    alone = np.concatenate([model.vectors([text]) for text in tiny_models.TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_more_texts_than_are_read_at_once_come_back_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = loaded(tiny_models.MEAN)
    whole = model.vectors(tiny_models.TEXTS)
    monkeypatch.setattr(encoders, "READ_AT_ONCE", 5)
    assert np.abs(model.vectors(tiny_models.TEXTS) - whole).max() < 1e-5


def test_no_texts_have_no_vectors() -> None:
    assert loaded(tiny_models.MEAN).vectors([]).shape == (0, 32)


@given(st.lists(st.text(st.characters(codec=None, exclude_categories=()), max_size=60), max_size=6))
def test_any_text_has_a_vector(texts: list[str]) -> None:
    got = shared().vectors(texts)
    assert got.shape == (len(texts), 32)
    assert np.isfinite(got).all()


def test_a_very_long_text_is_cut_to_what_the_model_reads() -> None:
    model = loaded(tiny_models.MEAN)
    text = "many words and more " * 5_000
    assert cosines(model.vectors([text]), model.vectors([text[:2_000]]))[0] > 0.9999


def test_threads_may_share_a_model() -> None:
    model = loaded(tiny_models.MEAN)
    expected = model.vectors(tiny_models.TEXTS)
    wrong: list[float] = []

    def work() -> None:
        for _ in range(10):
            wrong.extend(
                difference
                for difference in [float(np.abs(model.vectors(tiny_models.TEXTS) - expected).max())]
                if difference > 1e-5
            )

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@given(st.lists(st.integers(1, 600), max_size=60))
def test_every_text_is_in_one_batch_and_batches_keep_to_their_tokens(
    lengths: Sequence[int],
) -> None:
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    batches = list(encoders._batches(order, lengths))
    assert [place for batch in batches for place in batch] == order
    assert all(
        len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= BATCH_TOKENS
        for batch in batches
    )
    assert Tokens([1], [0]).ids == [1]


def test_a_tokenizer_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="tokenizer"):
        encoders.tokenizer(tmp_path)


def test_a_model_needs_no_torch_and_tells_nobody() -> None:
    code = f"""
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
from pathlib import Path
from citations.providers.embedding import LocalEmbedder
from citations.providers.weights import ModelConfig
from citations.providers.encoders import TextEncoder
folder = Path({str(tiny_models.folder(tiny_models.MEAN))!r})
assert TextEncoder(folder, ModelConfig.read(folder)).vectors(["a"]).shape == (1, 32)
heavy = ["torch", "transformers", "sentence_transformers", "openvino.tools.ovc.convert"]
print([name for name in [*heavy, "openvino_telemetry"] if name in sys.modules])
"""
    process = run_program(sys.executable, "-c", code, code=None)
    assert process.stdout.strip() == "[]", process.stderr


def test_an_unused_model_leaves_memory_and_comes_back(settings: Any) -> None:
    settings.MODEL_IDLE_SECONDS = 2
    encoder = loaded(tiny_models.MEAN)
    before = encoder.vectors(tiny_models.TEXTS)
    assert encoder.is_loaded
    until(lambda: not encoder.is_loaded, seconds=10)
    assert np.array_equal(encoder.vectors(tiny_models.TEXTS), before)


def test_a_model_stays_in_memory_while_it_is_used(settings: Any) -> None:
    settings.MODEL_IDLE_SECONDS = 2
    encoder = loaded(tiny_models.MEAN)
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        encoder.vectors(["A text."])
        assert encoder.is_loaded
        time.sleep(0.1)


def test_a_model_may_stay_in_memory_for_good(settings: Any) -> None:
    settings.MODEL_IDLE_SECONDS = 0
    before = set(threading.enumerate())
    assert loaded(tiny_models.MEAN).is_loaded
    assert set(threading.enumerate()) <= before


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
