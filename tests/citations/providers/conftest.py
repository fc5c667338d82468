"""What the tests of models may ask for."""

from pathlib import Path

import pytest

from tests.citations.providers import tiny_models


@pytest.fixture
def tiny_mean() -> Path:
    """The folder of a tiny model."""
    return tiny_models.folder(tiny_models.MEAN)
