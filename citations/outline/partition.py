"""Cut a row of neighbouring vectors into clusters of about equal size. Pure."""

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

TARGET, MAX_SIZE = 4, 6  # vectors of a cluster

Range: TypeAlias = tuple[int, int]  # indexes [first, last)
Vectors: TypeAlias = NDArray[np.float32]


def partition(vectors: Vectors, *, offset: int, least: int = 1) -> list[Range]:
    """Cut neighbours into clusters of ``least`` to ``MAX_SIZE``: the best partition, by dynamic
    programming. Fewer vectors than ``least`` are one cluster.

    The cost is the squared distance from the means, in units of the usual distance of two
    neighbours, plus one unit per cluster and the squared deviation from the target size.
    """
    count = len(vectors)
    costs = _costs(vectors)
    best, sizes = [0.0, *[np.inf] * count], [0] * (count + 1)
    for stop in range(1, count + 1):
        for size in range(min(least, count), min(MAX_SIZE, stop) + 1):
            cost = best[stop - size] + costs[size - 1][stop - size]
            if cost < best[stop] - 1e-6:
                best[stop], sizes[stop] = cost, size
    stops = [count]
    while stops[-1] > 0:
        stops.append(stops[-1] - sizes[stops[-1]])
    return [(offset + first, offset + last) for first, last in pairwise(reversed(stops))]


def _costs(vectors: Vectors) -> list[list[float]]:
    """Return for each size, from 1, the cost of a cluster of that size from each index on."""
    unit = 1.0
    if len(vectors) > 1:
        cosines = np.einsum("ij,ij->i", vectors[:-1], vectors[1:])
        unit = max(0.05, 1 - float(np.mean(cosines)))
    sums = np.zeros_like(vectors)
    costs = []
    for size in range(1, min(MAX_SIZE, len(vectors)) + 1):
        sums = sums[: len(vectors) - size + 1] + vectors[size - 1 :]
        within = size - np.einsum("ij,ij->i", sums, sums) / size
        costs.append((within / unit + 1 + ((size - TARGET) / TARGET) ** 2).tolist())
    return costs
