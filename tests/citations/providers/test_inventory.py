"""Which models the settings name, and what is said of them."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from citations.providers import weights
from citations.providers.inventory import ModelEntry, configured_models, models_to_fetch
from tests.citations.providers import tiny_models
from tests.hub_standin import HubStandIn
from tests.model_standin import ModelStandIn
from tests.programs import require
from transcripts.core.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("fresh_registry")
CROSS = "cross-encoder/ms-marco-MiniLM-L-12-v2"
LIVE = "cross-encoder/ms-marco-TinyBERT-L-2-v2"


@pytest.fixture(autouse=True)
def plain(settings: Any, hub_cache: Path) -> None:
    """The usual settings, and nothing in the hub's cache."""
    settings.EMBEDDING_PROVIDER = "local"
    settings.EMBEDDING_MODEL = ""
    settings.RERANKER = CROSS
    settings.LLM_PROVIDER = "none"
    settings.LIVE_RERANKER = "none"


def only(use: str) -> ModelEntry:
    """The one entry with that use."""
    (model,) = [entry for entry in configured_models() if use in entry.uses]
    return model


def test_a_new_machine_has_the_embedding_model_and_lacks_the_reranker() -> None:
    embedding, reranker = configured_models()
    expected = (weights.MINILM, "local", ("embedding", "chunking"), True)
    assert (embedding.model, embedding.provider, embedding.uses, embedding.present) == expected
    assert embedding.size == weights.size(weights.find(weights.MINILM))
    hits = (reranker.model, reranker.uses, reranker.present, reranker.size, reranker.licence)
    assert hits == (CROSS, ("reranking",), False, 134000000, "apache-2.0")
    assert not embedding.note
    assert not reranker.note


def test_another_embedding_model_leaves_the_usual_one_for_cutting(settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = " BGE"
    assert [
        (entry.model, entry.provider, entry.uses, entry.present)
        for entry in configured_models()[:2]
    ] == [
        ("BAAI/bge-m3", "bge", ("embedding",), False),
        (weights.MINILM, "local", ("chunking",), True),
    ]


def test_a_model_in_a_folder_is_told_with_its_size(settings: Any, tiny_mean: Path) -> None:
    settings.EMBEDDING_MODEL = str(tiny_mean)
    assert only("embedding") == ModelEntry(
        model=str(tiny_mean),
        provider="local",
        uses=("embedding",),
        present=True,
        size=weights.size(tiny_mean),
    )


@pytest.mark.parametrize("name", ["none", "NONE", ""])
def test_without_a_reranker_none_is_listed(settings: Any, name: str) -> None:
    settings.RERANKER = name
    assert [entry.uses for entry in configured_models()] == [("embedding", "chunking")]


def test_the_reranker_of_lectures_is_listed_and_fetched_like_the_other(settings: Any) -> None:
    settings.LIVE_RERANKER = LIVE
    entry = only("live lectures")
    assert (entry.model, entry.present, entry.licence) == (LIVE, False, "apache-2.0")
    assert models_to_fetch(["live-reranker"]) == [LIVE]
    assert models_to_fetch([]) == [CROSS, LIVE]
    settings.LIVE_RERANKER = CROSS
    assert only("live lectures").uses == ("reranking", "live lectures")


def test_a_damaged_model_is_told(monkeypatch: pytest.MonkeyPatch, tiny_mean: Path) -> None:
    monkeypatch.setattr(
        weights, "_packaged", lambda name: tiny_mean if name == weights.MINILM else None
    )
    entry = only("embedding")
    assert entry.present is False
    assert "not those of" in entry.note
    assert models_to_fetch([]) == [weights.MINILM, CROSS]


def test_a_model_of_which_something_is_missing_is_not_present(
    settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors.index.json").write_text(
        '{"weight_map": {"a": "one.safetensors"}}'
    )
    settings.EMBEDDING_MODEL = str(tmp_path)
    assert only("embedding").present is False


@pytest.mark.parametrize(
    ("provider", "model"), [("openai", "text-embedding-3-small"), ("voyage", "voyage-3-large")]
)
def test_models_of_a_service_are_neither_here_nor_missing(
    settings: Any, model_server: ModelStandIn, provider: str, model: str
) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = provider, model
    entry = only("embedding")
    expected = (provider, model, None, "", False)
    assert (entry.provider, entry.model, entry.present, entry.note, entry.is_local) == expected
    assert not model_server.requests


def test_ollama_is_asked_what_it_has(settings: Any, model_server: ModelStandIn) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "ollama", "nomic-embed-text"
    settings.LLM_PROVIDER, settings.LLM_MODEL = "ollama", "gemma3:12b"
    assert (only("embedding").present, only("embedding").size) == (True, 274_302_450)
    assert only("language model").present is False
    assert "ollama pull gemma3:12b" in only("language model").note


def test_an_ollama_that_does_not_answer_is_told(settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "ollama"
    settings.EMBEDDING_MODEL = "nomic-embed-text"
    settings.OLLAMA_BASE_URL = "http://127.0.0.1:9"
    entry = only("embedding")
    assert entry.present is None
    assert "does not answer" in entry.note


def test_settings_that_name_nothing_are_told_and_the_rest_is_listed(settings: Any) -> None:
    settings.EMBEDDING_PROVIDER, settings.LLM_PROVIDER = "no-such", "neither"
    models = configured_models()
    assert [bool(entry.note) for entry in models] == [False, False, True, True]
    assert "no embedding provider" in only("embedding").note


def test_listing_asks_no_hub(hub: HubStandIn, settings: Any) -> None:
    hub.publish(CROSS, tiny_models.folder(tiny_models.CROSS))
    settings.EMBEDDING_PROVIDER = "bge"
    assert [entry.present for entry in configured_models()] == [False, True, False]
    assert models_to_fetch([]) == ["BAAI/bge-m3", CROSS]
    assert not hub.requests


# What is to be fetched


def test_without_names_the_missing_ones_are_meant(settings: Any) -> None:
    assert models_to_fetch([]) == [CROSS]
    settings.RERANKER = "none"
    assert models_to_fetch([]) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bge", "BAAI/bge-m3"),
        (" Bge-Base ", "BAAI/bge-base-en-v1.5"),
        ("E5-small", "intfloat/multilingual-e5-small"),
        ("local", weights.MINILM),
        ("reranker", CROSS),
        ("somebody/tiny", "somebody/tiny"),
    ],
)
def test_a_model_is_meant_by_its_provider_its_use_or_its_name(name: str, expected: str) -> None:
    assert models_to_fetch([name, name]) == [expected]


@pytest.mark.parametrize(
    "name", ["", "no-such", "/etc/passwd", "./here", "~/model", "a/b/c", "openai"]
)
def test_what_means_no_model_is_told(name: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        models_to_fetch(["bge", name])
    assert "reranker" in raised.value.hint


@pytest.mark.parametrize("name", ["none", "None"])
def test_a_reranker_that_is_switched_off_cannot_be_fetched(settings: Any, name: str) -> None:
    settings.RERANKER = name
    with pytest.raises(InvalidInput):
        models_to_fetch(["reranker"])


def test_the_model_of_speech_is_listed_where_it_can_be_used(settings: Any) -> None:
    require("" if find_spec("faster_whisper") else "Whisper is not installed")
    settings.SPEECH_PROVIDER = "local"
    speech = only("speech")
    assert (speech.model, speech.present) == ("Systran/faster-whisper-base", False)
    assert (speech.size, speech.licence) == (148_000_000, "mit")
    settings.SPEECH_MODEL = "small"
    assert models_to_fetch(["speech"]) == ["Systran/faster-whisper-small"]
    settings.SPEECH_PROVIDER = "openai"
    assert "speech" not in {use for entry in configured_models() for use in entry.uses}
    with pytest.raises(InvalidInput):
        models_to_fetch(["speech"])
