"""Word vectors tell where the subject changes without running a model."""

from typing import Any

import numpy as np
import pytest

from citations.errors import ModelError
from citations.providers import registry
from citations.providers.word_vectors import HashedWordVectors, WordPieceVectors
from citations.text.breakpoints import distances

COOKING = [
    "Fry the onions in butter until they are brown.",
    "Then add the flour and stir the sauce.",
    "Salt and pepper go in at the end, with a little cream.",
    "Cook the pasta in a large pot of boiling water.",
]
ASTRONOMY = [
    "The telescope collects light from distant galaxies.",
    "Astronomers measure how far a star is by its parallax.",
    "Planets orbit the sun on ellipses, as Kepler found.",
    "The moon reflects the light of the sun at night.",
]


def test_the_built_in_model_knows_where_cooking_ends_and_astronomy_begins() -> None:
    words = WordPieceVectors()
    (measured,) = distances([[*COOKING, *ASTRONOMY]], words)
    assert int(np.argmax(measured)) == len(COOKING) - 1


def test_texts_that_cannot_be_written_as_utf8_have_vectors() -> None:
    (ids,) = WordPieceVectors().ids(["half of a pair: \ud83d"])
    assert len(ids) > 4


@pytest.mark.usefixtures("fake_models")
def test_no_vectors_are_made_where_sources_are_split_at_sentences(settings: Any) -> None:
    assert isinstance(registry.word_vectors(), HashedWordVectors)
    settings.CHUNKING = "sentences"
    assert registry.word_vectors() is None


@pytest.mark.usefixtures("fake_models", "fresh_registry")
def test_vectors_that_cannot_be_read_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> HashedWordVectors:
        raise ModelError("The weights are damaged.")

    monkeypatch.setattr(registry, "HashedWordVectors", broken)
    assert registry.word_vectors() is None
    assert "whatever their subject: The weights are damaged." in caplog.text
