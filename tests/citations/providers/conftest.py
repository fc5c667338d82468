"""What the tests of models may ask for."""

from pathlib import Path
from typing import Any

import pytest

from tests.citations.providers import tiny_models


@pytest.fixture
def models_dir(settings: Any, tmp_path: Path) -> Path:
    """A folder of models of this test's own; else they share one, which outlives the run."""
    settings.MODELS_DIR = tmp_path / "models"
    return tmp_path / "models"


@pytest.fixture
def tiny_mean() -> Path:
    """The folder of a tiny model."""
    return tiny_models.folder(tiny_models.MEAN)
