import numpy as np
import pytest

from citations.text.breakpoints import BATCH, distances, nearest_rank


def on_circle(texts: list[str]) -> list[list[float]]:
    """Embed a number as the direction of that many degrees."""
    return [
        [float(np.cos(np.radians(float(text)))), float(np.sin(np.radians(float(text))))]
        for text in texts
    ]


def test_distances_are_those_of_neighbours_whatever_the_batches():
    degrees = [7 * number % 180 for number in range(2 * BATCH + 3)]

    measured = list(distances(map(str, degrees), on_circle))

    wanted = [
        1 - np.cos(np.radians(other - angle))
        for angle, other in zip(degrees, degrees[1:], strict=False)
    ]
    assert measured == pytest.approx([*wanted, 0], abs=1e-4)


def test_batches_are_no_larger_than_said():
    sizes: list[int] = []

    def embed(texts: list[str]) -> np.ndarray:
        sizes.append(len(texts))
        return np.ones((len(texts), 1))

    assert set(distances(map(str, range(2 * BATCH + 1)), embed)) == {0}
    assert sizes == [BATCH, BATCH, 1]


def test_nothing_has_no_distances():
    assert list(distances(iter([]), on_circle)) == []


def test_vectors_that_are_missing_are_noticed():
    with pytest.raises(ValueError, match="1 vectors for 2 texts"):
        list(distances(iter("12"), lambda texts: on_circle(texts)[1:]))


@pytest.mark.parametrize(
    ("percentile", "value"), [(0, 1), (10, 1), (11, 2), (80, 8), (80.1, 9), (100, 10)]
)
def test_the_percentile_is_one_of_the_values(percentile, value):
    assert nearest_rank([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percentile) == value
    assert nearest_rank([], percentile) == 0
