"""Fetching models: whole or not at all, each byte once, and every failure in words."""

import hashlib
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from citations.errors import ModelError, ModelMissing, ModelRefused, ModelServerError
from citations.providers import weights
from citations.providers.downloads import fetch
from citations.providers.embedding import LocalEmbedder
from citations.providers.inventory import models_to_fetch
from tests.citations.providers import tiny_models
from tests.hub_standin import CHUNK, TOKEN, Fault, HubStandIn
from transcripts.core.errors import KnowledgeBaseError

NAME = "somebody/tiny"
WEIGHTS = "model.safetensors"
Told = list[tuple[int, int]]


def nobody(here: int, total: int) -> None:
    """Listen to nothing."""


def content(name: str = tiny_models.MEAN) -> dict[str, bytes]:
    """The files of a tiny model."""
    folder = tiny_models.folder(name)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(name: str = NAME) -> KnowledgeBaseError:
    """The error with which a fetch ends; nothing is here afterwards."""
    with pytest.raises(KnowledgeBaseError) as raised:
        fetch(name, nobody)
    assert raised.value.message
    assert raised.value.hint
    with pytest.raises(ModelMissing):
        weights.find(name)
    return raised.value


def test_a_model_is_fetched_found_and_gives_its_vectors(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    folder = fetch(NAME, nobody)
    assert weights.find(NAME) == folder
    assert (folder / WEIGHTS).read_bytes() == content()[WEIGHTS]
    hub.requests.clear()
    vectors = LocalEmbedder(provider="local", model=NAME).embed_documents(tiny_models.TEXTS)
    assert (vectors * tiny_models.expected(tiny_models.MEAN)).sum(axis=1).min() > 0.9999
    assert np.isfinite(vectors).all()
    assert not hub.requests


def test_the_multilingual_model_is_fetched_by_its_short_name_and_gets_its_prefixes(
    hub: HubStandIn,
) -> None:
    for name in (weights.E5_SMALL, NAME):
        hub.publish(name, tiny_models.folder(tiny_models.E5))
    assert models_to_fetch(["e5-small"]) == [weights.E5_SMALL]
    for name in (*models_to_fetch(["e5-small"]), NAME):
        fetch(name, nobody)
    plain = LocalEmbedder(provider="local", model=NAME)
    vectors = plain.embed_documents(tiny_models.TEXTS)
    assert (vectors * tiny_models.expected(tiny_models.E5)).sum(axis=1).min() > 0.9999
    prefixed = LocalEmbedder(provider="e5-small", model=weights.E5_SMALL)
    texts = ["Steigung der Tangente", "pente de la tangente"]
    passages = plain.embed_documents([f"passage: {text}" for text in texts])
    assert prefixed.embed_documents(texts) == pytest.approx(passages, abs=1e-6)
    expected = pytest.approx(plain.embed_documents([f"query: {texts[0]}"])[0], abs=1e-06)
    assert prefixed.embed_query(texts[0]) == expected


def test_progress_adds_up_to_all_bytes(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    reports: Told = []
    folder = fetch(NAME, lambda here, total: reports.append((here, total)))
    here, totals = [report[0] for report in reports], {report[1] for report in reports}
    assert here == sorted(here)
    assert (
        totals
        == {here[-1]}
        == {sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())}
    )
    assert hub.sent() == here[-1]


def test_what_no_model_needs_is_left_there(hub: HubStandIn) -> None:
    more = {
        "pytorch_model.bin": b"x",
        "onnx/model.onnx": b"x",
        "openvino/openvino_model.bin": b"x",
        "picture.png": b"x",
        "run.py": b"x",
        "data/a.json": b"{}",
    }
    hub.publish(NAME, {**content(), **more})
    folder = fetch(NAME, nobody)
    hits = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert hits == content().keys()
    assert not [
        request.path
        for request in hub.requests
        if any(request.path.endswith(name) for name in more)
    ]


def test_weights_of_pytorch_are_fetched_where_there_are_no_others(hub: HubStandIn) -> None:
    files = content()
    files["pytorch_model.bin"] = files.pop(WEIGHTS)
    hub.publish(NAME, files)
    assert (fetch(NAME, nobody) / "pytorch_model.bin").is_file()


def test_all_shards_are_fetched(hub: HubStandIn) -> None:
    files = content()
    whole = files.pop(WEIGHTS)
    shards = {f"model-0000{number}-of-00002.safetensors": whole[number::2] for number in (1, 2)}
    index = {"weight_map": dict.fromkeys("ab", next(iter(shards))) | {"c": list(shards)[1]}}
    hub.publish(
        NAME, {**files, **shards, f"{WEIGHTS}.index.json": str(index).replace("'", '"').encode()}
    )
    assert [path.name for path in weights.files(fetch(NAME, nobody))] == sorted(shards)


def test_what_is_here_is_not_fetched_again(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    folder = fetch(NAME, nobody)
    before = hub.sent()
    reports: Told = []
    assert fetch(NAME, lambda here, total: reports.append((here, total))) == folder
    assert hub.sent() == before
    assert reports[-1][0] == reports[-1][1]


def test_a_fetch_that_broke_off_goes_on_where_it_was(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(Fault.RESET, at="/store/")
    error = refused()
    assert isinstance(error, ModelServerError)
    assert "to resume" in error.hint
    half = hub.sent("/store/")
    assert 0 < half < len(content()[WEIGHTS])
    hub.requests.clear()
    reports: Told = []
    folder = fetch(NAME, lambda here, total: reports.append((here, total)))
    assert (folder / WEIGHTS).read_bytes() == content()[WEIGHTS]
    assert (
        0 <= hub.sent() - (len(content()[WEIGHTS]) - half) < CHUNK
    )  # of the weights the other half, and nothing else
    assert reports[-1] == (sum(map(len, content().values())),) * 2
    assert not list(folder.parents[1].rglob("*.part"))


def test_a_cut_connection_is_mended_by_asking_for_the_rest(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(Fault.CUT, Fault.CUT, at="/store/")
    reports: Told = []
    folder = fetch(NAME, lambda here, total: reports.append((here, total)))
    assert (folder / WEIGHTS).read_bytes() == content()[WEIGHTS]
    assert 0 <= hub.sent("/store/") - len(content()[WEIGHTS]) < 2 * CHUNK
    assert max(here for here, total in reports) == reports[-1][1]


def test_a_server_that_begins_anew_spoils_nothing(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(Fault.RESET, Fault.WHOLE, at="/store/")
    refused()
    assert (fetch(NAME, nobody) / WEIGHTS).read_bytes() == content()[WEIGHTS]


def test_more_than_there_is_spoils_nothing(hub: HubStandIn, hub_cache: Path) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    blobs = hub_cache / "models--somebody--tiny" / "blobs"
    blobs.mkdir(parents=True)
    wanted = content()[WEIGHTS]
    (blobs / f"{hashlib.sha256(wanted).hexdigest()}.part").write_bytes(b"x" * (len(wanted) + 1))
    assert (fetch(NAME, nobody) / WEIGHTS).read_bytes() == wanted


def test_weights_that_were_damaged_on_their_way_are_thrown_away(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(Fault.DAMAGED, at="/store/")
    assert "damaged" in refused().message
    assert (fetch(NAME, nobody) / WEIGHTS).read_bytes() == content()[WEIGHTS]


def test_while_it_is_fetched_it_is_not_here(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    before: list[bool] = []

    def look(here: int, total: int) -> None:
        if here < total:
            with pytest.raises(ModelMissing):
                weights.find(NAME)
            before.append(True)

    fetch(NAME, look)
    assert before


def test_many_who_fetch_at_once_fetch_it_once(hub: HubStandIn) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    folders: list[Path] = []
    threads = [
        threading.Thread(target=lambda: folders.append(fetch(NAME, nobody))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(folders) == 4
    assert len(set(folders)) == 1
    assert hub.sent("/store/") == len(content()[WEIGHTS])


def test_the_token_goes_to_the_hub_and_nowhere_else(
    hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    fetch(NAME, nobody)
    stored = [request for request in hub.requests if request.path.startswith("/store/")]
    assert stored
    assert not [request for request in stored if "authorization" in request.headers]
    assert {
        request.headers.get("authorization") for request in hub.requests if request not in stored
    } == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("fault", "kind", "message", "hint"),
    [
        (Fault.UNKNOWN, ModelRefused, "There is no model", "settings name"),
        (Fault.UNAUTHORIZED, ModelRefused, "There is no model", "HF_TOKEN"),
        (Fault.BAD_TOKEN, ModelRefused, "401", "HF_TOKEN"),
        (Fault.GATED, ModelRefused, "accepted its terms", "HF_TOKEN"),
        (Fault.FAILING, ModelServerError, "500", "later"),
        (Fault.OVERLOADED, ModelServerError, "503", "later"),
        (Fault.OTHER, ModelServerError, "not the Hugging Face hub", "HF_ENDPOINT"),
        (Fault.CUT, ModelServerError, "could not be downloaded", "connection"),
        (Fault.RESET, ModelServerError, "could not be downloaded", "connection"),
    ],
)
def test_what_goes_wrong_is_told(
    hub: HubStandIn, fault: Fault, kind: type[ModelError], message: str, hint: str
) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(fault, at="/api/")
    error = refused()
    assert isinstance(error, kind)
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault.GATED, "accepted its terms"),
        (Fault.FAILING, "500"),
        (Fault.OVERLOADED, "503"),
        (Fault.OTHER, "could not be downloaded"),
    ],
)
def test_what_goes_wrong_with_the_weights_is_told(
    hub: HubStandIn, fault: Fault, message: str
) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(fault, at="/store/")
    assert message in refused().message
    assert (fetch(NAME, nobody) / WEIGHTS).read_bytes() == content()[WEIGHTS]


def test_a_slow_hub_is_told(hub: HubStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citations.providers.downloads.SECONDS", 0.1)
    hub.fail(Fault.SLOW)
    assert isinstance(refused(), ModelServerError)


def test_a_hub_that_is_not_there_is_told(hub: HubStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "HF_ENDPOINT" in refused().hint


@pytest.mark.parametrize(
    "name", ["a/b/c", "no spaces/here", "../etc", "a" * 300, "-/-", "x\0y/z", "\ud800/x"]
)
def test_a_name_that_no_model_has_is_told(hub: HubStandIn, name: str) -> None:
    assert isinstance(refused(name), ModelRefused)
    assert not hub.requests


@pytest.mark.parametrize("missing", ["config.json", WEIGHTS])
def test_a_model_without_what_is_needed_is_refused_before_anything_is_fetched(
    hub: HubStandIn, missing: str
) -> None:
    hub.publish(NAME, {name: file for name, file in content().items() if name != missing})
    assert "no usable weights" in refused().message
    assert not hub.sent()


def test_a_model_for_which_there_is_no_room_is_not_begun(hub: HubStandIn) -> None:
    hub.publish(NAME, content(), sizes={WEIGHTS: 10**15})
    error = refused()
    assert "1000000.0 GB" in error.message
    assert "HF_HOME" in error.hint
    assert not hub.sent()


def test_what_is_here_needs_no_room(hub: HubStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub.fail(Fault.RESET, at="/store/")
    refused()
    needed = sum(map(len, content().values())) - hub.sent("/store/") + CHUNK
    monkeypatch.setattr(
        "citations.providers.downloads.shutil",
        SimpleNamespace(disk_usage=lambda _: SimpleNamespace(free=needed)),
    )
    assert fetch(NAME, nobody).is_dir()


def test_a_cache_that_cannot_be_written_to_is_told(hub: HubStandIn, hub_cache: Path) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    hub_cache.write_text("in the way")
    assert "HF_HOME" in refused().hint


def test_a_cache_that_was_thrown_away_is_filled_again(hub: HubStandIn, hub_cache: Path) -> None:
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    fetch(NAME, nobody)
    shutil.rmtree(hub_cache)
    with pytest.raises(ModelMissing):
        weights.find(NAME)
    assert fetch(NAME, nobody).is_dir()


def test_other_weights_than_the_known_ones_are_not_taken(
    hub: HubStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_packaged", lambda _: None)
    hub.publish(weights.MINILM, tiny_models.folder(tiny_models.MEAN))
    with pytest.raises(ModelError, match="not those of"):
        fetch(weights.MINILM, nobody)


def test_nothing_is_fetched_offline(hub: HubStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub.publish(NAME, tiny_models.folder(tiny_models.MEAN))
    assert "HF_HUB_OFFLINE" in refused().message
    assert not hub.requests


def test_a_model_of_speech_is_fetched_and_only_its_own_weights_are_used(hub: HubStandIn) -> None:
    files = dict.fromkeys(("config.json", "tokenizer.json", "vocabulary.txt"), b"{}")
    hub.publish("somebody/whisper", files | {"model.bin": b"weights"})
    folder = fetch("somebody/whisper", nobody)
    assert weights.find("somebody/whisper") == folder
    assert {path.name for path in folder.iterdir()} == {*files, "model.bin"}
    hub.publish("Systran/faster-whisper-base", files | {"model.bin": b"other weights"})
    with pytest.raises(ModelError, match="are not those of"):
        fetch("Systran/faster-whisper-base", nobody)
