"""Tells off-topic talk from the subject by the vector of a text.

The gate is a logistic regression over all-MiniLM-L6-v2 (``gate.json``), trained by
``bench/training/gate.py`` and described in docs/live.md. Its bias is shifted so that at most one of
two hundred windows about a subject reaches ``SURE``.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelError
from citations.providers.embedding import Vector

SURE: Final = 0.8  # probability above which a window counts as off-topic
TRAINED: Final = Path(__file__).with_name("gate.json")


@dataclass(frozen=True, slots=True)
class Head:
    """A weight for each dimension, shape (dimensions,), and a bias."""

    model: str
    weights: NDArray[np.float32]
    bias: float

    @classmethod
    def read(cls, path: Path = TRAINED) -> "Head":
        """Read a trained head. Raises ``ModelError``."""
        try:
            stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                str(stored["model"]),
                np.array(stored["weights"], dtype=np.float32),
                float(stored["bias"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"The gate cannot be read: {error}", hint="Reinstall Cuebase."
            ) from error

    def off_topic(self, vector: Vector) -> float:
        """Return the logistic function of the weighted sum."""
        return float(1 / (1 + np.exp(-np.clip(vector @ self.weights + self.bias, -50, 50))))
