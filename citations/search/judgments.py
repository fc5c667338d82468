"""Verdicts on what a search found: right or wrong, by one person for one query. They are anchored to the text, so that they survive cutting it anew."""

from collections.abc import Iterable
from typing import Protocol

from django.contrib.auth.models import User

from citations.errors import PassageNotFound
from citations.models import Chunk, Mark, Source
from transcripts.errors import EmptyQuery
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS


class TextLocation(Protocol):
    """A piece of a source's text."""

    @property
    def chunk(self) -> int:
        """The chunk's primary key."""

    @property
    def source(self) -> int:
        """The source's primary key."""

    @property
    def span_start(self) -> int:
        """Where it begins, in characters of the source's text."""

    @property
    def span_end(self) -> int:
        """Where it ends."""


def mark(scope: Scope, user: User, query: str, chunk: int, *, right: bool | None) -> None:
    """Note whether a passage answers a query; None takes the verdict back. Whoever may read a passage may mark it.

    Raises ``PassageNotFound`` for a chunk that is gone or outside the scope, ``EmptyQuery``.
    """
    asked = normal(query)
    if not asked:
        raise EmptyQuery("A verdict needs the query that it is for.")
    found = Chunk.objects.filter(pk=chunk, source__in=Source.objects.visible(scope)).first()
    if found is None:
        raise PassageNotFound(
            "This passage is no longer there.",
            hint="Its source was cut anew, or removed. Search again, and mark what is found now.",
        )
    mine = Mark.objects.filter(user=user, query=asked, source=found.source_id)
    stale = [
        one.pk
        for one in mine
        if overlaps((one.span_start, one.span_end), (found.span_start, found.span_end))
    ]
    if right is not None:
        kept = _store(user, asked, found, right)
        stale = [pk for pk in stale if pk != kept]
    mine.filter(pk__in=stale).delete()


def marks_of(user: User, query: str, places: Iterable[TextLocation]) -> dict[int, bool]:
    """Return a user's verdicts on chunks for this query, by the chunk's primary key."""
    shown = list(places)
    mine = Mark.objects.filter(
        user=user, query=normal(query), source__in={one.source for one in shown}
    ).order_by("pk")
    verdicts: dict[int, bool] = {}
    for source, start, end, right in mine.values_list("source", "span_start", "span_end", "right"):
        verdicts |= {
            one.chunk: right
            for one in shown
            if one.source == source and overlaps((start, end), (one.span_start, one.span_end))
        }
    return verdicts


def normal(query: str) -> str:
    """Return a query as it is kept: line breaks and runs of blanks are one blank."""
    return " ".join(clean(query, MAX_QUERY_CHARACTERS).split())


def overlaps(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Say whether two spans share at least half of either: the rule by which a hit counts as the place that is meant."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared > 0 and 2 * shared >= min(one[1] - one[0], other[1] - other[0])


def _store(user: User, query: str, chunk: Chunk, right: bool) -> int:
    stored, _ = Mark.objects.update_or_create(
        user=user,
        query=query,
        source_id=chunk.source_id,
        span_start=chunk.span_start,
        span_end=chunk.span_end,
        defaults={"right": right, "start": chunk.start, "end": chunk.end, "page": chunk.page},
    )
    return stored.pk
