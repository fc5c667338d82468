"""The filters of the resources: ``title__icontains=…``, by Django's lookups, and by names of rows.

Filters refer by slug, id or name, as numbers have bounds to exceed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import django_filters as filters
from django.core.exceptions import ValidationError as FormError
from django.db.models import DateTimeField, Exists, OuterRef, QuerySet
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field

from citations.formats import kind_choices
from citations.models import Chunk, Source
from transcripts.models import Collection, Feed, FeedEntry, Membership, Transcript, Video

NOT: Final = "not_"  # in front of a lookup: the rows that it does not keep
EXACT: Final = ("exact",)
CHOICE: Final = ("exact", "in", "not_exact", "not_in")
NUMBER: Final = ("exact", "not_exact", "lt", "lte", "gt", "gte")
TIME: Final = (*NUMBER, "isnull")
TEXT: Final = (
    *CHOICE,
    "iexact",
    "contains",
    "not_contains",
    "icontains",
    "not_icontains",
    "startswith",
    "endswith",
)
DURATIONS: Final = ("duration", "start", "end")  # columns of milliseconds


@extend_schema_field({"type": "number", "description": "Seconds."})
class SecondsFilter(filters.NumberFilter):
    """A number of seconds, of a column of milliseconds."""

    def filter(self, queryset: QuerySet[Any], value: Any) -> QuerySet[Any]:
        milliseconds = None if value is None else round(value * 1000)
        filtered: QuerySet[Any] = super().filter(queryset, milliseconds)
        return filtered


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


class Order(filters.OrderingFilter):
    """``sort=-created_at,title``; rows that are equal in all of it keep one order on all pages."""

    def __init__(self, *fields: str) -> None:
        super().__init__(fields=fields, label="Fields in order; descending with - in front.")

    def filter(self, queryset: QuerySet[Any], value: Any) -> QuerySet[Any]:
        ordered: QuerySet[Any] = super().filter(queryset, value and [*value, "pk"])
        return ordered


class Filters(filters.FilterSet):
    """Filters by name, and ``field__lookup`` of the fields in ``Meta``."""

    base_filters: dict[str, filters.Filter]

    class Meta:
        filter_overrides: ClassVar[Any] = {DateTimeField: {"filter_class": Moment}}

    def __init__(self, data: Mapping[str, str], **options: Any) -> None:
        # The library copies each filter for each request: fifty, of which one or two are asked for.
        self.base_filters = {
            name: named for name, named in type(self).base_filters.items() if name in data
        }
        super().__init__(data, **options)

    @classmethod
    def filter_for_field(cls, field: Any, field_name: str, lookup_expr: str = "exact") -> Any:
        """Make a filter; besides the library's lookups there are negated ones, and seconds."""
        lookup = lookup_expr.removeprefix(NOT)
        if field_name in DURATIONS:
            made = SecondsFilter(field_name=field_name, lookup_expr=lookup)
        else:
            made = super().filter_for_field(field, field_name, lookup)
        made.exclude = lookup != lookup_expr
        return made


class Tagged(Filters):
    """Filters that videos and sources share."""

    collection = filters.CharFilter(field_name="collection__slug")
    tag = filters.CharFilter(method="with_tag")

    def with_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return queryset.filter(tags__contains=[value])

    class Meta(Filters.Meta):
        fields: ClassVar[Any] = {
            "title": TEXT,
            "published_at": TIME,
            "created_at": TIME,
            "updated_at": TIME,
        }


class VideoFilters(Tagged):
    id = filters.CharFilter(field_name="key")
    channel = filters.CharFilter(lookup_expr="iexact")
    language = filters.CharFilter(method="in_language")
    feed = filters.CharFilter(method="in_feed")
    sort = Order("title", "channel", "duration", "published_at", "created_at")

    class Meta(Tagged.Meta):
        model = Video
        fields: ClassVar[Any] = {
            **Tagged.Meta.fields,
            "youtube_id": EXACT,
            "channel": TEXT,
            "duration": NUMBER,
        }

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
    sort = Order("name", "slug", "created_at")

    class Meta(Filters.Meta):
        model = Collection
        fields: ClassVar[Any] = {"name": TEXT, "slug": TEXT, "created_at": TIME}


class TranscriptFilters(Filters):
    collection = filters.CharFilter(field_name="video__collection__slug")
    video = filters.CharFilter(field_name="video__key")
    language = filters.CharFilter(lookup_expr="istartswith")
    sort = Order("language", "origin", "cue_count", "duration", "created_at", "updated_at")

    class Meta(Filters.Meta):
        model = Transcript
        fields: ClassVar[Any] = {
            "language": TEXT,
            "origin": EXACT,
            "cue_count": NUMBER,
            "characters": NUMBER,
            "duration": NUMBER,
            "created_at": TIME,
            "updated_at": TIME,
        }


class FeedFilters(Filters):
    collection = filters.CharFilter(field_name="collection__slug")
    sort = Order("title", "last_synced_at", "next_sync_at", "created_at")

    class Meta(Filters.Meta):
        model = Feed
        fields: ClassVar[Any] = {
            "kind": EXACT,
            "title": TEXT,
            "last_synced_at": TIME,
            "next_sync_at": TIME,
            "created_at": TIME,
        }


class MembershipFilters(Filters):
    collection = filters.CharFilter(field_name="collection__slug")
    user = filters.CharFilter(field_name="user__username")
    sort = Order("collection__name", "user__username", "role")

    class Meta(Filters.Meta):
        model = Membership
        fields: ClassVar[Any] = {"role": EXACT}


class SourceFilters(Tagged):
    video = filters.CharFilter(field_name="video__key")
    author = filters.CharFilter(lookup_expr="iexact")
    language = filters.CharFilter(lookup_expr="istartswith")
    sort = Order(
        "title",
        "author",
        "kind",
        "state",
        "characters",
        "chunk_count",
        "published_at",
        "created_at",
        "updated_at",
    )

    class Meta(Tagged.Meta):
        model = Source
        fields: ClassVar[Any] = {
            **Tagged.Meta.fields,
            "author": TEXT,
            "kind": CHOICE,
            "state": CHOICE,
            "characters": NUMBER,
            "chunk_count": NUMBER,
        }


class ChunkFilters(Filters):
    collection = filters.CharFilter(field_name="source__collection__slug")
    source = filters.UUIDFilter(field_name="source__uuid")
    video = filters.CharFilter(field_name="source__video__key")
    kind = filters.ChoiceFilter(field_name="source__kind", choices=kind_choices)
    sort = Order("ordinal", "start", "page")

    class Meta(Filters.Meta):
        model = Chunk
        fields: ClassVar[Any] = {
            "text": TEXT,
            "heading": TEXT,
            "ordinal": NUMBER,
            "page": NUMBER,
            "start": NUMBER,
            "end": NUMBER,
        }
