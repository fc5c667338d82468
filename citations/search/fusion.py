"""Several rankings become one, and what says the same is said once. Pure."""

import math
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from transcripts.tokenizer import tokenize

RRF_K = 60
DUPLICATE = 0.9

K = TypeVar("K", bound=Hashable)


class FusedHit(NamedTuple, Generic[K]):
    """What was fused: ``ranks`` say, ranking by ranking, where it stood (from 1; None: nowhere), ``parts`` what that added; ``score`` is their sum."""

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]


class UniqueText(NamedTuple):
    """A text that stays, and those that went because of it: (place, similarity), in rank order; places count from 0."""

    place: int
    dropped: list[tuple[int, float]]


def rrf(rankings: Sequence[Sequence[K]], *, k: int = RRF_K) -> list[FusedHit[K]]:
    """Fuse rankings (best first) by reciprocal rank: a key's score is the sum of 1 / (k + rank) over the rankings that hold it.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods" (2009). A key that a ranking
    holds twice counts where it stands first. Of equal scores the one with the best rank comes first, then the one that an earlier ranking puts higher.
    """
    places = [_places(ranking) for ranking in rankings]
    keys = dict.fromkeys(key for ranking in rankings for key in ranking)
    return sorted(
        (_fused(key, [ranks.get(key) for ranks in places], k) for key in keys), key=_order
    )


def deduplicate(texts: Sequence[str], threshold: float = DUPLICATE) -> list[UniqueText]:
    """Keep, of texts in rank order, those that say something new; each other one is told under the kept text that it is most like.

    Likeness is Jaccard's: the share of common words among all words of the two, each counted once; ``threshold`` and above is a near-duplicate.
    Texts without any word are like one another only when they are equal.
    """
    numbers: dict[str, int] = {}
    kept: list[tuple[UniqueText, int, int]] = []
    for place, text in enumerate(texts):
        words = frozenset(tokenize(text)) or frozenset({text.strip()})
        bits = _bits(words, numbers)
        likeness, twin = 0.0, -1
        for number, (_, others, count) in enumerate(kept):
            common = (bits & others).bit_count()
            found = common / (len(words) + count - common)
            if found > likeness:
                likeness, twin = found, number
        if kept and likeness >= threshold:
            kept[twin][0].dropped.append((place, likeness))
        else:
            kept.append((UniqueText(place, []), bits, len(words)))
    return [group for group, _, _ in kept]


def _bits(words: frozenset[str], numbers: dict[str, int]) -> int:
    """Write a set as an integer of one bit a word: what two of them have in common is counted faster so than with sets."""
    bits = 0
    for word in words:
        bits |= 1 << numbers.setdefault(word, len(numbers))
    return bits


def _places(ranking: Sequence[K]) -> dict[K, int]:
    places: dict[K, int] = {}
    for rank, key in enumerate(ranking, start=1):
        places.setdefault(key, rank)
    return places


def _fused(key: K, ranks: Sequence[int | None], k: int) -> FusedHit[K]:
    parts = tuple(0.0 if rank is None else 1 / (k + rank) for rank in ranks)
    return FusedHit(
        key, math.fsum(parts), tuple(ranks), parts
    )  # fsum: the sum does not depend on the order of the rankings


def _order(fused: FusedHit[K]) -> tuple[float, list[float]]:
    ranks = [math.inf if rank is None else rank for rank in fused.ranks]
    return -fused.score, [min(ranks), *ranks]
