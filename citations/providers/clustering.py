"""Clusters of vectors by scikit-learn's mini-batch k-means, in linear time and memory."""

import warnings
from typing import Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 20
BATCH: Final = 1_024
STARTS: Final = 3


def centres(vectors: NDArray[np.float32], *, count: int) -> NDArray[np.float32]:
    """Return at most ``count`` unit vectors, shape (n, dimensions), the centres of clusters.

    ``vectors`` are unit vectors, too. Equal input gives equal output.
    """
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    distinct = np.unique(vectors, axis=0)
    model = MiniBatchKMeans(
        n_clusters=min(count, len(distinct)), batch_size=BATCH, n_init=STARTS, random_state=SEED
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        means = np.asarray(model.fit(vectors).cluster_centers_, dtype=np.float32)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray((means / np.maximum(lengths, 1e-9))[lengths[:, 0] > 0], dtype=np.float32)
