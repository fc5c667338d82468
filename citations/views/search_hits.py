"""The hits of a search as its page lists them: grouped by source, each with its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from citations.passages import DropRule, Passage, PassageSource, Results
from citations.views.hit_place import HitPlace
from citations.views.search_form import SubmittedSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPassage:
    rank: int
    passage: Passage
    place: HitPlace | None = None

    @property
    def place_query(self) -> str:
        """The parameters that carry its place, at the end of an address."""
        return f"&{self.place.address}" if self.place else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHits:
    """The hits of one source, best first; groups are ordered by their best hit.

    ``more`` are folded away, so that one source does not hide the others.
    """

    origin: PassageSource
    collection: str
    hits: tuple[RankedPassage, ...]
    more: tuple[RankedPassage, ...] = ()

    def with_places(self, places: Mapping[int, HitPlace]) -> "SourceHits":
        """Return the hits with their places in the list, by their ranks."""
        hits, more = (
            tuple(replace(hit, place=places[hit.rank]) for hit in hits)
            for hits in (self.hits, self.more)
        )
        return replace(self, hits=hits, more=more)


def list_hits(
    results: Results, criteria: SubmittedSearch, *, names: dict[str, str]
) -> tuple[list[SourceHits], list[SourceHits]]:
    """Return the likely hits and the others as they are listed; each knows its place among all."""
    hits = enumerate(results.passages, start=1)
    ranked = [RankedPassage(rank=rank, passage=passage) for rank, passage in hits]
    first = [hit for hit in ranked if hit.passage.is_likely]
    rest = [hit for hit in ranked if not hit.passage.is_likely]
    grouped = [_grouped(part, names) for part in (first, rest)]
    order = in_order([group for groups in grouped for group in groups])
    places = {
        hit.rank: HitPlace(search=criteria.address, number=number, count=len(order))
        for number, hit in enumerate(order, start=1)
    }
    likely, unlikely = ([group.with_places(places) for group in groups] for groups in grouped)
    return likely, unlikely


def in_order(groups: Sequence[SourceHits]) -> list[RankedPassage]:
    """Return the hits in the order in which they are listed."""
    return [hit for group in groups for hit in (*group.hits, *group.more)]


def _grouped(ranked: Sequence[RankedPassage], names: dict[str, str]) -> list[SourceHits]:
    """Group passages by source; fold away those of which it has enough."""
    groups: dict[UUID, list[RankedPassage]] = {}
    for hit in ranked:
        groups.setdefault(hit.passage.origin.id, []).append(hit)
    return [
        SourceHits(
            origin=origin,
            collection=names.get(origin.collection, ""),
            hits=tuple(hit for hit in hits if hit.passage.folded != DropRule.SHARE),
            more=tuple(hit for hit in hits if hit.passage.folded == DropRule.SHARE),
        )
        for hits in groups.values()
        for origin in [hits[0].passage.origin]
    ]
