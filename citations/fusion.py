"""Several rankings become one, and what says the same is said once. Pure."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from transcripts.words import tokenize

RRF_K = 60
DUPLICATE = 0.9

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Fused(Generic[K]):
    """What was fused: ``ranks`` say, ranking by ranking, where it stood (from 1; None: nowhere), ``parts`` what that added; ``score`` is their sum."""

    key: K
    score: float
    ranks: tuple[int | None, ...]
    parts: tuple[float, ...]


class Kept(NamedTuple):
    """A text that stays, and those that went because of it: (place, similarity), in rank order; places count from 0."""

    place: int
    dropped: list[tuple[int, float]]


def rrf(rankings: Sequence[Sequence[K]], *, k: int = RRF_K) -> list[Fused[K]]:
    """Fuse rankings (best first) by reciprocal rank: a key's score is the sum of 1 / (k + rank) over the rankings that hold it.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods" (2009). A key that a ranking
    holds twice counts where it stands first. Of equal scores the one with the best rank comes first, then the one that an earlier ranking puts higher.
    """
    places = [_places(ranking) for ranking in rankings]
    keys = dict.fromkeys(key for ranking in rankings for key in ranking)
    return sorted((_fused(key, [ranks.get(key) for ranks in places], k) for key in keys), key=_order)


def deduplicate(texts: Sequence[str], threshold: float = DUPLICATE) -> list[Kept]:
    """Keep, of texts in rank order, those that say something new; each other one is told under the kept text that it is most like.

    Likeness is Jaccard's: the share of common words among all words of the two, each counted once; ``threshold`` and above is a near-duplicate.
    Texts without any word are like one another only when they are equal.
    """
    kept: list[tuple[Kept, frozenset[str]]] = []
    for place, text in enumerate(texts):
        words = frozenset(tokenize(text)) or frozenset({text.strip()})
        likeness, twin = max(((_jaccard(words, other, threshold), -number) for number, (_, other) in enumerate(kept)), default=(0.0, 0))
        if kept and likeness >= threshold:
            kept[-twin][0].dropped.append((place, likeness))
        else:
            kept.append((Kept(place, []), words))
    return [group for group, _ in kept]


def _places(ranking: Sequence[K]) -> dict[K, int]:
    places: dict[K, int] = {}
    for rank, key in enumerate(ranking, start=1):
        places.setdefault(key, rank)
    return places


def _fused(key: K, ranks: Sequence[int | None], k: int) -> Fused[K]:
    parts = tuple(0.0 if rank is None else 1 / (k + rank) for rank in ranks)
    return Fused(key, math.fsum(parts), tuple(ranks), parts)  # fsum: the sum does not depend on the order of the rankings


def _order(fused: Fused[K]) -> tuple[float, list[float]]:
    ranks = [math.inf if rank is None else rank for rank in fused.ranks]
    return -fused.score, [min(ranks), *ranks]


def _jaccard(words: frozenset[str], others: frozenset[str], threshold: float) -> float:
    """Compare two sets, not empty; 0 where their sizes alone say that they are less alike than ``threshold``."""
    if min(len(words), len(others)) < threshold * max(len(words), len(others)):
        return 0.0
    common = len(words & others)
    return common / (len(words) + len(others) - common)
