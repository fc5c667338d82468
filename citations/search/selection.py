"""Select the hits that are shown, and say of every other by which rule it is not."""

from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from citations import conf
from citations.passages import NEAREST, DropRule, Locator, covering
from citations.schemas.filters import MAX_LIMIT
from citations.search import fusion
from citations.search.candidates import CandidateHit
from citations.search.chunk_rows import Candidate, DroppedRow

FIRST_PAGE: Final = 10  # passages
OF_SOURCE: Final = 3  # passages of a source before those of others


class RankedHit(NamedTuple):
    """A candidate's final score, and the one that a cross-encoder gave it, if it read it."""

    hit: CandidateHit
    score: float
    rerank_score: float | None = None

    @property
    def formula(self) -> str:
        if judged := self.hit.relevance:
            return f"{self.score:.4f} = 1 / (1 + exp({-judged.sum:z.4f}))"
        k = conf.rrf_k()
        terms = [f"1/({k} + {rank})" for rank in self.hit.fused.ranks if rank is not None]
        return f"{self.score:.4f} = ({' + '.join(terms)}) / {self.hit.most:.6f} (the maximum)"


class HitGroup(NamedTuple):
    """A hit, its neighbours that were joined to it, and what repeats one of them elsewhere.

    ``part`` is what is shown of the hit, unless it is all of it; ``folded`` is the rule by which a
    list folds it away.
    """

    best: RankedHit
    parts: list[Candidate]
    duplicates: list[tuple[Candidate, float]]
    part: Candidate | None = None
    folded: DropRule | None = None

    @property
    def shown(self) -> Candidate:
        return self.part or self.best.hit.candidate


class ListRoom(NamedTuple):
    """How many passages a list has room for.

    Likely ones have the first places, up to ``most_listed`` of a source; of these and of the
    others, those beyond ``most_in_sight`` of a source are folded away. Where none is likely,
    ``nearest`` are listed.
    """

    most_listed: int = MAX_LIMIT
    most_in_sight: int = MAX_LIMIT
    nearest: int | None = None


def room_for_readers(*, limit: int, is_one_source: bool) -> ListRoom:
    """Return the room of a list of ``limit`` passages that people or their programs read.

    Who asks for more than a first page, or for one source alone, reads on in all of them.
    """
    most = MAX_LIMIT if is_one_source else OF_SOURCE
    return ListRoom(most, most if limit <= FIRST_PAGE else MAX_LIMIT, NEAREST)


def grouped(ranked: Sequence[RankedHit], *, joins: bool) -> list[HitGroup]:
    """Fold near-duplicates and, if asked, join neighbours, best first."""
    rows = [hit.hit.candidate for hit in ranked]
    # Texts without words are near-duplicates where they are equal.
    texts = [row.read.words or frozenset({row.text.strip()}) for row in rows]
    groups = [
        HitGroup(
            ranked[index], [], [(rows[dropped], similarity) for dropped, similarity in duplicates]
        )
        for index, duplicates in fusion.deduplicate(texts, conf.duplicate_similarity())
    ]
    return _join(groups) if joins else groups


def spread(
    groups: Sequence[HitGroup], likely: Set[int], *, limit: int, room: ListRoom
) -> tuple[list[HitGroup], list[DroppedRow]]:
    """Choose ``limit`` groups: likely ones first, up to the share of a source, then the best of the
    rest; tell which of them are folded away. Return also what is dropped for that.
    """
    rows = [group.best.hit.candidate for group in groups]
    sources, are_likely = [row.source for row in rows], [row.chunk in likely for row in rows]
    chosen, left = fusion.spread(
        sources, are_likely, limit=limit, most=room.most_listed, nearest=room.nearest
    )
    folded = fusion.fold(
        [sources[index] for index in chosen],
        [are_likely[index] for index in chosen],
        most=room.most_in_sight,
    )
    listed = [
        groups[index]._replace(folded=rule) for index, rule in zip(chosen, folded, strict=True)
    ]
    return listed, [DroppedRow(rows[index], rule) for index, rule in left.items()]


def _join(groups: Sequence[HitGroup]) -> list[HitGroup]:
    """Join neighbours, but none that is likely to one that is not."""
    hits = [group.best.hit for group in groups]
    places = [((hit.candidate.source, hit.is_likely), hit.candidate.ordinal) for hit in hits]
    joined: list[HitGroup] = []
    for best, *others in fusion.join_neighbours(places):
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
            each.within(fusion.apart(each.locator, places)) for each in (group.shown, *group.parts)
        )
        parted.append(group._replace(part=row, parts=parts))
        places.append(covering([each.locator for each in (row, *parts)]))
    return parted
