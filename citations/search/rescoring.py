"""Adjust fused scores by what ranks leave out: the distance to the best score, and neighbours.
Pure.

Reciprocal ranks fall slowly: with k = 60 rank 10 counts 87 % of rank 1, however far behind it is,
so the weaker ranking drags the better one down. `docs/decisions/0009-retrieval.md` has the
measurements.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from citations.search.fusion import FusedHit

LEAST = 0.25  # weight of the last hit of a ranking
BESIDE = 0.2  # share of a neighbour's score that is added
SHARED = 1 + 2 * BESIDE  # the maximum of a passage and its two neighbours

K = TypeVar("K", bound=Hashable)


class RescoredHit(NamedTuple, Generic[K]):
    """A weighted hit. ``score`` is the sum of weight · part.

    With ``neighbours``, what these add, it is divided by ``SHARED``.
    """

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]  # 1 / (k + rank)
    weights: tuple[float, ...]
    neighbours: float | None = None  # None: neighbours do not count


def unweighted(fused: Sequence[FusedHit[K]]) -> list[RescoredHit[K]]:
    """Weight every part with 1, without neighbours."""
    return [
        RescoredHit(hit.key, hit.score, hit.ranks, hit.parts, (1.0,) * len(hit.parts))
        for hit in fused
    ]


def min_max_weighted(
    fused: Sequence[FusedHit[K]], scores: Sequence[Mapping[K, float]]
) -> list[RescoredHit[K]]:
    """Weight each part by its score between the best (1) and the worst (``LEAST``) of its ranking;
    ``scores`` are in the order of the rankings.

    Only differences within a ranking count, so any kind of score fits. Ties keep their order.
    """
    weights = [_min_max_weights(ranking) for ranking in scores]
    return _sorted([_weighted(hit, [own.get(hit.key, 0.0) for own in weights]) for hit in fused])


def neighbour_boosted(
    hits: Sequence[RescoredHit[K]], neighbours: Mapping[K, tuple[K | None, K | None]]
) -> list[RescoredHit[K]]:
    """Add ``BESIDE`` times the scores of the previous and next passage, and divide by the possible
    maximum.

    Passages between answers are likelier to answer. None, an end of the source, counts as the
    passage itself, so short sources are not at a disadvantage; a neighbour that was not found
    counts 0. Ties keep their order.
    """
    scores = {hit.key: hit.score for hit in hits}
    boosted = []
    for hit in hits:
        added = BESIDE * math.fsum(
            hit.score if key is None else scores.get(key, 0.0)
            for key in neighbours.get(hit.key, (None, None))
        )
        boosted.append(hit._replace(score=(hit.score + added) / SHARED, neighbours=added))
    return _sorted(boosted)


def _min_max_weights(ranking: Mapping[K, float]) -> dict[K, float]:
    best, last = max(ranking.values(), default=0.0), min(ranking.values(), default=0.0)
    if best == last:
        return dict.fromkeys(ranking, 1.0)
    return {
        key: LEAST + (1 - LEAST) * (score - last) / (best - last) for key, score in ranking.items()
    }


def _weighted(hit: FusedHit[K], weights: Sequence[float]) -> RescoredHit[K]:
    score = math.fsum(part * weight for part, weight in zip(hit.parts, weights, strict=True))
    return RescoredHit(hit.key, score, hit.ranks, hit.parts, tuple(weights))


def _sorted(hits: Sequence[RescoredHit[K]]) -> list[RescoredHit[K]]:
    return sorted(hits, key=lambda hit: -hit.score)
