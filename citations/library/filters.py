"""Narrow a search: the caller's scope, restricted by a filter, and the values to filter by."""

from dataclasses import dataclass
from datetime import date, datetime, time
from functools import reduce
from operator import or_

from django.db import connection
from django.db.models import Count, Func, Q, TextField
from django.utils import timezone

from citations.errors import InvalidFilter, SourceNotFound
from citations.formats import KINDS
from citations.models import Source, SourceQuerySet
from transcripts.core.alphabet import alphabet_key
from transcripts.core.errors import InvalidUrl
from transcripts.core.languages import code_of
from transcripts.core.lists import tagged
from transcripts.core.sanitize import clean, is_uuid
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.timecodes import parse_target

MAX_VALUES = 100  # of one part of a filter
MAX_FACETS = 200  # values of one kind
# Raw SQL, because every search runs it and the ORM would take longer than the database.
_COUNT = """
    SELECT coalesce(sum(chunk_count) FILTER (WHERE is_visible), 0),
        coalesce(bool_or(NOT is_visible), false)
    FROM (
        SELECT chunk_count,
            collection_id = ANY(%(readable)s) AND deletion IS NULL AS is_visible
        FROM citations_source
    ) AS every
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Values to restrict sources by; an empty part restricts nothing.

    Any value of a part matches, and all parts must match. ``sources`` takes ids of sources or
    videos and YouTube addresses. ``languages`` takes names, too, and "en" for "en-GB". ``since``
    and ``until`` are days of publication, both included. ``start`` and ``end`` are milliseconds in
    recordings; overlapping passages match. ``keys`` are primary keys of sources (None: all).
    ``span`` is a section of the only source, as characters; only evidence for answers heeds it.
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
    span: tuple[int, int] | None = None

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The parts that take several values."""
        named = (self.collections, self.sources, self.kinds, self.channels)
        return (*named, self.tags, self.languages)

    @property
    def narrows_sources(self) -> bool:
        dates = self.since or self.until
        return any(self.values) or dates is not None or self.keys is not None

    @property
    def narrows_time(self) -> bool:
        return self.start is not None or self.end is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFilter:
    """A resolved filter: source keys (None: all), their number of chunks, and a time range (ms).

    Statistics are those of the ``readable`` collections (None: of everything, for callers from whom
    nothing is hidden), whether or not the filter ``narrows_sources`` to some of theirs.
    """

    sources: frozenset[int] | None
    chunks: int
    start: int | None = None
    end: int | None = None
    readable: frozenset[int] | None = None
    narrows_sources: bool = True

    @property
    def is_empty(self) -> bool:
        return self.chunks == 0

    @property
    def narrows_time(self) -> bool:
        return self.start is not None or self.end is not None


def resolve(scope: Scope, filter: Filter) -> ResolvedFilter:
    """Look up a filter.

    Raises ``InvalidFilter``, ``SourceNotFound`` and ``CollectionNotFound`` for values that the
    caller cannot see.
    """
    _check(filter)
    chunks, hides = _count_readable(scope)
    sources = None
    # Callers who see every chunk search the whole index, without a list of sources.
    if hides or filter.narrows_sources:
        indexed = matching(scope, filter).filter(chunk_count__gt=0)
        counts = dict(indexed.values_list("pk", "chunk_count"))
        sources, chunks = frozenset(counts), sum(counts.values())
    return ResolvedFilter(
        sources=sources,
        chunks=chunks,
        start=filter.start,
        end=filter.end,
        readable=scope.readable if hides else None,
        narrows_sources=filter.narrows_sources,
    )


def matching(scope: Scope, filter: Filter) -> SourceQuerySet:
    """Return the visible sources that match. Raises as ``resolve`` does."""
    sources = Source.objects.visible(scope)
    if filter.collections:
        visible = Collection.objects.visible(scope)
        sources = sources.filter(
            collection__in=[visible.named(name).pk for name in filter.collections]
        )
    if filter.sources:
        keys = [pk for reference in filter.sources for pk in _find_keys(scope, reference)]
        sources = sources.filter(pk__in=keys)
    if filter.keys is not None:
        sources = sources.filter(pk__in=filter.keys)
    if filter.kinds:
        sources = sources.filter(kind__in=filter.kinds)
    if filter.channels:
        names = (Q(author__iexact=clean(name, 200)) for name in filter.channels)
        sources = sources.filter(reduce(or_, names))
    if filter.tags:
        sources = sources.filter(reduce(or_, map(tagged, filter.tags)))
    if filter.languages:
        sources = sources.filter(reduce(or_, map(in_language, filter.languages)))
    return _dated(sources, filter)


def find_source(scope: Scope, reference: str, *, write: bool = False) -> Source:
    """Return the source with this id, or the first of that video.

    Raises ``SourceNotFound``, and ``Forbidden`` if read-only.
    """
    sources = Source.objects.select_related("video__media", "collection")
    source = sources.get(pk=_find_keys(scope, reference)[0])
    if write:
        scope.require_write(source.collection_id)
    return source


def in_language(language: str) -> Q:
    """Return the condition of rows in a language, by its name or code, or in a variant of it."""
    code = code_of(clean(language, 35))
    return Q(language__iexact=code) | Q(language__istartswith=f"{code}-")


def _count_readable(scope: Scope) -> tuple[int, bool]:
    """Count the chunks of readable collections, and tell whether others have sources.

    A video counts where its source still is, for the moment until that has moved, too.
    """
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"readable": [*scope.readable]})
        chunks, hides = cursor.fetchone()
    return chunks, hides


def _find_keys(scope: Scope, reference: str) -> list[int]:
    text = clean(reference, 500).strip()
    visible = Source.objects.visible(scope).order_by("pk").values_list("pk", flat=True)
    keys = list(visible.filter(uuid=text)) if is_uuid(text) else []
    names = (text, _video_id(text))
    keys = keys or list(visible.filter(Q(video__key__in=names) | Q(video__youtube_id__in=names)))
    if not text or not keys:
        raise SourceNotFound(f"There is no source “{text[:80]}”.")
    return keys


def _video_id(text: str) -> str:
    """Return the video id of an address, or the text itself."""
    try:
        target = parse_target(text)
    except InvalidUrl:
        return text
    return target.id if target.kind == "video" else text


def _check(filter: Filter) -> None:
    most = max(map(len, filter.values))
    if most > MAX_VALUES:
        raise InvalidFilter(f"A filter takes at most {MAX_VALUES} values of one kind, not {most}.")
    unknown = [kind for kind in filter.kinds if kind not in KINDS]
    if unknown:
        raise InvalidFilter(
            f"There is no kind “{clean(unknown[0], 40)}”.", hint=f"Kinds: {', '.join(KINDS)}."
        )
    if filter.since and filter.until and filter.since > filter.until:
        raise InvalidFilter("The first day is after the last.", hint="Swap them.")
    if filter.start is not None and filter.end is not None and filter.start > filter.end:
        raise InvalidFilter("The time range ends before it starts.", hint="Swap its times.")


def _dated(sources: SourceQuerySet, filter: Filter) -> SourceQuerySet:
    if filter.since:
        sources = sources.filter(published_at__gte=_moment(filter.since, time.min))
    if filter.until:
        sources = sources.filter(published_at__lte=_moment(filter.until, time.max))
    return sources


def _moment(day: date, clock: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, clock))


# Facets


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """Values in the order of display; ``collections`` are pairs (slug, title)."""

    collections: tuple[tuple[str, str], ...] = ()
    kinds: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


def facets(scope: Scope) -> Facets:
    """Return the ``MAX_FACETS`` most common values of each kind, in alphabetical order; languages
    by how common they are.
    """
    return Facets(
        collections=tuple((row.slug, row.title) for row in Collection.objects.visible(scope)),
        kinds=_common(scope, "kind"),
        channels=_common(scope, "author"),
        tags=tuple(tags(scope)),
        languages=languages_of(scope),
    )


def languages_of(scope: Scope) -> tuple[str, ...]:
    """Return the languages of visible sources, the most common first."""
    return _by_count(scope, "language")


def _common(scope: Scope, field: str) -> tuple[str, ...]:
    return tuple(sorted(_by_count(scope, field), key=alphabet_key))


def _by_count(scope: Scope, field: str) -> tuple[str, ...]:
    sources = Source.objects.visible(scope).exclude(**{field: ""}).order_by()
    rows = sources.values_list(field).annotate(count=Count("pk")).order_by("-count", field)
    return tuple(value for value, _ in rows[:MAX_FACETS])


def tags(scope: Scope, *, words: str = "", limit: int = MAX_FACETS) -> list[str]:
    """Return the tags that have every one of ``words``, in alphabetical order."""
    tag = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    tagged = Source.objects.visible(scope).exclude(tags=[]).order_by().annotate(tag=tag)
    names = sorted(tagged.values_list("tag", flat=True).distinct(), key=alphabet_key)
    return [name for name in names if _has_words(name, words)][:limit]


def _has_words(name: str, words: str) -> bool:
    return all(word in name.casefold() for word in words.casefold().split())
