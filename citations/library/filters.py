"""Narrow a search: the caller's scope, restricted by a filter, and the values to filter by."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import reduce
from operator import or_
from typing import Any, Self

from django.db import connection
from django.db.models import Count, Exists, Func, OuterRef, Q, QuerySet, TextField
from django.utils import timezone
from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from citations.errors import InvalidFilter, SourceNotFound
from citations.formats import KINDS
from citations.models import Chunk, Source, SourceQuerySet
from citations.schemas.filters import COLORS, MAX_VALUES, FilterIn
from transcripts.core.alphabet import alphabet_key
from transcripts.core.errors import InvalidUrl
from transcripts.core.languages import code_of
from transcripts.core.lists import tagged
from transcripts.core.sanitize import clean, is_uuid
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.timecodes import milliseconds, parse_target

FOREVER = 1 << 62  # ms
MAX_NAME = 200  # characters
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


class CheckedFilter(BaseModel):
    """A filter that a use case takes. Raises ``InvalidFilter`` for what its parts cannot be."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @model_validator(mode="wrap")
    @classmethod
    def refuse(cls, values: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Say what is wrong as the library does; a door that validates by itself has done so."""
        try:
            return read(values)
        except ValidationError as error:
            raise _refusal(error.errors(include_url=False)[0], [*cls.model_fields]) from None

    @classmethod
    def of(cls, given: BaseModel) -> Self:
        """Return the filter of what a door was given."""
        names = given.model_fields_set & cls.model_fields.keys()
        return cls(**{name: getattr(given, name) for name in names})


class Filter(FilterIn, CheckedFilter):
    """Values to restrict sources and passages by; an empty part restricts nothing.

    Any value of a part matches, and all parts must match. ``sources`` takes ids of sources or
    videos and YouTube addresses. ``languages`` takes names, too, and "en" for "en-GB". ``since``
    and ``until`` are days of publication, both included. ``start`` and ``end`` are seconds in
    recordings; overlapping passages match. ``keys`` are primary keys of sources (None: all).
    ``span`` is a section of the only source, as characters; only evidence for answers heeds it.
    """

    keys: frozenset[int] | None = None
    span: tuple[int, int] | None = None

    def given(self) -> dict[str, Any]:
        """Return what restricts, by the names and as the values that addresses have."""
        return self.model_dump(
            mode="json", by_alias=True, exclude_defaults=True, exclude={"keys", "span"}
        )

    @property
    def narrows_sources(self) -> bool:
        return self.model_copy(update={"start": None, "end": None, "span": None}) != Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFilter:
    """A resolved filter: source keys (None: all), their number of chunks, and which passages: of
    these ``speakers`` (none: of all), in a time range (ms).

    Statistics are those of the ``readable`` collections (None: of everything, for callers from whom
    nothing is hidden), whether or not the filter ``narrows_sources`` to some of theirs.
    """

    sources: frozenset[int] | None
    chunks: int
    speakers: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    readable: frozenset[int] | None = None
    narrows_sources: bool = True

    @property
    def is_empty(self) -> bool:
        return self.chunks == 0

    @property
    def narrows_passages(self) -> bool:
        return bool(self.speakers) or self.start is not None or self.end is not None

    def passages_sql(self, chunk: str) -> str:
        """Return the SQL condition of its passages, with ``passage_values``; ``chunk`` is the
        name of the table of chunks.
        """
        conditions = ["TRUE"]
        if self.speakers:
            conditions.append(f"{chunk}.speaker = ANY(%(speakers)s)")
        if self.start is not None or self.end is not None:
            conditions.append(f'{chunk}."end" > %(start)s AND {chunk}.start < %(end)s')
        return " AND ".join(conditions)

    @property
    def passage_values(self) -> dict[str, Any]:
        start = self.start or 0
        end = FOREVER if self.end is None else max(self.end, start + 1)
        return {"speakers": [*self.speakers], "start": start, "end": end}


def resolve(scope: Scope, filter: Filter) -> ResolvedFilter:
    """Look up a filter.

    Raises ``InvalidFilter``, ``SourceNotFound`` and ``CollectionNotFound`` for values that the
    caller cannot see.
    """
    if filter.since and filter.until and filter.since > filter.until:
        raise InvalidFilter("The first day is after the last.", hint="Swap them.")
    if filter.start is not None and filter.end is not None and filter.start > filter.end:
        raise InvalidFilter("The time range ends before it starts.", hint="Swap its times.")
    chunks, hides = _count_readable(scope)
    sources = None
    speakers: tuple[str, ...] = ()
    # Callers who see every chunk search the whole index, without a list of sources.
    if hides or filter.narrows_sources:
        indexed = matching(scope, filter).filter(chunk_count__gt=0)
        counts = dict(indexed.values_list("pk", "chunk_count"))
        sources, chunks = frozenset(counts), sum(counts.values())
    if filter.speakers:
        said = _said_by(filter.speakers).filter(source__in=sources or ())
        speakers = tuple(said.order_by().values_list("speaker", flat=True).distinct())
    return ResolvedFilter(
        sources=sources,
        chunks=chunks,
        speakers=speakers,
        start=milliseconds(filter.start),
        end=milliseconds(filter.end),
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
    return sources.filter(*_conditions(filter))


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


def _refusal(problem: ErrorDetails, names: Sequence[str]) -> InvalidFilter:
    part, value = str(problem["loc"][0]), problem["input"]
    if problem["type"] == "extra_forbidden":
        return InvalidFilter(
            f"There is no filter “{clean(part, 40)}”.", hint=f"Filters: {', '.join(names)}."
        )
    if problem["type"] == "too_long":
        most, count = MAX_VALUES, len(value)
        return InvalidFilter(f"A filter takes at most {most} values of one kind, not {count}.")
    if problem["type"] == "literal_error" and part == "color":
        return InvalidFilter(
            f"There is no colour “{clean(value, 40)}”.", hint=f"Colours: {', '.join(COLORS)}."
        )
    if problem["type"] == "literal_error":
        return InvalidFilter(
            f"There is no kind “{clean(value, 40)}”.", hint=f"Kinds: {', '.join(KINDS)}."
        )
    return InvalidFilter(f"{part}: {problem['msg']}.", hint="Correct or remove this filter.")


def _conditions(filter: Filter) -> Iterator[Q]:
    if filter.kinds:
        yield Q(kind__in=filter.kinds)
    if filter.channels:
        yield _is_any("author", filter.channels)
    if filter.tags:
        yield reduce(or_, map(tagged, filter.tags))
    if filter.languages:
        yield reduce(or_, map(in_language, filter.languages))
    if filter.speakers:
        yield Q(Exists(_said_by(filter.speakers).filter(source=OuterRef("pk"))))
    if filter.since:
        yield Q(published_at__gte=_moment(filter.since, time.min))
    if filter.until:
        yield Q(published_at__lte=_moment(filter.until, time.max))


def _said_by(speakers: Iterable[str]) -> QuerySet[Chunk]:
    """Return what speakers say alone: the index has only chunks with a speaker."""
    return Chunk.objects.exclude(speaker="").filter(_is_any("speaker", speakers))


def _is_any(field: str, names: Iterable[str]) -> Q:
    return reduce(or_, (Q(**{f"{field}__iexact": clean(name, MAX_NAME)}) for name in names))


def _moment(day: date, clock: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, clock))


# Facets


Values = tuple[tuple[str, str], ...]  # each with its name


def facets(scope: Scope) -> dict[str, Values]:
    """Return the ``MAX_FACETS`` most common values of parts of a filter, in alphabetical order;
    languages by how common they are.
    """
    visible = Source.objects.visible(scope)
    said = Chunk.objects.filter(source__in=visible)
    values = {
        "kinds": sorted(_most_common(visible, "kind"), key=alphabet_key),
        "channels": sorted(_most_common(visible, "author"), key=alphabet_key),
        "tags": tags(scope),
        "languages": languages_of(scope),
        "speakers": sorted(_most_common(said, "speaker"), key=alphabet_key),
    }
    named = {part: tuple((value, value) for value in own) for part, own in values.items()}
    return {"collections": collections_of(scope), **named}


def collections_of(scope: Scope) -> Values:
    return tuple((row.slug, row.title) for row in Collection.objects.visible(scope))


def languages_of(scope: Scope) -> tuple[str, ...]:
    """Return the languages of visible sources, the most common first."""
    return _most_common(Source.objects.visible(scope), "language")


def _most_common(rows: QuerySet[Any], field: str) -> tuple[str, ...]:
    counts = rows.exclude(**{field: ""}).order_by().values_list(field).annotate(count=Count("pk"))
    return tuple(value for value, _ in counts.order_by("-count", field)[:MAX_FACETS])


def tags(scope: Scope, *, words: str = "", limit: int = MAX_FACETS) -> list[str]:
    """Return the tags that have every one of ``words``, in alphabetical order."""
    tag = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    tagged = Source.objects.visible(scope).exclude(tags=[]).order_by().annotate(tag=tag)
    names = sorted(tagged.values_list("tag", flat=True).distinct(), key=alphabet_key)
    parts = words.casefold().split()
    return [name for name in names if all(word in name.casefold() for word in parts)][:limit]
