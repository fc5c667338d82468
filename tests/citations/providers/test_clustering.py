"""Clusters of vectors."""

import warnings
from importlib import import_module

import numpy as np

from citations.providers.clustering import centres


def around(directions: int, each: int, *, spread: float) -> np.ndarray:
    """Unit vectors around random directions."""
    chance = np.random.default_rng(1)
    means = np.repeat(chance.standard_normal((directions, 48)), each, axis=0)
    rows = means + spread * chance.standard_normal(means.shape)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def closeness(vectors: np.ndarray, means: np.ndarray) -> float:
    return float((vectors @ means.T).max(axis=1).mean())


def test_clusters_that_lie_apart_are_all_found() -> None:
    vectors = around(9, 40, spread=0.2)
    points = centres(vectors, count=9)
    assert points.shape == (9, 48)
    assert np.allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    assert (vectors @ points.T).max(axis=1).min() > 0.9


def test_centres_are_as_close_as_those_of_scikit_learn() -> None:
    cluster = import_module("sklearn.cluster")  # takes a second, which only this test needs
    vectors = around(60, 30, spread=1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cluster.MiniBatchKMeans(n_clusters=30, n_init=3, random_state=0).fit(vectors)
    theirs = model.cluster_centers_ / np.linalg.norm(model.cluster_centers_, axis=1, keepdims=True)
    assert closeness(vectors, centres(vectors, count=30)) > 0.99 * closeness(vectors, theirs)


def test_equal_vectors_have_one_centre_and_equal_input_equal_output() -> None:
    vectors = around(5, 20, spread=0.5)
    assert centres(np.repeat(vectors[:1], 7, axis=0), count=3).shape == (1, 48)
    assert np.array_equal(centres(vectors, count=4), centres(vectors, count=4))
