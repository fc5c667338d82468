"""What a list takes: a page, a search, an order, and filters with the operators of Strapi.

Filters refer by slug, id or name, as numbers have bounds to exceed. A parameter that a resource
does not have is an error: a misspelt filter would show more than was asked for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

import django_filters as filters
from django.core.exceptions import ValidationError as FormError
from django.db.models import QuerySet
from django.http import QueryDict
from django_filters.fields import IsoDateTimeField
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from transcripts.api.shapes import BIGGEST_ID
from transcripts.models import Transcript, Video

MAX_PAGE: Final = 100
MAX_WORDS: Final = 10  # in a search; each is a condition on every field
UNKNOWN: Final = "there is no such parameter here"
FORMAT: Final = "format"  # json, or api for the browsable page

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
_INDEX: Final = re.compile(r"\[\d*\]$")


class Texts(filters.BaseInFilter, filters.CharFilter):
    """Texts, separated by commas."""


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


# Kind of a field -> the filter of one value, and the operators.
TEXT: Final = (filters.CharFilter, _OF_TEXT)
NUMBER: Final = (filters.NumberFilter, _OF_SIZE)
DURATION: Final = (SecondsFilter, _OF_SIZE)
TIME: Final = (Moment, (*_OF_SIZE, "$null"))
Kind = tuple[type[filters.Filter], tuple[str, ...]]


class Filters(filters.FilterSet):
    """Filters by name, and ``filters[field][$operator]`` of the fields that are ``compared``."""

    compared: ClassVar[Mapping[str, Kind]] = {}

    @classmethod
    def get_filters(cls) -> dict[str, filters.Filter]:
        comparisons = (_comparisons(name, *kind) for name, kind in cls.compared.items())
        named: dict[str, filters.Filter] = super().get_filters()
        return named | {name: made for each in comparisons for name, made in each}


def _comparisons(
    field: str, kind: type[filters.Filter], operators: Iterable[str]
) -> Iterator[tuple[str, filters.Filter]]:
    for operator in operators:
        lookup, is_negated = OPERATORS[operator]
        made = {"in": Texts, "isnull": filters.BooleanFilter}.get(lookup, kind)
        name = f"filters[{field}][{operator}]"
        yield name, made(field_name=field, lookup_expr=lookup, exclude=is_negated)


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
    compared = {**Tagged.compared, "channel": TEXT, "duration": DURATION}

    def in_language(self, queryset: QuerySet[Video], name: str, value: str) -> QuerySet[Video]:
        """Keep videos with a transcript in the language or a regional variant of it."""
        transcripts = Transcript.objects.filter(language__istartswith=value)
        return queryset.filter(pk__in=transcripts.values("video"))


class CollectionFilters(Filters):
    compared = {"name": TEXT, "slug": TEXT, "created_at": TIME}


class TranscriptFilters(Filters):
    collection = filters.CharFilter(field_name="video__collection__slug")
    video = filters.CharFilter(field_name="video__key")
    language = filters.CharFilter(lookup_expr="istartswith")
    origin = filters.CharFilter()
    compared = {
        "language": TEXT, "cue_count": NUMBER, "characters": NUMBER, "duration": DURATION,
        "created_at": TIME, "updated_at": TIME,
    }  # fmt: skip


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
        **Tagged.compared, "author": TEXT, "kind": TEXT, "state": TEXT, "characters": NUMBER,
        "chunk_count": NUMBER,
    }  # fmt: skip


class ChunkFilters(Filters):
    collection = filters.CharFilter(field_name="source__collection__slug")
    source = filters.UUIDFilter(field_name="source__uuid")
    video = filters.CharFilter(field_name="source__video__key")
    kind = filters.CharFilter(field_name="source__kind")
    compared = {
        "text": TEXT, "heading": TEXT, "ordinal": NUMBER, "page": NUMBER, "start": DURATION,
        "end": DURATION,
    }  # fmt: skip


class FilterBackend(DjangoFilterBackend):
    """Takes ``[$in][0]=a&[$in][1]=b`` for ``[$in]=a,b``."""

    def get_filterset_kwargs(self, request: Request, queryset: Any, view: Any) -> dict[str, Any]:
        data = {name: ",".join(values) for name, values in _joined(request.query_params).items()}
        return {**super().get_filterset_kwargs(request, queryset, view), "data": data}


class Search(SearchFilter):
    """The first words of a search, in the fields that a resource names."""

    def get_search_terms(self, request: Request) -> list[str]:
        return list(super().get_search_terms(request))[:MAX_WORDS]


class Order(OrderingFilter):
    """``sort=title:desc,created_at``, by the fields that a resource names."""

    ordering_param = "sort"

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> Any:
        wanted = ",".join(_joined(request.query_params).get(self.ordering_param, ()))
        order = [_order(part.strip(), view.ordering_fields) for part in wanted.split(",") if part]
        # Rows that are equal in all of it keep one order on all pages.
        return [*order, "pk"] if order else None

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        field = "|".join(view.ordering_fields)
        pattern = rf"^({field})(:(asc|desc))?(,({field})(:(asc|desc))?)*$"
        description = "Fields in order, such as created_at:desc."
        schema = {"type": "string", "pattern": pattern, "description": description}
        return [{"name": self.ordering_param, "in": "query", "required": False, "schema": schema}]


class Pages(LimitOffsetPagination):
    """Pages as the operations have them: the rows under the resource's name, total and next."""

    default_limit = 25
    max_limit = MAX_PAGE
    plural = "rows"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        self.plural = view.plural
        return super().paginate_queryset(queryset, request, view)

    def get_limit(self, request: Request) -> int:
        return _number(request, "limit", 1, MAX_PAGE, default=25)

    def get_offset(self, request: Request) -> int:
        return _number(request, "offset", 0, BIGGEST_ID, default=0)

    def get_paginated_response(self, data: Any) -> Response:
        total, end = self.count or 0, (self.offset or 0) + len(data)
        following = end if data and end < total else None
        return Response({self.plural: data, "total": total, "next": following})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        following = {"type": ["integer", "null"], "description": "The offset of the next page."}
        fields = {self.plural: schema, "total": {"type": "integer"}, "next": following}
        return {"type": "object", "required": list(fields), "properties": fields}

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        bounds = {"limit": (1, MAX_PAGE, 25), "offset": (0, BIGGEST_ID, 0)}
        return [
            {
                "name": name,
                "in": "query",
                "required": False,
                "schema": {"type": "integer", "minimum": low, "maximum": high, "default": default},
            }
            for name, (low, high, default) in bounds.items()
        ]


def refuse_unknown(request: Request, view: Any) -> None:
    """Raise ValidationError for a parameter that the resource does not have."""
    known = {FORMAT}
    if view.action == "list":
        known |= {"limit", "offset", "search", Order.ordering_param}
        known |= set(view.filterset_class.base_filters)
    unknown = sorted(_joined(request.query_params).keys() - known)
    if unknown:
        raise ValidationError({name[:100]: [UNKNOWN] for name in unknown[:10]})


def _joined(parameters: QueryDict) -> dict[str, list[str]]:
    """Return the values by name, where ``name[0]`` and ``name[]`` are ``name``."""
    joined: dict[str, list[str]] = {}
    for name, values in parameters.lists():
        joined.setdefault(_INDEX.sub("", name), []).extend(values)
    return joined


def _order(part: str, fields: Iterable[str]) -> str:
    name, _, direction = part.partition(":")
    if name not in fields or direction not in ("", "asc", "desc"):
        sentence = f"“{part[:100]}” is no field, with or without :asc or :desc"
        raise ValidationError({Order.ordering_param: [sentence]})
    return f"-{name}" if direction == "desc" else name


def _number(request: Request, name: str, least: int, most: int, *, default: int) -> int:
    field = serializers.IntegerField(min_value=least, max_value=most)
    try:
        return int(field.run_validation(request.query_params.get(name, default)))
    except ValidationError as error:
        raise ValidationError({name: error.detail}) from None
