"""A row of neighbours is cut into clusters of about equal size."""

import numpy as np
import pytest

from citations.outline.partition import MAX_SIZE, partition

EAST, NORTH = (1.0, 0.0), (0.0, 1.0)


def vectors(*rows: tuple[float, float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array(rows, dtype=np.float32)


def test_a_cluster_ends_where_the_subject_changes() -> None:
    assert partition(vectors(*[EAST] * 3, *[NORTH] * 4), offset=10) == [(10, 13), (13, 17)]


def test_a_single_stray_is_a_cluster_only_where_these_may_be_so_small() -> None:
    row = vectors(EAST, *[NORTH] * 6)
    assert partition(row, offset=0)[0] == (0, 1)
    assert min(last - first for first, last in partition(row, offset=0, least=2)) == 2


@pytest.mark.parametrize("count", range(1, 3 * MAX_SIZE))
def test_the_clusters_are_the_whole_row(count: int) -> None:
    clusters = partition(vectors(*[EAST, NORTH] * count)[:count], offset=0, least=2)
    assert [place for cluster in clusters for place in range(*cluster)] == [*range(count)]
    sizes = [last - first for first, last in clusters]
    assert all(min(2, count) <= size <= MAX_SIZE for size in sizes)
