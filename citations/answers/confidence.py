"""How likely an answer is there at all, and how likely its first citation is right, as calibrated. Pure.

These are two questions: a passage that speaks of the subject, and not of what was asked, is a poor citation of an answer that may well be there.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

TRAINED: Final = Path(__file__).with_name("confidence.json")
ALWAYS: Final = ("words", "spoken", "agreement")  # signs that every answer has
FUSED: Final = (
    "score",
    "margin",
    "share",
)  # those of a search by words and meaning that no cross-encoder ordered
NEAR: Final = ("meaning", "lead")  # those of the model that it was trained with
BINS: Final = 5  # of a reliability table
RIGHT, PRESENT = "right", "present"  # what was trained


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """A logistic regression over some signs; ``border`` is the estimate below which it is taken not to be so."""

    signs: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    border: float = 0.0

    def estimate(self, signs: Mapping[str, float]) -> float:
        """Return how likely it is, 0 to 1."""
        total = self.bias + sum(
            weight * signs[name] for name, weight in zip(self.signs, self.weights, strict=True)
        )
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of like confidence: how many, what was estimated on average, and the share whose first citation was right."""

    low: float
    high: float
    answers: int
    estimated: float
    right: float


def estimate(signs: Mapping[str, float], *, proven: float = 1.0) -> float:
    """Return how likely the first citation is right, 0 to 1.

    ``proven`` is the share of the quotes that a language model gave which stood in the sources: of one that makes up half of its quotes, the others are
    taken to be half as likely the right ones.
    """
    return _trained(RIGHT)[_known(signs)].estimate(signs) * max(0.0, min(1.0, proven))


def is_answered(signs: Mapping[str, float]) -> bool:
    """Say whether an answer is likely to be there at all."""
    presence = _trained(PRESENT)[_known(signs)]
    return presence.estimate(signs) >= presence.border


def reliability(pairs: Sequence[tuple[float, bool]], *, bins: int = BINS) -> list[Bin]:
    """Sort (confidence, whether it was right) into bins of equal width; empty ones are left out."""
    sorted_: dict[int, list[tuple[float, bool]]] = {}
    for pair in pairs:
        sorted_.setdefault(min(bins - 1, int(pair[0] * bins)), []).append(pair)
    return [_bin(place, inside, bins) for place, inside in sorted(sorted_.items())]


def error(table: Sequence[Bin]) -> float:
    """Return the expected calibration error: Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015)."""
    total = sum(one.answers for one in table)
    return (
        sum(one.answers * abs(one.estimated - one.right) for one in table) / total if total else 0.0
    )


def _bin(place: int, inside: Sequence[tuple[float, bool]], bins: int) -> Bin:
    return Bin(
        low=place / bins,
        high=(place + 1) / bins,
        answers=len(inside),
        estimated=sum(confidence for confidence, _ in inside) / len(inside),
        right=sum(right for _, right in inside) / len(inside),
    )


_NAMES: Final = {FUSED: "fused", NEAR: "near"}


def _known(signs: Mapping[str, float]) -> str:
    """Return what was trained on the signs that are known."""
    known = [names for names in (FUSED, NEAR) if all(name in signs for name in names)]
    return "+".join(["always", *(_NAMES[names] for names in known)])


@lru_cache(maxsize=2)
def _trained(what: str) -> dict[str, LogisticModel]:
    stored: dict[str, dict[str, Any]] = json.loads(TRAINED.read_text(encoding="utf-8"))
    return {
        name: LogisticModel(tuple(one["signs"]), tuple(one["weights"]), one["bias"], one["border"])
        for name, one in stored[what].items()
    }


def model() -> str:
    """Return the embedding model that ``meaning`` was trained with."""
    stored: dict[str, Any] = json.loads(TRAINED.read_text(encoding="utf-8"))
    return str(stored["model"])
