"""Gradient-boosted regression trees, evaluated in NumPy. Pure.

Friedman, "Greedy function approximation: a gradient boosting machine" (2001). A prediction is
the sum of one leaf of each tree. It is shared out among the signs along each tree's path: a split
adds the difference of the means below and above it (Saabas, 2014), so that the parts add up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble:
    """All nodes of all trees in one array each; a leaf is its own child.

    Rows go to ``left`` where their sign is at most the threshold. ``value`` is the mean of a
    node's training rows, for a leaf what it adds.
    """

    roots: NDArray[np.int32]
    sign: NDArray[np.int32]
    threshold: Numbers
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Numbers
    depth: int

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read what ``bench/train_judge.py`` writes. Raises ``KeyError`` and ``ValueError``."""
        return cls(
            roots=np.array(stored["roots"], np.int32),
            sign=np.array(stored["sign"], np.int32),
            threshold=np.array(stored["threshold"], np.float64),
            left=np.array(stored["left"], np.int32),
            right=np.array(stored["right"], np.int32),
            value=np.array(stored["value"], np.float64),
            depth=int(stored["depth"]),
        )

    def predict(self, rows: Numbers) -> Numbers:
        """Return the prediction of each row of signs, shape (n,)."""
        nodes = self._start(rows)
        for _ in range(self.depth):
            nodes = self._step(rows, nodes)
        return np.asarray(self.value[nodes].sum(axis=1))

    def shares(self, rows: Numbers) -> Numbers:
        """Return what each sign adds to each prediction, shape (n, signs); the rest is ``base``."""
        nodes, added = self._start(rows), np.zeros_like(rows)
        owners = np.broadcast_to(np.arange(len(rows))[:, None], nodes.shape)
        for _ in range(self.depth):
            below = self._step(rows, nodes)
            change = self.value[below] - self.value[nodes]
            np.add.at(added, (owners, self.sign[nodes]), change)
            nodes = below
        return added

    @property
    def base(self) -> float:
        """The mean prediction."""
        return float(self.value[self.roots].sum())

    def _start(self, rows: Numbers) -> NDArray[np.int32]:
        return np.broadcast_to(self.roots, (len(rows), len(self.roots)))

    def _step(self, rows: Numbers, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        own = np.take_along_axis(rows, self.sign[nodes], axis=1)
        return np.where(own <= self.threshold[nodes], self.left[nodes], self.right[nodes])
