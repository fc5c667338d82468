"""Find where a text changes its subject: distances between neighbouring windows. Pure except for
numpy's product.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

BATCH = 256  # windows embedded in one call
DIGITS = 4  # of a distance: smaller differences are noise of the model's arithmetic

Embed = Callable[[list[str]], ArrayLike]
"""Returns n vectors of length 1 for n texts."""


def distances(windows: Iterator[str], embed: Embed) -> Iterator[float]:
    """Yield for each window its cosine distance to the next, and 0 for the last.

    Holds ``BATCH`` vectors in memory. Raises ``ValueError`` when ``embed`` returns a wrong number
    of vectors.
    """
    last = None
    while batch := list(islice(windows, BATCH)):
        vectors = np.asarray(embed(batch), dtype=np.float32)
        if len(vectors) != len(batch):
            raise ValueError(f"{len(vectors)} vectors for {len(batch)} texts")
        if last is not None:
            vectors = np.concatenate([last, vectors])
        for cosine in np.einsum("ij,ij->i", vectors[:-1], vectors[1:]).tolist():
            yield round(1 - cosine, DIGITS)
        last = vectors[-1:]
    if last is not None:
        yield 0.0


def nearest_rank(values: Sequence[float], percentile: float) -> float:
    """Return the smallest value that at least ``percentile`` percent of the values do not exceed.

    Never interpolates, so n changed values move the result by at most n ranks. No values: 0.
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percentile / 100) - 1)] if ordered else 0.0
