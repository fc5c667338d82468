"""What the tests of models may ask for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citations.providers import registry
from tests.citations.providers import tiny


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
