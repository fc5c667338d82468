"""Highlights by their source: sources by their newest highlight, each read from its beginning."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, Window
from django.db.models.functions import RowNumber

from citations.models import Highlight, Source
from citations.notebook import highlights
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from transcripts.core.lists import page_of
from transcripts.core.scope import Scope

_IN_TEXT: Final = ("span_start", "pk")  # the order of reading


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightGroup:
    """The highlights of a source that are on one page, of ``size`` in all; ``before`` and ``after``
    are on other pages.
    """

    source: Source
    highlights: tuple[PlacedHighlight, ...]
    size: int
    before: int

    @property
    def after(self) -> int:
        return self.size - self.before - len(self.highlights)

    @property
    def link(self) -> str:
        """The path that opens the source."""
        return self.source.path


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedPage:
    """A page of highlights by source; ``next`` is the next offset or None, and ``cards`` says how
    many of all are cards.
    """

    groups: tuple[HighlightGroup, ...]
    total: int
    cards: int
    next: int | None

    @property
    def highlights(self) -> tuple[PlacedHighlight, ...]:
        return tuple(placed for group in self.groups for placed in group.highlights)


def list_groups(
    scope: Scope,
    user: User | None,
    filter: HighlightFilter = HighlightFilter(),
    *,
    offset: int = 0,
    limit: int = 25,
) -> GroupedPage:
    """Return a page of highlights by source. Raises what ``highlights.matching`` raises."""
    matches = highlights.matching(scope, user, filter)
    of_source: dict[str, Any] = {"partition_by": "source_id"}
    rows = matches.annotate(
        newest=Window(Max("created_at"), **of_source),
        size=Window(Count("pk"), **of_source),
        number=Window(RowNumber(), order_by=_IN_TEXT, **of_source),
    ).order_by("-newest", "-source_id", *_IN_TEXT)
    page, following = page_of(rows, offset, limit)
    return GroupedPage(
        groups=_groups(page),
        total=matches.count(),
        cards=matches.filter(is_card=True).count(),
        next=following,
    )


def offset_of(scope: Scope, user: User | None, row: Highlight, *, limit: int) -> int:
    """Return the offset of the page of its source's highlights that has a highlight."""
    before = Q(span_start__lt=row.span_start) | Q(span_start=row.span_start, pk__lt=row.pk)
    own = Highlight.objects.readable(scope, user).filter(before, source=row.source_id)
    return own.count() // limit * limit


def _groups(rows: Sequence[Any]) -> tuple[HighlightGroup, ...]:
    """Group rows that have their ``number`` of ``size`` in their source."""
    placed = zip(rows, highlights.place(rows), strict=True)
    parts = [[*part] for _, part in groupby(placed, key=lambda pair: pair[0].source_id)]
    return tuple(
        HighlightGroup(
            source=part[0][0].source,
            highlights=tuple(highlight for _, highlight in part),
            size=part[0][0].size,
            before=part[0][0].number - 1,
        )
        for part in parts
    )
