"""Filters of listings. References are by slug, id or name, as numbers have bounds to exceed."""

import django_filters
from django.db.models import QuerySet

from citations.models import Source
from transcripts.models import Transcript, Video


class VideoFilterSet(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug")
    id = django_filters.CharFilter(field_name="key")
    youtube_id = django_filters.CharFilter()
    channel = django_filters.CharFilter(lookup_expr="iexact")
    tag = django_filters.CharFilter(method="with_tag")
    language = django_filters.CharFilter(method="in_language")
    added_after = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    published_after = django_filters.IsoDateTimeFilter(field_name="published_at", lookup_expr="gte")

    def with_tag(self, queryset: QuerySet[Video], name: str, value: str) -> QuerySet[Video]:
        return queryset.filter(tags__contains=[value])

    def in_language(self, queryset: QuerySet[Video], name: str, value: str) -> QuerySet[Video]:
        """Keep videos with a transcript in the language or a regional variant of it."""
        transcripts = Transcript.objects.filter(language__istartswith=value)
        return queryset.filter(pk__in=transcripts.values("video"))


class TranscriptFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="video__collection__slug")
    video = django_filters.CharFilter(field_name="video__key")
    language = django_filters.CharFilter(lookup_expr="istartswith")
    origin = django_filters.CharFilter()


class FeedFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug")
    kind = django_filters.CharFilter()


class MembershipFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug")
    user = django_filters.CharFilter(field_name="user__username")
    role = django_filters.CharFilter()


class SourceFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug")
    video = django_filters.CharFilter(field_name="video__key")
    kind = django_filters.CharFilter()
    state = django_filters.CharFilter()
    author = django_filters.CharFilter(lookup_expr="iexact")
    tag = django_filters.CharFilter(method="with_tag")
    language = django_filters.CharFilter(lookup_expr="istartswith")
    added_after = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    published_after = django_filters.IsoDateTimeFilter(field_name="published_at", lookup_expr="gte")

    def with_tag(self, queryset: QuerySet[Source], name: str, value: str) -> QuerySet[Source]:
        return queryset.filter(tags__contains=[value])


class ChunkFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="source__collection__slug")
    source = django_filters.UUIDFilter(field_name="source__uuid")
    video = django_filters.CharFilter(field_name="source__video__key")
    kind = django_filters.CharFilter(field_name="source__kind")
