"""Decide which source is worked on next: see docs/decisions/0013.

Sources of one collection that one person added are a lane. Lanes take turns, short sources come
before long ones, and contexts come last. Within a lane, words come before meaning, and older
sources before newer ones.
"""

from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, Q

from citations import conf
from citations.ingest import contextual_costs
from citations.models import Source, SourceQuerySet, State
from transcripts import locks
from transcripts.work import lanes

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
    """Order sources: what no search finds yet before contexts, short before long, by turns."""
    classes = {"only_contexts": _boolean(_CONTEXTS_ONLY), "is_long": _boolean(Q(size__gt=SHORT))}
    return lanes.in_turn(
        sources.annotate(**classes),
        classes=list(classes),
        started=Source.objects.all(),
        names=("added_by", "begun_at"),
        within=(_boolean(~Q(state=State.PENDING)), "pk"),
    )


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
    return sources.exclude(pk__in=locks.held_keys(Source.LOCK)).first()


def _boolean(condition: Q) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(condition, output_field=BooleanField())
