"""What ranks alone leave out: how near to the best of its ranking a passage is, and what stands beside it. Pure.

Reciprocal ranks fall off slowly: with k = 60 the tenth place counts for 87 % of the first, however far behind it is, and so the weaker of two rankings
drags the better one down. `docs/decisions/0009-retrieval.md` says what was measured.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from citations.search.fusion import FusedHit

LEAST = 0.25  # what the last of a ranking counts for
BESIDE = 0.2  # what each neighbour adds of its own
SHARED = 1 + 2 * BESIDE  # what a passage and its two neighbours can come to, in terms of one

K = TypeVar("K", bound=Hashable)


class RescoredHit(NamedTuple, Generic[K]):
    """A fused passage, weighed. ``score`` is the sum of its parts, each times its weight; with ``beside``, which its neighbours add, divided by ``SHARED``."""

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]  # 1 / (k + rank), as they were fused
    weights: tuple[float, ...]
    beside: float | None = None  # None: neighbours were not asked


def unweighted(fused: Sequence[FusedHit[K]]) -> list[RescoredHit[K]]:
    """Weigh nothing: each part counts fully, and no neighbour does."""
    return [
        RescoredHit(one.key, one.score, one.ranks, one.parts, (1.0,) * len(one.parts))
        for one in fused
    ]


def min_max_weighted(
    fused: Sequence[FusedHit[K]], scores: Sequence[Mapping[K, float]]
) -> list[RescoredHit[K]]:
    """Weigh each part by where its score lies between the best of that ranking (1) and the last (``LEAST``); ``scores`` come ranking by ranking.

    Only differences within a ranking count, so that it does not matter what kind of score it is. Equal scores stay in their order.
    """
    closeness = [_closeness(ranking) for ranking in scores]
    return _sorted(
        [_weighed(one, tuple(weight.get(one.key, 0.0) for weight in closeness)) for one in fused]
    )


def neighbour_boosted(
    weighed: Sequence[RescoredHit[K]], neighbours: Mapping[K, tuple[K | None, K | None]]
) -> list[RescoredHit[K]]:
    """Add to each score ``BESIDE`` of the scores of what stands before and behind, and divide by what that can come to.

    What stands between answers is likelier to answer. None, an end of the source, counts as the passage itself, so that a short source is no worse off
    than a long one; a neighbour that was not found counts as nothing. Equal scores stay in their order.
    """
    scores = {one.key: one.score for one in weighed}
    lifted = []
    for one in weighed:
        beside = BESIDE * math.fsum(
            one.score if key is None else scores.get(key, 0.0)
            for key in neighbours.get(one.key, (None, None))
        )
        lifted.append(one._replace(score=(one.score + beside) / SHARED, beside=beside))
    return _sorted(lifted)


def _closeness(ranking: Mapping[K, float]) -> dict[K, float]:
    best, last = max(ranking.values(), default=0.0), min(ranking.values(), default=0.0)
    if best == last:
        return dict.fromkeys(ranking, 1.0)
    return {
        key: LEAST + (1 - LEAST) * (score - last) / (best - last) for key, score in ranking.items()
    }


def _weighed(one: FusedHit[K], weights: tuple[float, ...]) -> RescoredHit[K]:
    score = math.fsum(part * weight for part, weight in zip(one.parts, weights, strict=True))
    return RescoredHit(one.key, score, one.ranks, one.parts, weights)


def _sorted(weighed: Sequence[RescoredHit[K]]) -> list[RescoredHit[K]]:
    return sorted(weighed, key=lambda one: -one.score)
