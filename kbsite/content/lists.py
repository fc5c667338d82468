"""What a list takes: a page, a search, an order, filters, and the fields of each row.

A parameter that a resource does not have is an error: a misspelt filter would show more than was
asked for.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from django.db.models import QuerySet
from django.http import QueryDict
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from kbsite.content import conditions, selection
from kbsite.content.requests import UNKNOWN
from kbsite.content.selection import Selection
from transcripts.api.shapes import BIGGEST_ID
from transcripts.core.lists import MAX_WORDS

MAX_PAGE: Final = 100
FORMAT: Final = "format"  # json, or api for the browsable page
_INDEX: Final = re.compile(r"\[\d*\]$")


class FilterBackend(DjangoFilterBackend):
    """Takes ``[$in][0]=a&[$in][1]=b`` for ``[$in]=a,b``, and conditions that are combined."""

    def filter_queryset(self, request: Request, queryset: Any, view: Any) -> Any:
        filtered: QuerySet[Any] = super().filter_queryset(request, queryset, view)
        values = {name: ",".join(texts) for name, texts in _joined(request.query_params).items()}
        return filtered.filter(conditions.read(values, view.filterset_class.base_filters))

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
        ordering = ",".join(_joined(request.query_params).get(self.ordering_param, ()))
        order = [_order(part.strip(), view.ordering_fields) for part in ordering.split(",") if part]
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
    allowed = {FORMAT}
    if view.action == "list":
        allowed |= {"limit", "offset", "search", Order.ordering_param}
        allowed |= set(view.filterset_class.base_filters)
    names = _joined(request.query_params).keys() - allowed
    if view.action == "list":
        names = {name for name in names if not conditions.is_combined(name)}
    if view.action in ("list", "retrieve"):
        names = {name for name in names if not selection.is_selection(name)}
    if unknown := sorted(names):
        raise ValidationError({name[:100]: [UNKNOWN] for name in unknown[:10]})


def selection_of(request: Request, view: Any) -> Selection:
    """Return the fields and relations to return. Raises ValidationError."""
    return Selection.read(_joined(request.query_params), view.get_serializer_class())


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
