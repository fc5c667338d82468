"""Decide which source is worked on next: see docs/decisions/0013.

Sources of one collection that one person added are a lane. Lanes take turns, what somebody opened
or put first comes before the others, short sources before long ones, and contexts come last. Within
a lane, what was opened last comes first, then words before meaning, and older sources before newer.
"""

from typing import Final

from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.db.models.functions import Now

from citations import conf
from citations.ingest import contextual
from citations.models import UNFINISHED, Source, SourceQuerySet, State
from transcripts.core import locks
from transcripts.core.work import models as work

SHORT_SOURCE: Final = 20_000  # characters: about ten pages, embedded in a few seconds
TIMES_LONGER: Final = 10  # a source gives way to sources that are this many times shorter
WANTED_TIMES_LONGER: Final = 2  # the same of two sources that were both opened

_READY: Final = Q(state=State.READY)  # only contexts or some vectors are missing
_UNWANTED: Final = Q(wanted_at=None)


def waiting() -> SourceQuerySet:
    """Return the sources with work that is due, in the order of their turns."""
    incomplete = Q(run_after__isnull=False)  # it lacks vectors or contexts that could not be made
    if conf.uses_context():
        incomplete |= contextual.WITHOUT_CONTEXTS
    unfinished = Q(state__in=UNFINISHED)
    return in_turn(Source.objects.due().filter(unfinished | _READY & incomplete))


def in_turn(sources: SourceQuerySet) -> SourceQuerySet:
    """Order sources: what no search finds yet before contexts, what was opened before the others,
    short before long, by turns.
    """
    classes = {
        "is_ready": _boolean(_READY),
        "is_unwanted": _boolean(_UNWANTED),
        "is_long": _boolean(Q(size__gt=SHORT_SOURCE)),
    }
    return work.in_turn(
        sources.annotate(**classes),
        classes=list(classes),
        started=Source.objects.all(),
        names=("added_by", "begun_at"),
        within=(F("wanted_at").desc(nulls_last=True), _boolean(~Q(state=State.PENDING)), "pk"),
    )


def put_first(sources: SourceQuerySet) -> int:
    """Have those that wait worked on before all others from now on; return how many they are."""
    return sources.filter(state__in=UNFINISHED).update(wanted_at=Now())


def next_short() -> Source | None:
    """Return the next short source that no search, or only a search by words, finds yet."""
    return _next(_unfinished().filter(size__lte=SHORT_SOURCE))


def next_source() -> Source | None:
    """Return the next source for a thread that may work for long: what was opened, then long
    sources, since short ones have ways of their own.
    """
    opened, long = _unfinished().exclude(_UNWANTED), _unfinished().filter(size__gt=SHORT_SOURCE)
    return _next(opened) or _next(long) or _next(waiting())


def next_beside(source: Source | None) -> Source | None:
    """Return the source that may be ingested before work on ``source`` continues; None if it is
    to continue at once. Without a source, the work that waits is long and not an ingest.

    Contexts wait for any source, a long source for one ``TIMES_LONGER`` shorter or one that was
    opened, and a long source that was opened for another ``WANTED_TIMES_LONGER`` shorter; a short
    source waits for none. As each is much shorter than the one that waits for it, but for the first
    that was opened, only a few are in work at once.
    """
    others, is_opened = _unfinished(), ~_UNWANTED
    if source is None:
        return _next(others.filter(Q(size__lte=SHORT_SOURCE) | is_opened))
    if source.state == State.READY:
        return _next(others)
    if source.size <= SHORT_SOURCE:
        return None
    if Source.objects.filter(is_opened, pk=source.pk).exists():  # perhaps since its work began
        half = source.size // WANTED_TIMES_LONGER
        return _next(others.filter(is_opened, size__lte=max(SHORT_SOURCE, half)))
    is_shorter = Q(size__lte=max(SHORT_SOURCE, source.size // TIMES_LONGER))
    return _next(others.filter(is_shorter | is_opened))


def _unfinished() -> SourceQuerySet:
    return waiting().exclude(_READY)


def _next(sources: SourceQuerySet) -> Source | None:
    """Return the first source that no thread or process works on."""
    return sources.exclude(pk__in=locks.held_keys(Source.LOCK)).first()


def _boolean(condition: Q) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(condition, output_field=BooleanField())
