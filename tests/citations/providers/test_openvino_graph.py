"""Graphs that are built without torch give what the models give in torch."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from citations.providers import openvino_graph, weights
from citations.providers.encoders import TorchEncoder, replace_surrogates, tokenizer
from citations.providers.openvino_graph import UnknownArchitecture
from citations.providers.weights import ModelConfig, openvino
from tests.citations.providers import tiny_models

ENCODERS = (tiny_models.MEAN, tiny_models.CLS, tiny_models.ROBERTA)
SCORERS = (tiny_models.CROSS, tiny_models.ROBERTA_CROSS)
SPEECH = (
    "So the gradient points uphill, and we walk the other way.",
    "Ein Satz auf Deutsch, und 日本語 dazu.",
    "one",
    "many words and more " * 60,
)


@cache
def compiled(folder: Path, head: str) -> Any:
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    return openvino().Core().compile_model(openvino_graph.build(folder, head), "CPU", settings)


def run(folder: Path, head: str, encoded: list[Any]) -> np.ndarray:
    """What the graph gives for texts of any lengths in one batch, padded."""
    pad = ModelConfig.read(folder).pad
    shape = (len(encoded), max(len(text.ids) for text in encoded))
    ids, mask, kinds = np.full(shape, pad), np.zeros(shape, int), np.zeros(shape, int)
    for row, text in enumerate(encoded):
        ids[row, : len(text.ids)], mask[row, : len(text.ids)] = text.ids, 1
        kinds[row, : len(text.ids)] = text.type_ids
    model = compiled(folder, head)
    values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    inputs = [next(iter(node.get_names())) for node in model.inputs]
    return np.asarray(model([values[name] for name in inputs])[0])


def vectors(folder: Path, texts: list[str]) -> np.ndarray:
    reader = tokenizer(folder)
    reader.enable_truncation(ModelConfig.read(folder).max_tokens)
    return run(folder, "vector", [reader.encode(replace_surrogates(text)) for text in texts])


def copied(name: str, folder: Path, **changes: object) -> Path:
    """A copy of a tiny model with another configuration."""
    shutil.copytree(tiny_models.folder(name), folder)
    config = folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), **changes}))
    return folder


@pytest.mark.parametrize("name", ENCODERS)
def test_vectors_are_those_of_torch(name: str) -> None:
    made = vectors(tiny_models.folder(name), tiny_models.TEXTS)
    assert (made * tiny_models.expected(name)).sum(axis=1).min() > 0.99999
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", SCORERS)
def test_scores_of_pairs_are_those_of_torch(name: str) -> None:
    folder = tiny_models.folder(name)
    reader = tokenizer(folder)
    reader.enable_truncation(64, strategy="longest_first")
    pairs = [
        reader.encode(tiny_models.QUERY, replace_surrogates(text)) for text in tiny_models.TEXTS
    ]
    logits = run(folder, "logits", pairs)[:, 0]
    expected = tiny_models.expected(name).reshape(-1)
    assert np.abs(1 / (1 + np.exp(-logits)) - expected).max() < 1e-4
    assert expected.std() > 0.005  # the texts do differ for these models


def test_the_model_that_is_shipped_gives_the_vectors_that_it_gives_in_torch() -> None:
    folder = weights.find(weights.MINILM)
    made = vectors(folder, [*SPEECH, *tiny_models.TEXTS])
    expected = TorchEncoder(folder).vectors([*SPEECH, *tiny_models.TEXTS])
    assert (made * expected).sum(axis=1).min() > 0.99999


def test_weights_of_half_precision_are_read(tmp_path: Path) -> None:
    folder = copied(tiny_models.MEAN, tmp_path / "half")
    stored = load_file(folder / "model.safetensors")
    save_file(
        {name: tensor.astype(np.float16) for name, tensor in stored.items()},
        folder / "model.safetensors",
    )
    made = vectors(folder, tiny_models.TEXTS)
    assert (made * tiny_models.expected(tiny_models.MEAN)).sum(axis=1).min() > 0.999


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_type": "mpnet"}, "type mpnet"),
        ({"hidden_act": "relu"}, "activation is relu"),
        ({"position_embedding_type": "relative_key"}, "positions"),
        ({"num_hidden_layers": 2}, "missing"),
        ({"num_hidden_layers": 0}, "other layers"),
    ],
)
def test_another_architecture_is_left_to_torch(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UnknownArchitecture, match=reason):
        openvino_graph.build(copied(tiny_models.MEAN, tmp_path / "other", **changes), "vector")


@pytest.mark.parametrize("content", [b"", b"no weights", None])
def test_weights_that_cannot_be_read_are_left_to_torch(
    tmp_path: Path, content: bytes | None
) -> None:
    folder = copied(tiny_models.MEAN, tmp_path / "broken")
    (folder / "model.safetensors").unlink()
    if content is not None:
        (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(UnknownArchitecture, match="weights"):
        openvino_graph.build(folder, "vector")


def damaged(tmp_path: Path, **changes: Any) -> Path:
    """A copy of a tiny model whose description of a tensor is another one."""
    folder = copied(tiny_models.MEAN, tmp_path / "damaged")
    path = folder / "model.safetensors"
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header["embeddings.word_embeddings.weight"] |= changes
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + content[start:])
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {"dtype": "BF16"},
        {"dtype": []},
        {"shape": [3, 32]},
        {"shape": None},
        {"data_offsets": [0, 10**15]},
        {"data_offsets": [-4, 4]},
        {"data_offsets": "all"},
    ],
)
def test_tensors_that_cannot_be_read_are_left_to_torch(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(UnknownArchitecture):
        openvino_graph.build(damaged(tmp_path, **changes), "vector")


def test_tensors_of_another_shape_are_left_to_torch(tmp_path: Path) -> None:
    folder = copied(tiny_models.MEAN, tmp_path / "other", hidden_size=24)
    with pytest.raises(UnknownArchitecture):
        openvino_graph.build(folder, "vector")


def test_a_graph_changes_nothing_in_its_file(tmp_path: Path) -> None:
    folder = copied(tiny_models.MEAN, tmp_path / "whole")
    before = weights.sha256(folder / "model.safetensors")
    vectors(folder, tiny_models.TEXTS)
    assert weights.sha256(folder / "model.safetensors") == before
