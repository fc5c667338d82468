"""What the tests of models may ask for."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from huggingface_hub import close_session

from citations.providers import registry
from tests.citations.providers import tiny
from tests.hub_standin import HubStandIn

CHUNK = 1_000  # bytes that the hub's library writes at once


@pytest.fixture
def models_dir(settings: Any, tmp_path: Path) -> Path:
    """A folder of models of this test's own; else they share one, which outlives the run."""
    settings.MODELS_DIR = tmp_path / "models"
    return tmp_path / "models"


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """No model is loaded before the test, nor after it."""
    registry.reset()
    yield
    registry.reset()


@pytest.fixture
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of the hub."""
    folder = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def tiny_mean() -> Path:
    """The folder of a tiny model."""
    return tiny.folder(tiny.MEAN)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, hub_cache: Path) -> Iterator[HubStandIn]:
    """A stand-in for the hub, which the settings name; whoever fetches has an empty cache and does not pause."""
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", CHUNK)  # else a tiny model arrives in one piece or not at all
    with HubStandIn() as standin:
        monkeypatch.setenv("HF_ENDPOINT", standin.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        close_session()
        yield standin
        close_session()
