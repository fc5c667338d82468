"""Fuse rankings, and drop near-duplicates. Pure."""

import math
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from transcripts.tokenizer import tokenize

RRF_K = 60
DUPLICATE = 0.9

K = TypeVar("K", bound=Hashable)


class FusedHit(NamedTuple, Generic[K]):
    """A fused key: its rank in each ranking (from 1.

    None: absent), the parts they add, and their sum.
    """

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]


class UniqueText(NamedTuple):
    """The ordinal of a kept text, and its near-duplicates (ordinal, similarity), in rank order."""

    ordinal: int
    duplicates: list[tuple[int, float]]


def rrf(rankings: Sequence[Sequence[K]], *, k: int = RRF_K) -> list[FusedHit[K]]:
    """Fuse rankings (best first) by reciprocal rank: the score of a key is the sum of 1 / (k +
    rank).

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods" (2009). The first of repeated keys counts. Ties are ordered by the best rank,
    then by the earlier rankings.
    """
    ranks = [_ranks(ranking) for ranking in rankings]
    keys = dict.fromkeys(key for ranking in rankings for key in ranking)
    fused = (_fused(key, [own.get(key) for own in ranks], k) for key in keys)
    return sorted(fused, key=_sort_key)


def deduplicate(texts: Sequence[str], threshold: float = DUPLICATE) -> list[UniqueText]:
    """Keep the texts (in rank order) without near-duplicates; list each of these under the most
    similar kept text.

    The similarity is Jaccard's, over sets of words; texts at or above ``threshold`` are
    near-duplicates. Texts without words are near-duplicates only when equal.
    """
    numbers: dict[str, int] = {}
    kept: list[tuple[UniqueText, int, int]] = []
    for index, text in enumerate(texts):
        words = frozenset(tokenize(text)) or frozenset({text.strip()})
        bits = _bits(words, numbers)
        similarity, nearest = 0.0, -1
        for number, (_, others, count) in enumerate(kept):
            common = (bits & others).bit_count()
            jaccard = common / (len(words) + count - common)
            if jaccard > similarity:
                similarity, nearest = jaccard, number
        if kept and similarity >= threshold:
            kept[nearest][0].duplicates.append((index, similarity))
        else:
            kept.append((UniqueText(index, []), bits, len(words)))
    return [unique for unique, _, _ in kept]


def _bits(words: frozenset[str], numbers: dict[str, int]) -> int:
    """Encode a set of words as an integer, as intersections of integers are faster."""
    bits = 0
    for word in words:
        bits |= 1 << numbers.setdefault(word, len(numbers))
    return bits


def _ranks(ranking: Sequence[K]) -> dict[K, int]:
    ranks: dict[K, int] = {}
    for rank, key in enumerate(ranking, start=1):
        ranks.setdefault(key, rank)
    return ranks


def _fused(key: K, ranks: Sequence[int | None], k: int) -> FusedHit[K]:
    parts = tuple(0.0 if rank is None else 1 / (k + rank) for rank in ranks)
    # The result of fsum does not depend on the order of the rankings.
    return FusedHit(key, math.fsum(parts), tuple(ranks), parts)


def _sort_key(fused: FusedHit[K]) -> tuple[float, list[float]]:
    ranks = [math.inf if rank is None else rank for rank in fused.ranks]
    return -fused.score, [min(ranks), *ranks]
