"""Which part of the library a search may look at: the caller's scope, narrowed by what they ask for."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from citations.errors import InvalidFilter, SourceNotFound
from citations.models import Source, SourceKind, SourceQuerySet
from transcripts.errors import InvalidUrl
from transcripts.models import Collection
from transcripts.sanitize import clean, is_uuid
from transcripts.scope import Scope
from transcripts.timecodes import parse_target

MAX_VALUES = 100  # of one part of a filter
# Written out, because every search asks it, and putting it together would take longer than answering it.
_COUNT = "SELECT coalesce(sum(chunk_count), 0), coalesce(sum(chunk_count) FILTER (WHERE collection_id = ANY(%s)), 0) FROM citations_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What is looked at; empty parts leave all. Within a part any of the values will do, the parts must all hold.

    ``sources`` takes a source's id, a video's id, or its address on YouTube; ``languages`` takes "en" for "en-GB" too; ``since`` and ``until`` are days of
    publication (both included); ``start`` and ``end`` are milliseconds within a recording: what overlaps them is looked at. ``keys`` are primary keys of
    sources that somebody has looked up already; None: all.
    """

    collections: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    start: int | None = None
    end: int | None = None
    keys: frozenset[int] | None = None

    @property
    def narrows_sources(self) -> bool:
        """Whether it leaves any source out."""
        parts = (
            self.collections,
            self.sources,
            self.kinds,
            self.channels,
            self.tags,
            self.languages,
            self.since,
            self.until,
        )
        return any(parts) or self.keys is not None

    @property
    def narrows_time(self) -> bool:
        """Whether it leaves out parts of recordings."""
        return self.start is not None or self.end is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFilter:
    """A filter within a scope, looked up: the sources (primary keys; None: every one there is), how many chunks they have, and the time range (ms)."""

    sources: frozenset[int] | None
    chunks: int
    start: int | None = None
    end: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look at."""
        return self.chunks == 0

    @property
    def narrows_time(self) -> bool:
        """Whether chunks have to be looked at one by one."""
        return self.start is not None or self.end is not None


def resolve(scope: Scope, filter: Filter) -> ResolvedFilter:
    """Look a filter up. Raises ``InvalidFilter``, ``SourceNotFound`` and ``CollectionNotFound`` for values that name nothing the caller can see."""
    _check(filter)
    total, visible = _chunks(scope)
    # Whoever sees every chunk there is needs no list of sources: what is searched then is the whole index.
    if visible == total and not filter.narrows_sources:
        return ResolvedFilter(sources=None, chunks=total, start=filter.start, end=filter.end)
    rows = list(matching(scope, filter).filter(chunk_count__gt=0).values_list("pk", "chunk_count"))
    return ResolvedFilter(
        sources=frozenset(pk for pk, _ in rows),
        chunks=sum(count for _, count in rows),
        start=filter.start,
        end=filter.end,
    )


def matching(scope: Scope, filter: Filter) -> SourceQuerySet:
    """Return the visible sources that a filter leaves. Raises ``SourceNotFound`` and ``CollectionNotFound``."""
    found = Source.objects.visible(scope)
    if filter.collections:
        shelves = Collection.objects.visible(scope)
        found = found.filter(collection__in=[shelves.named(name).pk for name in filter.collections])
    if filter.sources:
        found = found.filter(
            pk__in=[pk for reference in filter.sources for pk in _referred(scope, reference)]
        )
    if filter.keys is not None:
        found = found.filter(pk__in=filter.keys)
    if filter.kinds:
        found = found.filter(kind__in=filter.kinds)
    if filter.channels:
        found = found.filter(_any(Q(author__iexact=clean(name, 200)) for name in filter.channels))
    if filter.tags:
        found = found.filter(_any(Q(tags__contains=[clean(tag, 100)]) for tag in filter.tags))
    if filter.languages:
        found = found.filter(_any(_language(code) for code in filter.languages))
    return _dated(found, filter)


def find_source(scope: Scope, reference: str) -> Source:
    """Return the visible source of this id, or of this video's id (its first language, where there are several). Raises ``SourceNotFound``."""
    return Source.objects.select_related("video", "collection").get(
        pk=_referred(scope, reference)[0]
    )


def _chunks(scope: Scope) -> tuple[int, int]:
    """Count all chunks, and those in readable collections. What a source hides beyond that, as its video was moved a moment ago, is sorted out later."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [list(scope.readable)])
        total, visible = cursor.fetchone()
    return total, visible


def _referred(scope: Scope, reference: str) -> list[int]:
    text = clean(reference, 500).strip()
    visible = Source.objects.visible(scope).order_by("pk")
    found = list(visible.filter(uuid=text).values_list("pk", flat=True)) if is_uuid(text) else []
    names = (text, _video_id(text))
    found = found or list(
        visible.filter(Q(video__key__in=names) | Q(video__youtube_id__in=names)).values_list(
            "pk", flat=True
        )
    )
    if not text or not found:
        raise SourceNotFound(f"There is no source “{text[:80]}”.")
    return found


def _video_id(text: str) -> str:
    """Return the id of the video whose address this is; anything else stays as it is."""
    try:
        target = parse_target(text)
    except InvalidUrl:
        return text
    return target.id if target.kind == "video" else text


def _check(filter: Filter) -> None:
    for values in (
        filter.collections,
        filter.sources,
        filter.kinds,
        filter.channels,
        filter.tags,
        filter.languages,
    ):
        if len(values) > MAX_VALUES:
            raise InvalidFilter(
                f"A filter takes at most {MAX_VALUES} values of one kind; these are {len(values)}."
            )
    unknown = [kind for kind in filter.kinds if kind not in SourceKind.values]
    if unknown:
        raise InvalidFilter(
            f"There is no kind “{clean(unknown[0], 40)}”.",
            hint=f"Kinds: {', '.join(SourceKind.values)}.",
        )
    if filter.since and filter.until and filter.since > filter.until:
        raise InvalidFilter("The first day lies after the last.", hint="Exchange the two.")
    if filter.start is not None and filter.end is not None and filter.start > filter.end:
        raise InvalidFilter("The time range ends before it starts.", hint="Exchange the two.")


def _any(conditions: Iterable[Q]) -> Q:
    result = Q()
    for condition in conditions:
        result |= condition
    return result


def _language(code: str) -> Q:
    code = clean(code, 35).strip()
    return Q(language__iexact=code) | Q(language__istartswith=f"{code}-")


def _dated(found: SourceQuerySet, filter: Filter) -> SourceQuerySet:
    if filter.since:
        found = found.filter(published_at__gte=_midnight(filter.since))
    if filter.until:
        found = found.filter(
            published_at__lte=timezone.make_aware(datetime.combine(filter.until, time.max))
        )
    return found


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
