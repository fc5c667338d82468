"""Select the hits that are shown, and say of every other by which rule it is not."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from citations import conf
from citations.passages import Locator, covering
from citations.search import fusion, neighbours
from citations.search.candidates import CandidateHit
from citations.search.chunk_rows import Candidate, DroppedRow


class RankedHit(NamedTuple):
    """A candidate's final score; ``least`` is the lowest re-ranked one, for candidates below it."""

    hit: CandidateHit
    score: float
    rerank_score: float | None = None
    least: float | None = None

    @property
    def formula(self) -> str:
        if self.rerank_score is not None:
            return f"{self.score:.4f} = the cross-encoder's score"
        if self.least is not None:
            lowest = f"{self.least:.4f} (the lowest re-ranked score)"
            return f"{self.score:.4f} = {lowest} · {self.hit.score:.4f}"
        if judged := self.hit.relevance:
            return f"{self.score:.4f} = 1 / (1 + exp({-judged.sum:z.4f}))"
        k = conf.rrf_k()
        terms = [f"1/({k} + {rank})" for rank in self.hit.fused.ranks if rank is not None]
        return f"{self.score:.4f} = ({' + '.join(terms)}) / {self.hit.most:.6f} (the maximum)"


class HitGroup(NamedTuple):
    """A hit, its neighbours that were joined to it, and what repeats one of them elsewhere.

    ``part`` is what is shown of the hit, unless it is all of it.
    """

    best: RankedHit
    parts: list[Candidate]
    duplicates: list[tuple[Candidate, float]]
    part: Candidate | None = None

    @property
    def shown(self) -> Candidate:
        return self.part or self.best.hit.candidate


def grouped(ranked: Sequence[RankedHit], *, joins: bool) -> list[HitGroup]:
    """Fold near-duplicates and, if asked, join neighbours, best first."""
    groups = _deduplicate(ranked)
    return _join(groups) if joins else groups


def spread(
    groups: Sequence[HitGroup], likely: Set[int], *, limit: int, most: int
) -> tuple[list[HitGroup], list[DroppedRow]]:
    """Choose ``limit`` groups: likely ones first, up to ``most`` of a source, then the best of the
    rest. Return also what is dropped for that.
    """
    rows = [group.best.hit.candidate for group in groups]
    are_likely = [row.chunk in likely for row in rows]
    chosen, left = fusion.spread([row.source for row in rows], are_likely, limit=limit, most=most)
    dropped = [DroppedRow(rows[index], rule) for index, rule in left.items()]
    return [groups[index] for index in chosen], dropped


def _deduplicate(ranked: Sequence[RankedHit]) -> list[HitGroup]:
    rows = [hit.hit.candidate for hit in ranked]
    # Texts without words are near-duplicates where they are equal.
    texts = [row.read.words or frozenset({row.text.strip()}) for row in rows]
    return [
        HitGroup(
            ranked[index], [], [(rows[dropped], similarity) for dropped, similarity in duplicates]
        )
        for index, duplicates in fusion.deduplicate(texts, conf.duplicate_similarity())
    ]


def _join(groups: Sequence[HitGroup]) -> list[HitGroup]:
    """Join neighbours, but none that is likely to one that is not."""
    hits = [group.best.hit for group in groups]
    places = [((hit.candidate.source, hit.is_likely), hit.candidate.ordinal) for hit in hits]
    joined: list[HitGroup] = []
    for best, *others in neighbours.join(places):
        rows = [hits[other].candidate for other in others]
        repeated = [pair for member in (best, *others) for pair in groups[member].duplicates]
        parts = sorted(rows, key=lambda row: row.ordinal)
        joined.append(HitGroup(groups[best].best, parts, repeated))
    return joined


def apart(groups: Sequence[HitGroup]) -> list[HitGroup]:
    """Cut from each hit what a better one of its source has: chunks overlap."""
    taken: dict[int, list[Locator]] = {}
    parted: list[HitGroup] = []
    for group in groups:
        places = taken.setdefault(group.shown.source, [])
        row, *parts = (
            each.within(neighbours.apart(each.locator, places))
            for each in (group.shown, *group.parts)
        )
        parted.append(group._replace(part=row, parts=parts))
        places.append(covering([each.locator for each in (row, *parts)]))
    return parted
