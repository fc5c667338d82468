"""How near sentences are to what a text is about."""

from collections.abc import Sequence

import numpy as np
import pytest

from citations.text.key_sentences import Vectors, centrality

VECTORS = {
    "bread": (1.0, 0.0),
    "oven": (0.6, 0.8),
    "rec 003 final": (-1.0, 0.0),
    "Bread": (1.0, 0.0),
}


def embed(texts: Sequence[str]) -> Vectors:
    return np.array([VECTORS[text] for text in texts])


def rate(title: str) -> list[float]:
    return centrality(["bread", "oven"], whole=np.array([0.8, 0.6]), title=title, embed=embed)


def test_a_title_that_is_near_to_the_whole_lifts_what_is_near_to_it() -> None:
    assert rate("Bread") == pytest.approx([0.8 + 0.8, 0.96 + 0.8 * 0.6])


def test_a_title_that_tells_nothing_counts_for_nothing() -> None:
    assert rate("rec 003 final") == pytest.approx([0.8, 0.96])


def test_nothing_is_embedded_for_no_sentences() -> None:
    def fail(texts: Sequence[str]) -> Vectors:
        raise AssertionError(f"{len(texts)} texts were embedded.")

    assert centrality([], whole=np.zeros(2), title="", embed=fail) == []
