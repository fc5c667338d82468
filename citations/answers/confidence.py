"""Estimates how likely a question has an answer, and how likely its first citation is right.

These are two estimates: a passage on the subject that does not answer the question is a poor
citation of an answer that may well exist. ``bench/train_confidence.py`` trains both.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

TRAINED: Final = Path(__file__).with_name("confidence.json")
ALWAYS: Final = ("heard", "names")  # signs that every answer has
FUSED: Final = ("score", "margin", "share")  # those of a hybrid search without a cross-encoder
MODEL_SIGNS: Final = ("meaning", "lead", "subject")  # those of the trained embedding model
BINS: Final = 5  # of a reliability table
RIGHT, PRESENT = "right", "present"  # the two estimates
_GROUPS: Final = {FUSED: "fused", MODEL_SIGNS: "near"}


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression over some signs; ``border`` separates no (below) from yes."""

    signs: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    border: float = 0.0

    def estimate(self, signs: Mapping[str, float]) -> float:
        """Return a probability, 0 to 1."""
        pairs = zip(self.signs, self.weights, strict=True)
        total = self.bias + sum(weight * signs[name] for name, weight in pairs)
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of similar confidence: how many, their mean estimate, and the share that is right."""

    low: float
    high: float
    answers: int
    estimated: float
    right: float


def estimate(signs: Mapping[str, float], *, proven: float = 1.0) -> float:
    """Return how likely the first citation is right, 0 to 1.

    ``proven`` is the share of a language model's quotes that stand in the sources; the estimate
    falls with it.
    """
    return _trained(RIGHT)[_group(signs)].estimate(signs) * max(0.0, min(1.0, proven))


def is_answered(signs: Mapping[str, float]) -> bool:
    presence = _trained(PRESENT)[_group(signs)]
    return presence.estimate(signs) >= presence.border


def reliability(pairs: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Sort (confidence, is right) pairs into bins of equal width, without the empty ones."""
    filled: dict[int, list[tuple[float, bool]]] = {}
    for pair in pairs:
        filled.setdefault(min(BINS - 1, int(pair[0] * BINS)), []).append(pair)
    return [
        Bin(
            low=index / BINS,
            high=(index + 1) / BINS,
            answers=len(inside),
            estimated=sum(confidence for confidence, _ in inside) / len(inside),
            right=sum(right for _, right in inside) / len(inside),
        )
        for index, inside in sorted(filled.items())
    ]


def error(table: Sequence[Bin]) -> float:
    """Return the expected calibration error.

    Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015).
    """
    total = sum(row.answers for row in table)
    gaps = sum(row.answers * abs(row.estimated - row.right) for row in table)
    return gaps / total if total else 0.0


def model() -> str:
    """Return the name of the embedding model that ``MODEL_SIGNS`` signs were trained with."""
    return str(_stored()["model"])


def _group(signs: Mapping[str, float]) -> str:
    present = [group for names, group in _GROUPS.items() if all(name in signs for name in names)]
    return "+".join(["always", *present])


@lru_cache(maxsize=2)
def _trained(estimate: str) -> dict[str, LogisticModel]:
    return {
        group: LogisticModel(
            tuple(stored["signs"]), tuple(stored["weights"]), stored["bias"], stored["border"]
        )
        for group, stored in _stored()[estimate].items()
    }


@lru_cache(maxsize=1)
def _stored() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(TRAINED.read_text(encoding="utf-8"))
    return stored
