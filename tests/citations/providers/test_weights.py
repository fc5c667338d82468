"""Where weights are found, and which files are a model's."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from citations.errors import ModelError, ModelMissing
from citations.providers import weights
from tests.citations.providers import tiny_models

SAFE, PICKLED = "model.safetensors", "pytorch_model.bin"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def written(folder: Path, **files: Any) -> Path:
    """Write files; ``__`` in a name stands for a dot, and what is no text is JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(
            content if isinstance(content, str) else json.dumps(content)
        )
    return folder


def index(*names: object) -> dict[str, Any]:
    """An index that spreads weights over files."""
    return {"weight_map": {f"layer.{number}": name for number, name in enumerate(names)}}


def cached(hub_cache: Path, name: str, folder: Path, *, commit: str = COMMIT) -> Path:
    """Put a model into the hub's cache, as the hub's library does."""
    kept = hub_cache / f"models--{name.replace('/', '--')}"
    (kept / "refs").mkdir(parents=True, exist_ok=True)
    (kept / "refs" / "main").write_text(commit)
    shutil.copytree(folder, kept / "snapshots" / commit)
    return kept / "snapshots" / commit


def test_the_packaged_weights_are_those_that_are_pinned() -> None:
    folder = weights.find(weights.MINILM)
    assert weights.sha256(folder / SAFE) in weights.PINNED[weights.MINILM]


def test_other_weights_under_that_name_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = written(tmp_path / "model", config__json={}, model__safetensors="other weights")
    monkeypatch.setattr(weights, "_packaged", lambda _: folder)
    with pytest.raises(ModelError, match="not those of") as raised:
        weights.find(weights.MINILM)
    assert not isinstance(raised.value, ModelMissing)
    assert "Reinstall the package" in raised.value.hint


def test_without_its_package_the_model_is_looked_for_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, hub_cache: Path
) -> None:
    packaged = weights.find(weights.MINILM)
    monkeypatch.setattr(weights, "_packaged", lambda _: None)
    with pytest.raises(ModelMissing):
        weights.find(weights.MINILM)
    kept = cached(hub_cache, weights.MINILM, packaged)
    assert weights.find(weights.MINILM) == kept


def test_a_model_in_the_cache_is_found_by_its_name(hub_cache: Path, tiny_mean: Path) -> None:
    kept = cached(hub_cache, "somebody/tiny", tiny_mean)
    assert weights.find("somebody/tiny") == kept


def test_the_commit_that_the_cache_points_to_is_taken(hub_cache: Path, tiny_mean: Path) -> None:
    cached(hub_cache, "somebody/tiny", tiny_mean)
    newer = cached(hub_cache, "somebody/tiny", tiny_mean, commit=COMMIT[::-1])
    assert weights.find("somebody/tiny") == newer


@pytest.mark.parametrize("missing", [SAFE, "config.json"])
def test_a_model_of_which_something_is_missing_is_not_here(
    hub_cache: Path, tiny_mean: Path, missing: str
) -> None:
    (cached(hub_cache, "somebody/tiny", tiny_mean) / missing).unlink()
    with pytest.raises(ModelMissing, match="somebody/tiny") as raised:
        weights.find("somebody/tiny")
    assert "kb models fetch" in raised.value.hint


def test_a_model_is_found_as_its_folder(tiny_mean: Path) -> None:
    assert weights.find(str(tiny_mean)) == tiny_mean.resolve()


@pytest.mark.parametrize(
    "name",
    [
        "nobody/nothing",
        "no model",
        "/no/such/folder",
        "~nobody/model",
        "x" * 5_000,
        "a\0b",
        "\ud800/x",
        "../..",
        "a/b/c",
    ],
)
def test_what_is_no_model_is_missing(hub_cache: Path, name: str) -> None:
    with pytest.raises(ModelMissing):
        weights.find(name)


def test_the_safe_form_is_taken_before_the_other(tmp_path: Path) -> None:
    written(tmp_path, pytorch_model__bin="pickled", model__safetensors="safe")
    assert weights.files(tmp_path) == [tmp_path / SAFE]
    (tmp_path / SAFE).unlink()
    assert weights.files(tmp_path) == [tmp_path / PICKLED]


@pytest.mark.parametrize("form", ["model.safetensors.index.json", "pytorch_model.bin.index.json"])
def test_weights_in_several_files_are_one_model(tmp_path: Path, form: str) -> None:
    (tmp_path / form).write_text(json.dumps(index("b.part", "a.part", "b.part")))
    written(tmp_path, a__part="a")
    assert weights.files(tmp_path) == []
    written(tmp_path, b__part="b")
    assert weights.files(tmp_path) == [tmp_path / "a.part", tmp_path / "b.part"]


def test_an_index_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder = written(tmp_path / "model", secret="mine")
    (tmp_path / "secret").write_text("not a model's")
    for name in ("../secret", str(tmp_path / "secret")):
        (folder / "model.safetensors.index.json").write_text(json.dumps(index(name)))
        assert weights.files(folder) == [folder / "secret"]
    (folder / "model.safetensors.index.json").write_text(json.dumps(index("..")))
    assert weights.files(folder) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        '{"weight_map": 5}',
        '{"weight_map": {}}',
        '{"weight_map": {"a": [1]}}',
        '{"weight_map": {"a": 1, "b": "x"}}',
        "[" * 100_000,
    ],
)
def test_an_index_that_makes_no_sense_is_no_model(tmp_path: Path, content: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(content)
    assert weights.files(tmp_path) == []


def test_an_index_that_is_no_text_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_bytes(b"\xff\xfe\xff")
    assert weights.files(tmp_path) == []


def test_a_digest_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / SAFE
    path.write_bytes(b"a")
    first = weights.digest(path)
    assert first == weights.digest(path) == weights.sha256(path)
    path.write_bytes(b"ab")
    assert weights.digest(path) == weights.sha256(path) != first


def another_process() -> None:
    weights._digest.cache_clear()


@pytest.fixture
def cache(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data" / "cache"


def test_the_next_process_reads_only_a_file_that_has_changed(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / SAFE
    path.write_bytes(b"a")
    first, kept = weights.digest(path), cache / weights.DIGESTS
    kept.write_text(kept.read_text().replace(first, "remembered"))
    another_process()
    assert weights.digest(path) == "remembered"
    state = path.stat()
    path.write_bytes(b"b")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))  # as a copy with its times
    assert weights.digest(path) == weights.sha256(path) != first
    another = tmp_path / "other"
    another.write_bytes(b"c")
    another.replace(path)
    assert weights.digest(path) == weights.sha256(path)


@pytest.mark.parametrize("kept", ["", "nonsense", "[]", "[" * 100_000, None])
def test_digests_that_are_lost_are_computed(tmp_path: Path, cache: Path, kept: str | None) -> None:
    path = tmp_path / SAFE
    path.write_bytes(b"a")
    if kept is not None:
        cache.mkdir(parents=True)
        (cache / weights.DIGESTS).write_text(kept)
    assert weights.digest(path) == weights.sha256(path)


def test_only_the_newest_digests_are_kept(tmp_path: Path, cache: Path) -> None:
    for number in range(weights.MAX_DIGESTS + 5):
        path = tmp_path / str(number)
        path.write_bytes(bytes([number]))
        weights.digest(path)
    kept = json.loads((cache / weights.DIGESTS).read_text())
    assert len(kept) == weights.MAX_DIGESTS
    assert weights.sha256(path) in kept.values()


def test_weights_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        weights.digest(tmp_path / SAFE)


def test_the_size_counts_what_a_model_is_loaded_from(tiny_mean: Path) -> None:
    expected = sum(path.stat().st_size for path in tiny_mean.rglob("*") if path.is_file())
    assert weights.size(tiny_mean) == expected


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("---\nlicense: mit\n---\n", "mit"),
        ('---\ntags:\n- x\nlicense: "apache-2.0"\n---\n', "apache-2.0"),
        ("# No front matter\nThe license: see below", ""),
        ("", ""),
        ("\0" * 10_000 + "\nlicense: mit", ""),
    ],
)
def test_the_licence_is_read_from_the_model_card(tmp_path: Path, text: str, licence: str) -> None:
    (tmp_path / "README.md").write_text(text)
    assert weights.licence("somebody/tiny", tmp_path) == licence


def test_the_licence_of_known_models_needs_no_files() -> None:
    assert weights.licence(weights.MINILM, None) == "apache-2.0"
    assert weights.licence("somebody/tiny", None) == ""
    assert weights.licence("somebody/tiny", tiny_models.folder(tiny_models.CROSS)) == ""
