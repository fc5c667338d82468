"""The hits of a search as its page lists them: grouped by source, each with its place in the list,
from which the next and the previous one open.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs, urlencode
from uuid import UUID

from django.urls import reverse

from citations.passages import DropRule, Passage, PassageSource, Results
from citations.views.search_form import SubmittedSearch
from transcripts.core.sanitize import clean
from transcripts.core.views.requests import number_of

MAX_SEARCH: Final = 8_000  # characters of a search


@dataclass(frozen=True, slots=True, kw_only=True)
class HitPlace:
    """The ``number`` of a hit, from 1, among the ``count`` of a ``search``, a query string."""

    search: str
    number: int
    count: int

    @property
    def parts(self) -> dict[str, object]:
        """The parameters that carry it."""
        return {"hit": self.number, "of": self.count, "search": self.search}

    @property
    def query(self) -> str:
        """What was searched for."""
        return parse_qs(self.search).get("q", [""])[0]

    @property
    def address(self) -> str:
        """The query string that carries it."""
        return urlencode(self.parts)

    @property
    def previous(self) -> "HitPlace | None":
        return replace(self, number=self.number - 1) if self.number > 1 else None

    @property
    def next(self) -> "HitPlace | None":
        return replace(self, number=self.number + 1) if self.number < self.count else None

    @property
    def step(self) -> str:
        """The address that opens the hit which has this place."""
        return f"{reverse('hit-step')}?{self.search}&{urlencode({'hit': self.number})}"


def carried_place(parameters: Mapping[str, str]) -> HitPlace | None:
    """Return the place that an address carries; None if it carries none."""
    number, count = (number_of(parameters.get(name, "")) for name in ("hit", "of"))
    search = clean(parameters.get("search", ""), MAX_SEARCH)
    if not (search and number and count and number <= count):
        return None
    return HitPlace(search=search, number=number, count=count)


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
