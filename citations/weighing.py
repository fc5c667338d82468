"""What ranks alone leave out: how near to the best of its ranking a passage is, and what stands beside it. Pure.

Reciprocal ranks fall off slowly: with k = 60 the tenth place counts for 87 % of the first, however far behind it is, and so the weaker of two rankings
drags the better one down. Both steps change the parts of the fused scores, which stay their sums; `docs/decisions/0009-retrieval.md` says what was measured.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from citations.fusion import Fused

LEAST = 0.25  # what the last of a ranking counts for
BESIDE = 0.2  # what each neighbour adds of its own

K = TypeVar("K", bound=Hashable)


def by_closeness(fused: Sequence[Fused[K]], scores: Sequence[Mapping[K, float]]) -> list[Fused[K]]:
    """Weigh each part by where its score lies between the best of that ranking (1) and the last (``LEAST``); ``scores`` come ranking by ranking.

    Only differences within a ranking count, so that it does not matter what kind of score it is. Equal scores stay in their order.
    """
    weights = [_closeness(ranking) for ranking in scores]
    return _sorted([_with(one, [part * weight.get(one.key, 0.0) for part, weight in zip(one.parts, weights, strict=True)]) for one in fused])


def by_neighbours(fused: Sequence[Fused[K]], beside: Mapping[K, tuple[K | None, K | None]]) -> list[Fused[K]]:
    """Add to each part ``BESIDE`` of the same part of what stands before and behind, and divide by what that can come to.

    What stands between answers is likelier to answer. None, an end of the source, counts as the passage itself, so that a short source is no worse off
    than a long one; a neighbour that was not found counts as nothing. Equal scores stay in their order.
    """
    parts = {one.key: one.parts for one in fused}
    nothing = (0.0,) * max((len(one.parts) for one in fused), default=0)
    lifted = []
    for one in fused:
        around = [one.parts if key is None else parts.get(key, nothing) for key in beside.get(one.key, (None, None))]
        lifted.append(_with(one, [(own + BESIDE * math.fsum(near)) / (1 + 2 * BESIDE) for own, *near in zip(one.parts, *around, strict=True)]))
    return _sorted(lifted)


def _closeness(ranking: Mapping[K, float]) -> dict[K, float]:
    best, last = max(ranking.values(), default=0.0), min(ranking.values(), default=0.0)
    if best == last:
        return dict.fromkeys(ranking, 1.0)
    return {key: LEAST + (1 - LEAST) * (score - last) / (best - last) for key, score in ranking.items()}


def _with(one: Fused[K], parts: Sequence[float]) -> Fused[K]:
    return Fused(one.key, math.fsum(parts), one.ranks, tuple(parts))


def _sorted(fused: Sequence[Fused[K]]) -> list[Fused[K]]:
    return sorted(fused, key=lambda one: -one.score)
