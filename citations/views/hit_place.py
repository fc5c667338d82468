"""The place of a hit in the list that a search found, from which the next and previous one open."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs, urlencode

from django.urls import reverse

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
