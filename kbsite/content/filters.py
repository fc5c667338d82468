"""The filters of the resources, with the operators of Strapi.

Filters refer by slug, id or name, as numbers have bounds to exceed.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import django_filters as filters
from django.core.exceptions import ValidationError as FormError
from django.db.models import Exists, OuterRef, QuerySet
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field

from transcripts.models import FeedEntry, Transcript, Video

# Operator -> Django's lookup, and whether it is negated.
OPERATORS: Final[Mapping[str, tuple[str, bool]]] = {
    "$eq": ("exact", False),
    "$ne": ("exact", True),
    "$eqi": ("iexact", False),
    "$in": ("in", False),
    "$notIn": ("in", True),
    "$contains": ("contains", False),
    "$notContains": ("contains", True),
    "$containsi": ("icontains", False),
    "$notContainsi": ("icontains", True),
    "$startsWith": ("startswith", False),
    "$endsWith": ("endswith", False),
    "$lt": ("lt", False),
    "$lte": ("lte", False),
    "$gt": ("gt", False),
    "$gte": ("gte", False),
    "$null": ("isnull", False),
}
_OF_TEXT: Final = (
    *("$eq", "$ne", "$eqi", "$in", "$notIn", "$contains", "$notContains", "$containsi"),
    *("$notContainsi", "$startsWith", "$endsWith"),
)
_OF_SIZE: Final = ("$eq", "$ne", "$lt", "$lte", "$gt", "$gte")


class Texts(filters.BaseInFilter, filters.CharFilter):
    """Texts, separated by commas."""


@extend_schema_field({"type": "number", "description": "Seconds."})
class SecondsFilter(filters.NumberFilter):
    """A number of seconds, of a column of milliseconds."""

    def filter(self, queryset: QuerySet[Any], value: Any) -> QuerySet[Any]:
        filtered: QuerySet[Any] = super().filter(queryset, self.stored(value))
        return filtered

    @staticmethod
    def stored(value: Any) -> int | None:
        """Return a number of seconds as it is stored."""
        return None if value is None else round(value * 1000)


class UtcField(IsoDateTimeField):
    """A moment; PostgreSQL refuses offsets from UTC that ISO 8601 allows."""

    def to_python(self, value: Any) -> datetime | None:
        moment: datetime | None = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError:
            raise FormError(self.error_messages["invalid"], code="invalid") from None


class Moment(filters.IsoDateTimeFilter):
    field_class = UtcField


# Kind of a field -> the filter of one value, and the operators.
TEXT: Final = (filters.CharFilter, _OF_TEXT)
NUMBER: Final = (filters.NumberFilter, _OF_SIZE)
DURATION: Final = (SecondsFilter, _OF_SIZE)
TIME: Final = (Moment, (*_OF_SIZE, "$null"))
Kind = tuple[type[filters.Filter], tuple[str, ...]]


class Filters(filters.FilterSet):
    """Filters by name, and ``filters[field][$operator]`` of the fields that are ``compared``."""

    compared: ClassVar[Mapping[str, Kind]] = {}
    base_filters: dict[str, filters.Filter]

    def __init__(self, data: Mapping[str, str], **options: Any) -> None:
        # The library copies each filter for each request: fifty, of which one or two are asked for.
        self.base_filters = {
            name: named for name, named in type(self).base_filters.items() if name in data
        }
        super().__init__(data, **options)

    @classmethod
    def get_filters(cls) -> dict[str, filters.Filter]:
        comparisons = (_comparisons(name, *kind) for name, kind in cls.compared.items())
        named: dict[str, filters.Filter] = super().get_filters()
        return named | {
            name: field_filter for comparison in comparisons for name, field_filter in comparison
        }


def _comparisons(
    field: str, kind: type[filters.Filter], operators: Iterable[str]
) -> Iterator[tuple[str, filters.Filter]]:
    for operator in operators:
        lookup, is_negated = OPERATORS[operator]
        filter_class = {"in": Texts, "isnull": filters.BooleanFilter}.get(lookup, kind)
        name = f"filters[{field}][{operator}]"
        yield name, filter_class(field_name=field, lookup_expr=lookup, exclude=is_negated)


class Tagged(Filters):
    """Filters that videos and sources share."""

    collection = filters.CharFilter(field_name="collection__slug")
    tag = filters.CharFilter(method="with_tag")
    compared = {"title": TEXT, "published_at": TIME, "created_at": TIME, "updated_at": TIME}

    def with_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return queryset.filter(tags__contains=[value])


class VideoFilters(Tagged):
    id = filters.CharFilter(field_name="key")
    youtube_id = filters.CharFilter()
    channel = filters.CharFilter(lookup_expr="iexact")
    language = filters.CharFilter(method="in_language")
    feed = filters.CharFilter(method="in_feed")
    compared = {**Tagged.compared, "channel": TEXT, "duration": DURATION}

    def in_language(self, queryset: QuerySet[Video], name: str, value: str) -> QuerySet[Video]:
        """Keep videos with a transcript in the language or a regional variant of it."""
        transcripts = Transcript.objects.filter(language__istartswith=value)
        return queryset.filter(pk__in=transcripts.values("video"))

    def in_feed(self, queryset: QuerySet[Video], name: str, value: str) -> QuerySet[Video]:
        """Keep videos that are in a playlist or channel, by its YouTube id, of their collection."""
        entries = FeedEntry.objects.filter(
            youtube_id=OuterRef("youtube_id"), feed__collection=OuterRef("collection")
        )
        return queryset.filter(Exists(entries.filter(feed__youtube_id=value)))


class CollectionFilters(Filters):
    compared = {"name": TEXT, "slug": TEXT, "created_at": TIME}


class TranscriptFilters(Filters):
    collection = filters.CharFilter(field_name="video__collection__slug")
    video = filters.CharFilter(field_name="video__key")
    language = filters.CharFilter(lookup_expr="istartswith")
    origin = filters.CharFilter()
    compared = {
        "language": TEXT,
        "cue_count": NUMBER,
        "characters": NUMBER,
        "duration": DURATION,
        "created_at": TIME,
        "updated_at": TIME,
    }


class FeedFilters(Filters):
    collection = filters.CharFilter(field_name="collection__slug")
    kind = filters.CharFilter()
    compared = {"title": TEXT, "last_synced_at": TIME, "next_sync_at": TIME, "created_at": TIME}


class MembershipFilters(Filters):
    collection = filters.CharFilter(field_name="collection__slug")
    user = filters.CharFilter(field_name="user__username")
    role = filters.CharFilter()


class SourceFilters(Tagged):
    video = filters.CharFilter(field_name="video__key")
    kind = filters.CharFilter()
    state = filters.CharFilter()
    author = filters.CharFilter(lookup_expr="iexact")
    language = filters.CharFilter(lookup_expr="istartswith")
    compared = {
        **Tagged.compared,
        "author": TEXT,
        "kind": TEXT,
        "state": TEXT,
        "characters": NUMBER,
        "chunk_count": NUMBER,
    }


class ChunkFilters(Filters):
    collection = filters.CharFilter(field_name="source__collection__slug")
    source = filters.UUIDFilter(field_name="source__uuid")
    video = filters.CharFilter(field_name="source__video__key")
    kind = filters.CharFilter(field_name="source__kind")
    compared = {
        "text": TEXT,
        "heading": TEXT,
        "ordinal": NUMBER,
        "page": NUMBER,
        "start": DURATION,
        "end": DURATION,
    }
