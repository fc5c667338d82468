"""Clusters of vectors by k-means, on a sample that bounds time and memory. Pure.

Lloyd, "Least squares quantization in PCM" (1982), from centres by Arthur and Vassilvitskii,
"k-means++" (2007). As many vectors a cluster as Faiss takes say where its centre is.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 20
ROUNDS: Final = 20
SAMPLE: Final = 256  # vectors for each cluster, at most
_BLOCK: Final = 4_096  # vectors that are compared with all centres at once

Vectors = NDArray[np.float32]


def centres(vectors: Vectors, *, count: int) -> Vectors:
    """Return at most ``count`` unit vectors, shape (n, dimensions), the centres of clusters.

    ``vectors`` are unit vectors, too. Equal input gives equal output.
    """
    chance = np.random.default_rng(SEED)
    count = min(count, len(np.unique(vectors, axis=0)))
    chosen = chance.permutation(len(vectors))[: SAMPLE * count]
    sample = np.asarray(vectors[chosen], dtype=np.float32)
    means = _cluster(sample, count, chance)
    return np.asarray(means[np.linalg.norm(means, axis=1) > 0])


def _cluster(vectors: Vectors, count: int, chance: np.random.Generator) -> Vectors:
    """Move centres to the means of the vectors nearest to them, until none moves."""
    rows = [int(chance.integers(len(vectors)))]
    best = vectors @ vectors[rows[0]]
    while len(rows) < count:
        distance = np.maximum(1 - best.astype(np.float64), 0)
        total = float(distance.sum())
        share = distance / total if total else None
        rows.append(int(chance.choice(len(vectors), p=share)))
        best = np.maximum(best, vectors @ vectors[rows[-1]])
    means = vectors[rows]
    before = np.full(len(vectors), -1)
    for _ in range(ROUNDS):
        owners = _nearest(vectors, means)
        if np.array_equal(owners, before):
            break
        order = np.argsort(owners, kind="stable")
        present, starts = np.unique(owners[order], return_index=True)
        sums = np.add.reduceat(vectors[order], starts)
        means[present] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        before = owners
    return means


def _nearest(vectors: Vectors, means: Vectors) -> NDArray[np.int64]:
    """Return the row of the centre that is nearest to each vector."""
    blocks = range(0, len(vectors), _BLOCK)
    owners = [(vectors[start : start + _BLOCK] @ means.T).argmax(axis=1) for start in blocks]
    return np.concatenate(owners)
