"""What a list takes: a page, a search, filters and an order, and the fields of each row.

A parameter that a resource does not have is an error: a misspelt filter would show more than was
asked for.
"""

from typing import Any, Final

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.filters import SearchFilter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request
from rest_framework.response import Response

from kbsite.content.requests import UNKNOWN
from transcripts.api.shapes import BIGGEST_ID
from transcripts.core.lists import MAX_WORDS

MAX_PAGE: Final = 100
FORMAT: Final = "format"  # json, or api for the browsable page
FIELDS: Final = "fields"
ALWAYS: Final = frozenset({"pk", "id"})


class FilterBackend(DjangoFilterBackend):
    """Takes ``title__in=a&title__in=b`` for ``title__in=a,b``, as many programs write lists."""

    def get_filterset_kwargs(self, request: Request, queryset: Any, view: Any) -> dict[str, Any]:
        data = {name: ",".join(values) for name, values in request.query_params.lists()}
        return {**super().get_filterset_kwargs(request, queryset, view), "data": data}


class Search(SearchFilter):
    """The first words of a search, in the fields that a resource names."""

    def get_search_terms(self, request: Request) -> list[str]:
        return list(super().get_search_terms(request))[:MAX_WORDS]


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
    if view.action in ("list", "retrieve"):
        allowed.add(FIELDS)
    if view.action == "list":
        allowed |= {"limit", "offset", "search"} | view.filterset_class.base_filters.keys()
    if unknown := sorted(request.query_params.keys() - allowed):
        raise ValidationError({name[:100]: [UNKNOWN] for name in unknown[:10]})


def fields_left_out(request: Request, serializer: Any) -> set[str]:
    """Return the fields to leave out of each row. Raises ValidationError for one it has not."""
    known = set(serializer.Meta.fields)
    chosen = set(filter(None, ",".join(request.query_params.getlist(FIELDS)).split(",")))
    if unknown := sorted(chosen - known):
        raise ValidationError({FIELDS: [f"“{unknown[0][:100]}” is no field here"]})
    return known - chosen - ALWAYS if chosen else set()


def _number(request: Request, name: str, least: int, most: int, *, default: int) -> int:
    field = serializers.IntegerField(min_value=least, max_value=most)
    try:
        return int(field.run_validation(request.query_params.get(name, default)))
    except ValidationError as error:
        raise ValidationError({name: error.detail}) from None
