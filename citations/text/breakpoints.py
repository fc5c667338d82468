"""Where the subject of a text changes: the distances between neighbouring windows of it, and which of them are large. Pure, but for numpy's product."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

BATCH = 256  # windows that are embedded in one call
DIGITS = 4  # of a distance: what differs by less is noise of the model's arithmetic, which must not decide

Embed = Callable[[list[str]], ArrayLike]
"""Gives for n texts n vectors of length 1."""


def distances(windows: Iterator[str], embed: Embed) -> Iterator[float]:
    """Yield for each window its cosine distance to the next, and 0 for the last; ``BATCH`` of them are in memory at a time.

    Raises ``ValueError`` when ``embed`` gives another number of vectors than of texts.
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
    """Return the smallest value that at least ``percentile`` percent of the values do not exceed, 0 for no values.

    It is one of the values, never one between two: so n changed values move it by at most n ranks.
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percentile / 100) - 1)] if ordered else 0.0
