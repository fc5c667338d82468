"""Fuse rankings, drop near-duplicates, join neighbours, and spread hits over sources. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Final, Generic, NamedTuple, TypeVar

from citations.passages import DropRule, Locator

LAST_WEIGHT = 0.25  # weight of the last hit of a ranking

K = TypeVar("K", bound=Hashable)

MAX_JOINED: Final = 3  # chunks of one hit: more are no place to read, but a whole talk


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
    keys = dict.fromkeys(chain.from_iterable(rankings))
    last = max(map(len, rankings), default=0)
    part: dict[int | None, float] = {rank: 1 / (k + rank) for rank in range(1, last + 1)}
    part[None] = 0.0
    ordered: list[tuple[float, list[float], FusedHit[K]]] = []
    for key, *own in zip(keys, *(map(ranking.get, keys) for ranking in ranks), strict=True):
        parts = tuple(map(part.__getitem__, own))
        score = math.fsum(parts)  # does not depend on the order of the rankings
        places = [math.inf if rank is None else rank for rank in own]
        hit = FusedHit(key, score, tuple(own), parts)
        ordered.append((-score, [min(places), *places], hit))
    return [hit for _, _, hit in sorted(ordered)]  # no two have the same places


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


def deduplicate(texts: Sequence[Set[str]], threshold: float = 0.9) -> list[UniqueText]:
    """Keep the texts (in rank order, as their words, at least one) without near-duplicates; list
    each of these under the most similar kept text.

    The similarity is Jaccard's; texts at or above ``threshold`` are near-duplicates. These have one
    of the few rarest words of either in common, so only texts with such a word are compared (prefix
    filtering: Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins in data
    cleaning", 2006).
    """
    counts = Counter(chain.from_iterable(texts))
    ranks = {word: rank for rank, word in enumerate(sorted(counts, key=counts.__getitem__))}
    kept: dict[int, list[tuple[int, float]]] = {}
    with_word: defaultdict[int, list[int]] = defaultdict(list)
    for index, words in enumerate(texts):
        common_words = max(1, math.ceil(threshold * len(words) - 1e-9))  # with a near-duplicate
        rarest = sorted(map(ranks.__getitem__, words))[: len(words) - common_words + 1]
        similarity, nearest = 0.0, -1
        for other in sorted({*chain.from_iterable(map(with_word.__getitem__, rarest))}):
            common = len(words & texts[other])
            jaccard = common / (len(words) + len(texts[other]) - common)
            if jaccard > similarity:
                similarity, nearest = jaccard, other
        if nearest >= 0 and similarity >= threshold:
            kept[nearest].append((index, similarity))
        else:
            kept[index] = []
            for rank in rarest:
                with_word[rank].append(index)
    return [UniqueText(ordinal, duplicates) for ordinal, duplicates in kept.items()]


def spread(
    sources: Sequence[Hashable],
    is_likely: Sequence[bool],
    *,
    limit: int,
    most: int,
    nearest: int | None = None,
) -> tuple[list[int], dict[int, DropRule]]:
    """Choose ``limit`` of the hits that are given best first by their sources, in the same order;
    return also by which rule each of the others is left out.

    Likely hits come first, up to ``most`` of a source; where these are fewer, the best of the rest.
    Where none is likely, ``nearest`` are chosen at most.
    """
    unlikely = DropRule.FLOOR if any(is_likely) else DropRule.LIMIT
    if nearest is not None and nearest < limit and not any(is_likely):
        limit, unlikely = nearest, DropRule.FLOOR
    counts: Counter[Hashable] = Counter()
    first: dict[int, DropRule] = {}
    rest: dict[int, DropRule] = {}
    for index, (source, likely) in enumerate(zip(sources, is_likely, strict=True)):
        if likely and counts[source] < most:
            counts[source] += 1
            first[index] = DropRule.LIMIT
        else:
            rest[index] = DropRule.SHARE if likely else unlikely
    ordered = [*first, *rest]
    left = {index: (first | rest)[index] for index in sorted(ordered[limit:])}
    return sorted(ordered[:limit]), left


def fold(
    sources: Sequence[Hashable], is_likely: Sequence[bool], *, most: int
) -> list[DropRule | None]:
    """Return by which rule each listed hit, best first, is folded away; None: it is in sight.

    Hits beyond ``most`` of a source are, among the likely ones and among the others, and all others
    where any is likely.
    """
    counts: Counter[tuple[Hashable, bool]] = Counter()
    unlikely = DropRule.FLOOR if any(is_likely) else None
    rules: list[DropRule | None] = []
    for source, likely in zip(sources, is_likely, strict=True):
        counts[source, likely] += 1
        rule = None if likely else unlikely
        rules.append(DropRule.SHARE if counts[source, likely] > most else rule)
    return rules


def join_neighbours(
    places: Sequence[tuple[Hashable, int]], *, most: int = MAX_JOINED
) -> list[tuple[int, ...]]:
    """Group the hits at places (source and ordinal, best first) into runs of up to ``most``.

    A hit joins the run beside it that has the better first hit, and links both where they are short
    enough. Returns the indexes of the hits of each run, best first, runs by their best hit.
    """
    runs: dict[tuple[Hashable, int], list[int]] = {}
    for index, (source, ordinal) in enumerate(places):
        run = runs[source, ordinal] = [index]
        beside = (runs.get((source, ordinal - 1)), runs.get((source, ordinal + 1)))
        for other in sorted(filter(None, beside)):
            if len(other) + len(run) <= most:
                run = sorted([*run, *other])
                runs |= {places[member]: run for member in run}
    return sorted({tuple(run) for run in runs.values()})


def apart(place: Locator, taken: Iterable[Locator]) -> Locator:
    """Return the part of a place that none of these places of its source has: it begins where one
    ends, or ends where one begins. What lies within one of them stays whole.
    """
    rest = place
    for other in taken:
        (first, last), (start, stop) = rest.span, other.span
        if start <= first < stop < last:
            rest = replace(rest, span=(stop, last), start=other.end)
        elif first < start < last <= stop:
            rest = replace(rest, span=(first, start), end=other.start)
    return rest
