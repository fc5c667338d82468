"""Fuse rankings, drop near-duplicates, and spread hits over sources. Pure."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from transcripts.text.tokenizer import tokenize

LAST_WEIGHT = 0.25  # weight of the last hit of a ranking

K = TypeVar("K", bound=Hashable)


class FusedHit(NamedTuple, Generic[K]):
    """A key's rank in each ranking (from 1; None: absent), the parts these add, and their sum."""

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]


def rrf(rankings: Sequence[Sequence[K]], *, k: int = 60) -> list[FusedHit[K]]:
    """Fuse rankings (best first) by reciprocal rank: the score of a key is the sum of 1 / (k +
    rank).

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (2009). Ties are ordered by the best rank,
    then by the earlier rankings.
    """
    # The first of repeated keys counts.
    ranks = [{key: rank for rank, key in [*enumerate(ranking, 1)][::-1]} for ranking in rankings]
    keys = dict.fromkeys(key for ranking in rankings for key in ranking)
    fused: list[FusedHit[K]] = []
    for key in keys:
        own = tuple(ranking.get(key) for ranking in ranks)
        parts = tuple(0.0 if rank is None else 1 / (k + rank) for rank in own)
        # The result of fsum does not depend on the order of the rankings.
        fused.append(FusedHit(key, math.fsum(parts), own, parts))

    def order(hit: FusedHit[K]) -> tuple[float, list[float]]:
        own = [math.inf if rank is None else rank for rank in hit.ranks]
        return -hit.score, [min(own), *own]

    return sorted(fused, key=order)


def min_max_weighted(
    fused: Sequence[FusedHit[K]], scores: Sequence[Mapping[K, float]]
) -> dict[K, float]:
    """Weight each part by its score between the best (1) and the worst (``LAST_WEIGHT``) of its
    ranking; return the sums.

    Reciprocal ranks alone fall slowly: rank 10 counts 87 % of rank 1, however far behind it is.
    Only differences within a ranking count, so any kind of score fits.
    """
    weights = [_min_max_weights(ranking) for ranking in scores]
    return {
        hit.key: math.fsum(
            part * own.get(hit.key, 0.0) for part, own in zip(hit.parts, weights, strict=True)
        )
        for hit in fused
    }


def _min_max_weights(ranking: Mapping[K, float]) -> dict[K, float]:
    best, last = max(ranking.values(), default=0.0), min(ranking.values(), default=0.0)
    if best == last:
        return dict.fromkeys(ranking, 1.0)
    return {
        key: LAST_WEIGHT + (1 - LAST_WEIGHT) * (score - last) / (best - last)
        for key, score in ranking.items()
    }


# Near-duplicates


class UniqueText(NamedTuple):
    """The ordinal of a kept text, and its near-duplicates (ordinal, similarity), in rank order."""

    ordinal: int
    duplicates: list[tuple[int, float]]


def deduplicate(texts: Sequence[str], threshold: float = 0.9) -> list[UniqueText]:
    """Keep the texts (in rank order) without near-duplicates; list each of these under the most
    similar kept text.

    The similarity is Jaccard's, over sets of words; texts at or above ``threshold`` are
    near-duplicates. Texts without words are near-duplicates only when equal.
    """
    numbers: dict[str, int] = {}
    distinct: list[tuple[UniqueText, int, int]] = []
    for index, text in enumerate(texts):
        words = frozenset(tokenize(text)) or frozenset({text.strip()})
        bits = _bits(words, numbers)
        similarity, nearest = 0.0, -1
        for number, (_, others, count) in enumerate(distinct):
            common = (bits & others).bit_count()
            jaccard = common / (len(words) + count - common)
            if jaccard > similarity:
                similarity, nearest = jaccard, number
        if distinct and similarity >= threshold:
            distinct[nearest][0].duplicates.append((index, similarity))
        else:
            distinct.append((UniqueText(index, []), bits, len(words)))
    return [unique for unique, _, _ in distinct]


def _bits(words: frozenset[str], numbers: dict[str, int]) -> int:
    """Encode a set of words as an integer, as intersections of integers are faster."""
    bits = 0
    for word in words:
        bits |= 1 << numbers.setdefault(word, len(numbers))
    return bits


def spread(
    sources: Sequence[Hashable], is_likely: Sequence[bool], *, limit: int, most: int
) -> list[int]:
    """Choose ``limit`` of the hits that are given best first by their sources, in the same order.

    Likely hits come first, up to ``most`` of a source; where these are fewer, the best of the rest.
    """
    counts: Counter[Hashable] = Counter()
    first: list[int] = []
    rest: list[int] = []
    for index, (source, likely) in enumerate(zip(sources, is_likely, strict=True)):
        is_first = likely and counts[source] < most
        counts[source] += is_first
        (first if is_first else rest).append(index)
    return sorted([*first, *rest][:limit])
