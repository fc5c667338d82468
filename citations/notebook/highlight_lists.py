"""Lists of highlights: those of each source from its beginning, sources by their newest highlight;
what they can be filtered by, and what those hide that are cards.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, Window
from django.db.models.functions import RowNumber

from citations.models import Highlight, Source
from citations.notebook import gaps, highlights
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from transcripts.core.alphabet import alphabet_key, alphabetical
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
    counted: Sequence[Any] = page  # rows that have their number of so many in their source
    placed = zip(counted, highlights.place(page), strict=True)
    groups = []
    for source, pairs in groupby(placed, key=lambda pair: pair[0].source):
        members = [*pairs]
        first = members[0][0]
        groups.append(
            HighlightGroup(
                source=source,
                highlights=tuple(highlight for _, highlight in members),
                size=first.size,
                before=first.number - 1,
            )
        )
    return GroupedPage(
        groups=tuple(groups),
        total=matches.count(),
        cards=matches.filter(is_card=True).count(),
        next=following,
    )


def offset_of(scope: Scope, user: User | None, row: Highlight, *, limit: int) -> int:
    """Return the offset of the page of its source's highlights that has a highlight."""
    before = Q(span_start__lt=row.span_start) | Q(span_start=row.span_start, pk__lt=row.pk)
    own = Highlight.objects.readable(scope, user).filter(before, source=row.source_id)
    return own.count() // limit * limit


MAX_CHOICES: Final = 200  # sources, and tags


@dataclass(frozen=True, slots=True, kw_only=True)
class HighlightChoices:
    """What there is to filter by."""

    sources: tuple[Source, ...]
    tags: tuple[str, ...]


def choices(scope: Scope, user: User | None) -> HighlightChoices:
    """Return the sources and the tags of the visible highlights."""
    visible = Highlight.objects.readable(scope, user).order_by()
    sources = Source.objects.filter(pk__in=visible.values("source"))
    tagged = visible.exclude(tags=[]).values_list("tags", flat=True)
    tags = {tag for tags in tagged[: 50 * MAX_CHOICES] for tag in tags}
    return HighlightChoices(
        sources=tuple(sources.order_by(alphabetical("title"), "pk")[:MAX_CHOICES]),
        tags=tuple(sorted(tags, key=alphabet_key)[:MAX_CHOICES]),
    )


def hidden_words(placed: Iterable[PlacedHighlight]) -> dict[int, str]:
    """Return what those highlights hide that are cards, by their keys; by a constant number of
    queries.
    """
    shown = [highlight for highlight in placed if highlight.row.is_card]
    cards = gaps.gaps_of((highlight.row, highlight.locator) for highlight in shown)
    return {highlight.row.pk: gap.words for highlight, gap in zip(shown, cards, strict=True)}
