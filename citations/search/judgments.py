"""Users' judgments of passages: right or wrong for a query. They are anchored to the text, so they
survive re-chunking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import ExpressionWrapper, IntegerField, OuterRef, Subquery
from django.db.models.functions import Greatest, Least

from citations.errors import PassageNotFound
from citations.models import Chunk, Mark, Source
from citations.search.chunk_rows import Candidate
from transcripts.core.errors import EmptyQuery
from transcripts.core.lists import page_of
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPage:
    """A page of judgments, latest first; ``next`` is the next offset or None."""

    marks: tuple[Mark, ...]
    total: int
    next: int | None


def mark(scope: Scope, user: User, query: str, chunk: int, *, right: bool | None) -> None:
    """Record whether a passage answers a query; None withdraws the judgment.

    Whoever may read a passage may judge it. Raises ``PassageNotFound`` for a chunk that is gone or
    outside the scope, and ``EmptyQuery``.
    """
    normalized = normal(query)
    if not normalized:
        raise EmptyQuery("A judgment needs its query.")
    visible = Chunk.objects.filter(pk=chunk, source__in=Source.objects.visible(scope)).first()
    if visible is None:
        raise PassageNotFound(
            "This passage is no longer there.",
            hint="Its source was re-chunked or removed. Search again and mark the new results.",
        )
    marks = Mark.objects.filter(user=user, query=normalized, source=visible.source_id)
    span = (visible.span_start, visible.span_end)
    stale = {row.pk for row in marks if overlaps((row.span_start, row.span_end), span)}
    if right is not None:
        stored, _ = Mark.objects.update_or_create(
            user=user,
            query=normalized,
            source_id=visible.source_id,
            span_start=visible.span_start,
            span_end=visible.span_end,
            defaults={
                "right": right,
                "start": visible.start,
                "end": visible.end,
                "page": visible.page,
            },
        )
        stale.discard(stored.pk)
    marks.filter(pk__in=stale).delete()


def marks_of(user: User, query: str, passages: Sequence[Candidate]) -> dict[int, bool]:
    """Return a user's judgments of chunks for this query, by the chunk's primary key."""
    sources = {passage.source for passage in passages}
    marks = Mark.objects.filter(user=user, query=normal(query), source__in=sources).order_by("pk")
    judgments: dict[int, bool] = {}
    for source, start, end, right in marks.values_list("source", "span_start", "span_end", "right"):
        judgments |= {
            passage.chunk: right
            for passage in passages
            if passage.source == source
            and overlaps((start, end), (passage.span_start, passage.span_end))
        }
    return judgments


def list_marks(
    scope: Scope,
    user: User,
    *,
    query: str = "",
    right: bool | None = None,
    offset: int = 0,
    limit: int = 25,
) -> MarkPage:
    """List a user's judgments of passages in the scope, latest first.

    ``chunk`` of a mark is the chunk that has most of its passage now; None: it is gone.
    """
    marks = Mark.objects.filter(user=user, source__in=Source.objects.visible(scope))
    if query:
        marks = marks.filter(query=normal(query))
    if right is not None:
        marks = marks.filter(right=right)
    ordered = marks.select_related("source__collection").order_by("-updated_at", "-pk")
    overlapping = Chunk.objects.filter(
        source=OuterRef("source"),
        span_start__lt=OuterRef("span_end"),
        span_end__gt=OuterRef("span_start"),
    )
    ends = (Least("span_end", OuterRef("span_end")), Greatest("span_start", OuterRef("span_start")))
    shared = ExpressionWrapper(ends[0] - ends[1], output_field=IntegerField())
    nearest = overlapping.annotate(shared=shared).order_by("-shared", "ordinal")
    chunk_of_mark = Subquery(nearest.values("pk")[:1])
    rows, following = page_of(ordered.annotate(chunk=chunk_of_mark), offset, limit)
    return MarkPage(marks=rows, total=marks.count(), next=following)


def normal(query: str) -> str:
    """Return a query as it is stored: with single spaces."""
    return " ".join(clean(query, MAX_QUERY_CHARACTERS).split())


def overlaps(left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Tell whether two spans share at least half of either."""
    shared = min(left[1], right[1]) - max(left[0], right[0])
    return shared > 0 and 2 * shared >= min(left[1] - left[0], right[1] - right[0])
