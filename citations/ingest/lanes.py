"""Decide which source is worked on next: see docs/decisions/0013.

Sources of one collection that one person added are a lane. Lanes take turns, short sources come
before long ones, and contexts come last. Within a lane, words come before meaning, and what was
added first comes first.
"""

from typing import Final

from django.db.models import (
    BooleanField,
    Case,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    Subquery,
    When,
    Window,
)
from django.db.models.functions import RowNumber

from citations import conf
from citations.ingest import contextual_costs
from citations.models import Source, SourceQuerySet, State
from transcripts import locks

SHORT: Final = 20_000  # characters: about ten pages, embedded in a few seconds
TIMES_LONGER: Final = 10  # a source gives way to sources that are this many times shorter

_CONTEXTS_ONLY: Final = Q(state=State.READY)


def waiting() -> SourceQuerySet:
    """Return the sources with work that is due, in the order of their turns."""
    if not conf.uses_context():
        return in_turn(Source.objects.waiting())
    unfinished = Q(state__in=(State.PENDING, State.WORDS))
    without_contexts = _CONTEXTS_ONLY & contextual_costs.WITHOUT_CONTEXTS
    return in_turn(Source.objects.due().filter(unfinished | without_contexts))


def in_turn(sources: SourceQuerySet) -> SourceQuerySet:
    """Order sources: the first of each lane, beginning with the lane that was served longest ago;
    then the second of each lane, and so on.
    """
    lane = Source.objects.filter(collection=OuterRef("collection"), begun_at__isnull=False)
    own, nobodys = lane.filter(added_by=OuterRef("added_by")), lane.filter(added_by=None)
    latest = [
        Subquery(rows.order_by("-begun_at").values("begun_at")[:1]) for rows in (own, nobodys)
    ]
    classes = {"only_contexts": _boolean(_CONTEXTS_ONLY), "is_long": _boolean(Q(size__gt=SHORT))}
    return sources.annotate(
        **classes,
        turn=Window(
            RowNumber(),
            partition_by=[*classes, "collection", "added_by"],
            order_by=[_boolean(~Q(state=State.PENDING)), "pk"],
        ),
        served_at=Case(When(added_by=None, then=latest[1]), default=latest[0]),
    ).order_by(*classes, "turn", F("served_at").asc(nulls_first=True), "pk")


def next_short() -> Source | None:
    """Return the next short source that no search, or only a search by words, finds yet."""
    return _next(waiting().exclude(_CONTEXTS_ONLY).filter(size__lte=SHORT))


def next_source() -> Source | None:
    """Return the next source for a thread that may work for long: long sources first, since short
    ones have ways of their own.
    """
    long = waiting().exclude(_CONTEXTS_ONLY).filter(size__gt=SHORT)
    return _next(long) or _next(waiting())


def next_beside(source: Source) -> Source | None:
    """Return the next source to which this one, which is being worked on, gives way."""
    others = waiting().exclude(_CONTEXTS_ONLY)
    if source.state == State.READY:  # only its contexts are missing
        return _next(others)
    if source.size <= SHORT:
        return None
    return _next(others.filter(size__lte=max(SHORT, source.size // TIMES_LONGER)))


def _next(sources: SourceQuerySet) -> Source | None:
    """Return the first source that no thread or process works on."""
    return sources.exclude(pk__in=locks.held(Source.LOCK)).first()


def _boolean(condition: Q) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(condition, output_field=BooleanField())
