"""Models are made once, when they are needed, from what is on this machine."""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from citations import conf
from citations.errors import InvalidProvider, ModelError, ModelMissing
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.providers import embedding, openvino_graph, registry, weights
from citations.providers.embedding import HashEmbedder
from citations.search import pipeline as search_pipeline
from tests.citations.providers import tiny_models
from tests.hub_standin import HubStandIn
from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.usefixtures("fresh_registry")
CROSS = "cross-encoder/ms-marco-MiniLM-L-12-v2"


class Made:
    """Counts how many local models are made; each takes a moment."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[str] = []
        self.error: Exception | None = None
        monkeypatch.setattr(registry, "LocalEmbedder", self.make)
        monkeypatch.setattr(
            registry,
            "CrossEncoderReranker",
            lambda name: self.make(provider="reranker", model=name),
        )

    def make(self, *, provider: str, model: str) -> HashEmbedder:
        """Make one, or fail."""
        self.names.append(model)
        time.sleep(0.05)
        if self.error:
            raise self.error
        return HashEmbedder(model=model)


@pytest.fixture
def no_lectures(settings: Any) -> None:
    """Nothing of live lectures wants a model."""
    settings.LIVE_KEYWORDS = "none"
    settings.LIVE_OFF_TOPIC_CONFIDENCE = 1.0
    settings.LIVE_RERANKER = "none"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Models that cost nothing."""
    return Made(monkeypatch)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that stands still."""
    made = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(registry, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, hub: HubStandIn) -> Iterator[list[Any]]:
    """What is asked of the network, which is all refused.

    The hub has every model that is usually wanted.
    """
    for name in weights.KNOWN:
        hub.publish(name, tiny_models.folder(tiny_models.MEAN))
    received: list[Any] = []

    def refuse(*about: Any, **_: Any) -> None:
        received.append(about)
        raise ConnectionRefusedError

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield received
    assert not received
    assert not hub.requests


def run(*targets: Any) -> None:
    """Run all at once."""
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_choice_has_one_model(made: Made) -> None:
    first = registry.embedder("local")
    assert first is registry.embedder("local") is registry.embedder(" LOCAL ")
    assert registry.embedder("local", model="other") is not first
    assert (
        registry.embedder("fake")
        is registry.embedder("fake")
        is not registry.embedder("fake", dimensions=8)
    )
    assert made.names == [weights.MINILM, "other"]


def test_after_a_reset_it_is_made_anew(made: Made) -> None:
    first = registry.embedder("local")
    registry.reset()
    assert registry.embedder("local") is not first


def test_the_settings_name_the_wanted_one(settings: Any, made: Made) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "bge", ""
    assert registry.configured_embedder().model == "BAAI/bge-m3"
    settings.EMBEDDING_MODEL = "somebody/tiny"
    assert registry.configured_embedder().model == "somebody/tiny"


def test_threads_wait_for_one_load(made: Made) -> None:
    got: list[Any] = []
    run(*[lambda: got.append(registry.embedder("local"))] * 8)
    assert len(got) == 8
    assert len({id(model) for model in got}) == 1
    assert made.names == [weights.MINILM]


def test_whoever_wants_another_model_waits_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    def load(*, provider: str, model: str) -> HashEmbedder:
        begun.set()
        assert go.wait(10)
        return HashEmbedder()

    monkeypatch.setattr(registry, "LocalEmbedder", load)
    slow = threading.Thread(target=registry.embedder, args=("local",))
    slow.start()
    assert begun.wait(10)
    assert registry.embedder("fake").dimensions == 64
    assert slow.is_alive()
    go.set()
    slow.join()


def test_a_load_that_failed_is_tried_again(made: Made) -> None:
    made.error = ModelMissing("It is not here.")
    for _ in range(2):
        with pytest.raises(ModelMissing):
            registry.embedder("local")
    made.error = None
    assert registry.embedder("local") is registry.embedder("local")
    assert len(made.names) == 3


@pytest.mark.parametrize("provider", ["", "no-such", "local ,bge", "\0", "\ud800"])
def test_what_is_no_provider_is_told(provider: str) -> None:
    with pytest.raises(InvalidProvider, match="no embedding provider") as raised:
        registry.embedder(provider)
    assert "bge-base" in raised.value.hint
    with pytest.raises(InvalidProvider):
        registry.identity(conf.EmbeddingChoice(provider=provider))


# What is known of a model without loading it


@pytest.fixture
def unloadable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be loaded."""

    def load(*_: Any, **__: Any) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(embedding, "TextEncoder", load)
    monkeypatch.setattr(embedding, "TorchEncoder", load)


@pytest.mark.usefixtures("unloadable")
def test_the_identity_of_usual_models_needs_nothing_on_this_machine(hub_cache: Path) -> None:
    identities = [
        registry.identity(conf.EmbeddingChoice(provider=name))
        for name in ("local", "BGE", "bge-base")
    ]
    assert identities == [
        ("local", weights.MINILM, 384),
        ("bge", "BAAI/bge-m3", 1024),
        ("bge-base", "BAAI/bge-base-en-v1.5", 768),
    ]


@pytest.mark.usefixtures("unloadable")
def test_the_identity_of_another_model_is_read_from_its_files(
    hub_cache: Path, tiny_mean: Path
) -> None:
    hits = registry.identity(conf.EmbeddingChoice(provider="local", model=str(tiny_mean)))
    assert hits == ("local", str(tiny_mean), 32)
    with pytest.raises(ModelMissing):
        registry.identity(conf.EmbeddingChoice(provider="local", model="somebody/tiny"))


# The cross-encoder


def test_a_cross_encoder_is_made_once(settings: Any, made: Made) -> None:
    settings.RERANKER = CROSS
    assert registry.reranker() is registry.reranker() is not None
    assert made.names == [CROSS]


@pytest.mark.parametrize("name", ["none", "None", ""])
def test_no_cross_encoder_is_wanted(settings: Any, made: Made, name: str) -> None:
    settings.RERANKER = name
    assert registry.reranker() is None
    assert not made.names


def test_a_missing_cross_encoder_is_looked_for_again_later(
    settings: Any, made: Made, clock: SimpleNamespace
) -> None:
    settings.RERANKER, made.error = CROSS, ModelMissing("It is not here.")
    assert registry.reranker() is None
    made.error = None
    clock.now += registry.LOOK_AGAIN_SECONDS - 1
    assert registry.reranker() is None
    assert len(made.names) == 1
    clock.now += 2
    assert registry.reranker() is registry.reranker() is not None
    assert len(made.names) == 2


def test_a_broken_cross_encoder_is_told_once(
    settings: Any, made: Made, clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    settings.RERANKER, made.error = (
        "broken/model",
        ModelError("It is broken.", hint="Fetch it again."),
    )
    for _ in range(3):
        assert registry.reranker() is None
        clock.now += 2 * registry.LOOK_AGAIN_SECONDS
    assert len(made.names) == 3
    expected = ["Searches are not re-ranked: It is broken. Fetch it again."]
    assert [record.getMessage() for record in caplog.records] == expected


def test_a_cross_encoder_that_was_fetched_meanwhile_is_used(
    settings: Any, hub_cache: Path, clock: SimpleNamespace
) -> None:
    settings.RERANKER = "somebody/cross"
    assert registry.reranker() is None
    kept = hub_cache / "models--somebody--cross"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("c")
    shutil.copytree(tiny_models.folder(tiny_models.CROSS), kept / "snapshots" / "c")
    clock.now += registry.LOOK_AGAIN_SECONDS
    reranker = registry.reranker()
    assert reranker is not None
    assert len(reranker.score("a", ["b"])) == 1


# Before the first search


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which graphs are built."""
    names: list[str] = []
    build = openvino_graph.build

    def noted(folder: Path, head: str) -> Any:
        names.append(folder.name)
        return build(folder, head)

    monkeypatch.setattr(openvino_graph, "build", noted)
    return names


@pytest.mark.usefixtures("no_lectures")
def test_what_is_here_is_loaded_before_it_is_asked_for(settings: Any, loads: list[str]) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    settings.EMBEDDING_MODEL = str(tiny_models.folder(tiny_models.MEAN))
    settings.RERANKER = str(tiny_models.folder(tiny_models.CROSS))
    registry.warm()
    assert loads == [tiny_models.MEAN, tiny_models.CROSS]
    registry.configured_embedder().embed_query("a")
    assert registry.reranker()
    assert len(loads) == 2


@pytest.mark.usefixtures("no_lectures")
@pytest.mark.parametrize("provider", ["fake", "openai", "voyage", "ollama", "bge", "no-such"])
def test_what_is_elsewhere_or_missing_is_not_warmed(
    settings: Any, hub_cache: Path, loads: list[str], made: Made, provider: str
) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL, settings.RERANKER = provider, "", "none"
    registry.warm()
    assert not loads
    assert not made.names


def test_a_model_that_cannot_be_loaded_does_not_stop_the_server(
    settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = shutil.copytree(tiny_models.folder(tiny_models.MEAN), tmp_path / "broken")
    (broken / "config.json").write_bytes(b"\xff\xfe{")
    (broken / "1_Pooling" / "config.json").write_bytes(b"\xff")
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "local", str(broken)
    settings.RERANKER = str(tiny_models.folder(tiny_models.TWO_LABELS))
    registry.warm()
    assert "A model cannot be used: broken is not the folder of a readable model" in caplog.text


@pytest.mark.usefixtures("no_lectures")
def test_a_broken_embedding_model_keeps_no_cross_encoder_cold(settings: Any, made: Made) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    settings.EMBEDDING_MODEL = str(tiny_models.folder(tiny_models.MEAN))
    settings.RERANKER = str(tiny_models.folder(tiny_models.CROSS))
    made.error = ModelError("It is broken.")
    registry.warm()
    assert made.names == [
        str(tiny_models.folder(tiny_models.MEAN)),
        str(tiny_models.folder(tiny_models.CROSS)),
    ]


# Nothing is downloaded in passing


@pytest.mark.parametrize("provider", ["bge", "bge-base"])
def test_a_missing_model_is_not_fetched(calls: list[Any], settings: Any, provider: str) -> None:
    settings.EMBEDDING_PROVIDER, settings.RERANKER = provider, CROSS
    with pytest.raises(ModelMissing, match="not on this machine") as raised:
        registry.configured_embedder()
    assert "kb models fetch" in raised.value.hint
    assert registry.reranker() is None
    assert registry.identity(conf.embedding())[2] > 0
    registry.warm()


def test_local_models_ask_nobody(calls: list[Any], settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    hits = np.linalg.norm(registry.configured_embedder().embed_query("what is a gradient"))
    assert hits == pytest.approx(1, abs=0.001)
    assert registry.embedder(
        "local", model=str(tiny_models.folder(tiny_models.DENSE))
    ).embed_documents(["a"]).shape == (1, 16)
    settings.RERANKER = str(tiny_models.folder(tiny_models.CROSS))
    reranker = registry.reranker()
    assert reranker is not None
    assert len(reranker.score("a", ["b", "c"])) == 2


def test_an_ingest_and_a_search_fetch_nothing(
    calls: list[Any], settings: Any, scope: Scope, collection: Collection
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    settings.EMBEDDING_MODEL = str(tiny_models.folder(tiny_models.MEAN))
    settings.RERANKER = CROSS
    make_video(collection)
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    assert Source.objects.get().state == State.READY
    assert search_pipeline.search(scope, "neural networks").passages


def test_where_the_model_is_missing_an_ingest_and_a_search_go_by_words(
    calls: list[Any], settings: Any, scope: Scope, collection: Collection
) -> None:
    settings.EMBEDDING_PROVIDER, settings.RERANKER = "bge-base", CROSS
    make_video(collection)
    discovery.adopt()
    ingest_pipeline.index_words()
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    assert source.state != State.READY
    assert "not on this machine" in source.error
    assert search_pipeline.search(scope, "neural networks").passages
