"""Converted models: made once, whole or not at all."""

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from citations.errors import ModelError
from citations.providers import openvino_conversion
from citations.providers.model_config import ModelConfig
from citations.providers.openvino_conversion import (
    GRAPH,
    REASON,
    WEIGHTS,
    Unconvertible,
    discard_graph,
    ensure_graph,
    is_ready,
)
from citations.providers.openvino_encoder import TextEncoder
from tests.citations.providers import tiny_models


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, models_dir: Path) -> list[Path]:
    """Exports that cost nothing: the folders that were exported to."""
    calls: list[Path] = []

    def export(folder: Path, head: str, out: Path) -> None:
        calls.append(out)
        (out / GRAPH).write_text(f"graph of {folder.name}, {head}")
        (out / WEIGHTS).write_bytes(bytes(range(256)))

    monkeypatch.setattr(openvino_conversion, "_export", export)
    return calls


def test_a_model_is_converted_once(made: list[Path], tiny_mean: Path) -> None:
    first, second = ensure_graph(tiny_mean, head="vector"), ensure_graph(tiny_mean, head="vector")
    assert first == second
    assert len(made) == 1
    assert not list(first.parent.parent.glob(".*-*/"))  # nothing half made stays


def test_each_head_has_a_graph_of_its_own(made: list[Path], tiny_mean: Path) -> None:
    assert ensure_graph(tiny_mean, head="vector") != ensure_graph(tiny_mean, head="logits")


def test_other_weights_have_another_graph(
    made: list[Path], tiny_mean: Path, tmp_path: Path
) -> None:
    other = tmp_path / "mean"
    other.mkdir()
    for path in tiny_mean.glob("*.*"):
        (other / path.name).write_bytes(path.read_bytes())
    before = ensure_graph(other, head="vector")
    (other / "model.safetensors").write_bytes(b"other weights")
    assert ensure_graph(other, head="vector") != before


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS, openvino_conversion.SEAL])
@pytest.mark.parametrize(
    "damage", [b"", b"nonsense", None], ids=["emptied", "overwritten", "deleted"]
)
def test_a_damaged_graph_is_made_anew(
    made: list[Path], tiny_mean: Path, name: str, damage: bytes | None
) -> None:
    graph = ensure_graph(tiny_mean, head="vector")
    good = graph.read_bytes()
    damaged = graph.with_name(name)
    damaged.unlink() if damage is None else damaged.write_bytes(damage)
    assert ensure_graph(tiny_mean, head="vector").read_bytes() == good
    assert len(made) == 2


def test_one_flipped_bit_is_noticed(made: list[Path], tiny_mean: Path) -> None:
    held = ensure_graph(tiny_mean, head="vector").with_name(WEIGHTS)
    content = bytearray(held.read_bytes())
    content[100] ^= 1
    held.write_bytes(content)
    ensure_graph(tiny_mean, head="vector")
    assert len(made) == 2


def test_many_at_once_make_one_graph(made: list[Path], tiny_mean: Path) -> None:
    results: list[Path] = []
    threads = [
        threading.Thread(target=lambda: results.append(ensure_graph(tiny_mean, head="vector")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(results)) == 1
    assert len(results) == 8


def test_a_conversion_that_was_killed_leaves_nothing_in_the_way(
    monkeypatch: pytest.MonkeyPatch, made: list[Path], tiny_mean: Path
) -> None:
    export = openvino_conversion._export

    def killed(folder: Path, head: str, out: Path) -> None:
        export(folder, head, out)
        raise KeyboardInterrupt

    monkeypatch.setattr(openvino_conversion, "_export", killed)
    with pytest.raises(KeyboardInterrupt):
        ensure_graph(tiny_mean, head="vector")
    monkeypatch.setattr(openvino_conversion, "_export", export)
    assert ensure_graph(tiny_mean, head="vector").is_file()


def test_what_cannot_be_converted_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, made: list[Path], tiny_mean: Path
) -> None:
    def export(folder: Path, head: str, out: Path) -> None:
        made.append(out)
        (out / REASON).write_text("ValueError: too odd")

    monkeypatch.setattr(openvino_conversion, "_export", export)
    for _ in range(2):
        with pytest.raises(Unconvertible, match="too odd"):
            ensure_graph(tiny_mean, head="vector")
    assert len(made) == 1


def test_a_folder_that_cannot_be_written_to_is_told(
    settings: Any, tiny_mean: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    settings.MODELS_DIR = tmp_path / "file" / "models"
    with pytest.raises(ModelError, match="cannot be stored") as raised:
        ensure_graph(tiny_mean, head="vector")
    assert "MODELS_DIR" in raised.value.hint


def test_the_program_says_why_a_model_cannot_be_converted(models_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "no-such-thing", "hidden_size": 8}')
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(Unconvertible, match="no-such-thing"):
        ensure_graph(folder, head="vector")


def test_a_graph_that_cannot_be_loaded_is_made_anew(
    models_dir: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_models.folder(tiny_models.MEAN)
    export = openvino_conversion._export
    monkeypatch.setattr(
        openvino_conversion,
        "_export",
        lambda folder, head, out: (out / GRAPH).write_text("no graph, though its sum is right"),
    )
    broken = ensure_graph(folder, head="vector")
    monkeypatch.setattr(openvino_conversion, "_export", export)
    with caplog.at_level(logging.WARNING):
        encoder = TextEncoder(folder, ModelConfig.read(folder))
    assert encoder.vectors(["a"]).shape == (1, 32)
    assert "made again" in caplog.text
    assert b"<net" in broken.read_bytes()[:1000]
    discard_graph(broken)
    assert not broken.exists()


def test_it_is_known_whether_a_graph_has_been_made(made: list[Path], tiny_mean: Path) -> None:
    assert not is_ready(tiny_mean, head="vector")
    ensure_graph(tiny_mean, head="vector")
    assert is_ready(tiny_mean, head="vector")
    assert not is_ready(tiny_mean, head="logits")
    assert len(made) == 1


def test_a_graph_that_cannot_be_written_is_not_the_models_fault(
    monkeypatch: pytest.MonkeyPatch, models_dir: Path, tiny_mean: Path
) -> None:
    monkeypatch.setattr(
        openvino_conversion, "GRAPH", f"{'x' * 300}.xml"
    )  # longer than a name may be
    with pytest.raises(ModelError, match="could not be converted"):
        ensure_graph(tiny_mean, head="vector")
    assert not [path for path in models_dir.iterdir() if path.is_dir()]
