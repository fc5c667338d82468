"""The engine scores pairs as sentence-transformers' CrossEncoder does."""

import json
import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import ModelError, ModelMissing
from citations.providers import openvino_graph, reranking
from citations.providers.encoders import Tokens, TorchPairScorer
from citations.providers.openvino_graph import UnknownArchitecture
from citations.providers.reranking import CrossEncoderReranker
from tests.citations.providers import tiny_models


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranking, "READ_SECONDS", 600.0)


@cache
def loaded() -> CrossEncoderReranker:
    """A tiny cross-encoder."""
    return CrossEncoderReranker(str(tiny_models.folder(tiny_models.CROSS)))


def copied(folder: Path, **changes: object) -> Path:
    """A copy of the tiny cross-encoder with another configuration."""
    shutil.copytree(tiny_models.folder(tiny_models.CROSS), folder)
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
    return folder


def close(scores: list[float], expected: np.ndarray) -> bool:
    """Whether scores are equal, but for rounding."""
    return bool(np.abs(np.asarray(scores) - expected.reshape(-1)).max() < 2e-3)


def test_scores_are_those_of_sentence_transformers() -> None:
    scores = loaded().score(tiny_models.QUERY, tiny_models.TEXTS)
    assert close(scores, tiny_models.expected(tiny_models.CROSS))
    assert max(scores) - min(scores) > 0.02  # the texts do differ for this model


def test_scores_keep_the_order_of_the_texts() -> None:
    forwards, backwards = (
        loaded().score(tiny_models.QUERY, tiny_models.TEXTS),
        loaded().score(tiny_models.QUERY, tiny_models.TEXTS[::-1]),
    )
    assert np.allclose(forwards, backwards[::-1], atol=1e-5)


def test_a_text_has_the_same_score_alone_and_among_others() -> None:
    together = loaded().score(tiny_models.QUERY, tiny_models.TEXTS)
    assert np.allclose(
        [loaded().score(tiny_models.QUERY, [text])[0] for text in tiny_models.TEXTS],
        together,
        atol=1e-5,
    )


def test_no_texts_have_no_scores() -> None:
    assert loaded().score(tiny_models.QUERY, []) == []


def test_what_is_too_long_is_cut() -> None:
    text = "gradients point uphill " * 4_000
    expected = pytest.approx(loaded().score(tiny_models.QUERY, [text[:500]]), abs=1e-05)
    assert loaded().score(tiny_models.QUERY, [text]) == expected
    (long,) = loaded().score(text, ["uphill"])
    assert long == pytest.approx(loaded().score(text[:500], ["uphill"])[0], abs=1e-5)


def test_a_long_question_leaves_room_for_the_text() -> None:
    question = "gradients point uphill " * 100
    assert (
        abs(np.subtract(*loaded().score(question, ["Error 404", "the cat sat on the mat"]))) > 1e-4
    )


@given(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=80),
    st.lists(st.text(st.characters(codec=None, exclude_categories=())), max_size=4),
)
def test_any_text_has_a_score(query: str, texts: list[str]) -> None:
    scores = loaded().score(query, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)


def test_the_largest_logits_are_scores_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Extreme:
        def logits(self, query: str, texts: list[str]) -> np.ndarray:
            return np.array([-1e30, -20, 0, 20, 1e30], np.float32)

    model = CrossEncoderReranker(str(tiny_models.folder(tiny_models.CROSS)))
    monkeypatch.setattr(model, "_scorer", Extreme())
    scores = model.score("q", ["t"] * 5)
    assert scores == sorted(scores)
    assert (scores[0], scores[2], scores[4]) == (pytest.approx(0), 0.5, 1)
    assert 0 < scores[1] < scores[3] < 1


def test_a_model_of_two_labels_is_no_reranker() -> None:
    with pytest.raises(ModelError, match="2 numbers") as raised:
        CrossEncoderReranker(str(tiny_models.folder(tiny_models.TWO_LABELS)))
    assert "RERANKER" in raised.value.hint


def test_an_embedding_model_is_no_reranker(tiny_mean: Path) -> None:
    with pytest.raises(ModelError, match="no reranker"):
        CrossEncoderReranker(str(tiny_mean))


def test_a_model_that_is_not_here_is_missing(hub_cache: Path) -> None:
    with pytest.raises(ModelMissing):
        CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L-12-v2")


def test_what_is_not_built_runs_in_torch_and_scores_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: Path, head: str) -> None:
        raise UnknownArchitecture("too odd")

    monkeypatch.setattr(openvino_graph, "build", build)
    model = CrossEncoderReranker(str(tiny_models.folder(tiny_models.CROSS)))
    assert isinstance(model._scorer, TorchPairScorer)
    assert close(
        model.score(tiny_models.QUERY, tiny_models.TEXTS), tiny_models.expected(tiny_models.CROSS)
    )
    assert model.score(tiny_models.QUERY, []) == []


def test_without_a_fast_tokenizer_it_runs_in_torch(tmp_path: Path) -> None:
    folder = copied(tmp_path / "cross")
    words = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(sorted(words, key=words.__getitem__)))
    (folder / "tokenizer_config.json").write_text(
        '{"tokenizer_class": "BertTokenizer", "do_lower_case": false}'
    )
    model = CrossEncoderReranker(str(folder))
    assert isinstance(model._scorer, TorchPairScorer)
    assert close(
        model.score(tiny_models.QUERY, ["Error 404: not found"]),
        tiny_models.expected(tiny_models.CROSS)[3:4],
    )


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    folder = copied(tmp_path / "cross")
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:5_000])
    with pytest.raises(ModelError, match="cross cannot be loaded"):
        CrossEncoderReranker(str(folder))


def test_a_pair_has_so_many_tokens_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    model = CrossEncoderReranker(str(tiny_models.folder(tiny_models.CROSS)))
    lengths: list[int] = []

    def run(texts: list[Tokens]) -> np.ndarray:
        lengths.extend(len(text.ids) for text in texts)
        return np.zeros((len(texts), 1), np.float32)

    monkeypatch.setattr(model._scorer, "_engine", SimpleNamespace(run=run))
    model.score("question " * 200, ["text " * 200, ""])
    assert lengths == [
        64,
        33,
    ]  # all that the model takes; half of it the question where the text is long
    assert lengths[0] <= reranking.PAIR_TOKENS


def test_it_reads_the_first_texts_until_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    every = loaded().score(tiny_models.QUERY, tiny_models.TEXTS)
    assert len(every) == len(tiny_models.TEXTS) > reranking.AT_ONCE
    monkeypatch.setattr(reranking, "READ_SECONDS", 0.0)
    read = loaded().score(tiny_models.QUERY, tiny_models.TEXTS)
    assert np.allclose(read, every[: reranking.AT_ONCE], atol=1e-5)
