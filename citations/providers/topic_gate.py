"""Is it about the subject, or about coffee? A small head over the vector of a text that is made anyway.

The head is a logistic regression over all-MiniLM-L6-v2 (``gate.json``, a few kilobytes), trained by ``bench/train_gate.py``; docs/live.md says on what
and how well it does. Its answers are shifted so that of two hundred windows about a subject one at most is called off-topic with ``SURE``.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelError
from citations.providers.embedding import Vector

SURE: Final = 0.8  # from here on a window counts as off-topic
TRAINED: Final = Path(__file__).with_name("gate.json")


class Gate(Protocol):
    """Something that tells talk about a subject from asides."""

    def off_topic(self, vector: Vector) -> float:
        """Return how sure it is, 0 to 1, that a text with this vector (of the model that it was trained on) is off-topic."""


@dataclass(frozen=True, slots=True)
class Head:
    """Weights for each dimension of a model's vectors, shape (dimensions,), and what is added to their sum."""

    model: str
    weights: NDArray[np.float32]
    bias: float

    @classmethod
    def read(cls, path: Path = TRAINED) -> "Head":
        """Read a head that was trained. Raises ``ModelError``."""
        try:
            stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                str(stored["model"]),
                np.array(stored["weights"], dtype=np.float32),
                float(stored["bias"]),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"The gate cannot be read: {error}",
                hint="Install Cuebase anew, or train it with bench/train_gate.py.",
            ) from error

    def off_topic(self, vector: Vector) -> float:
        """Return the logistic function of the weighted sum. Raises ``ValueError`` for a vector of another length."""
        return float(1 / (1 + np.exp(-np.clip(vector @ self.weights + self.bias, -50, 50))))
