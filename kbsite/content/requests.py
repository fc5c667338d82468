"""What a request may do and bring: permissions, tokens, bodies, and the parameters of lists."""

from io import BytesIO
from typing import Any, Final, cast

from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError, ValidationError
from rest_framework.filters import SearchFilter
from rest_framework.pagination import LimitOffsetPagination
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from kbsite.callers import SignedInRequest
from transcripts.api.shapes import BIGGEST_ID
from transcripts.core.errors import Forbidden, NotSignedIn, TooLarge
from transcripts.core.lists import MAX_WORDS
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Membership, Role

MAX_BODY = 1024 * 1024  # bytes of JSON
UNKNOWN = "there is no such parameter here"
MAX_PAGE: Final = 100
FORMAT: Final = "format"  # json, or api for the browsable page
FIELDS: Final = "fields"
ALWAYS: Final = frozenset({"pk", "id"})


class EditorsWrite(BasePermission):
    """Members read, editors and owners write; ``kbsite.operations`` looks at what tokens allow."""

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        return request.method in SAFE_METHODS or obj.collection_id in access(request).writable


class OwnersWrite(EditorsWrite):
    """Members read, owners write."""

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        collection = obj.pk if isinstance(obj, Collection) else obj.collection_id
        return request.method in SAFE_METHODS or owns(request, collection)


class OwnersWriteMembersLeave(OwnersWrite):
    """Members read and leave, owners write."""

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        is_leaving = request.method == "DELETE" and obj.user_id == request.user.pk
        return is_leaving or super().has_object_permission(request, view, obj)


def require_owner(request: Request, collection_id: int) -> None:
    """Raise Forbidden unless the caller may change the collection itself."""
    if not owns(request, collection_id):
        raise Forbidden("Only an owner of the collection may do this.")


def owns(request: Request, collection_id: int) -> bool:
    """Check that the caller may change the collection itself."""
    if collection_id not in access(request).writable:
        return False
    owned = Membership.objects.filter(
        user=request.user.pk, collection=collection_id, role=Role.OWNER
    )
    return request.user.is_superuser or owned.exists()


def access(request: Request | None) -> Scope:
    """Return what the caller may see; nothing while the API is described."""
    scope: Scope = getattr(request, "access", NOTHING)
    return scope


class TokenAuthentication(BaseAuthentication):
    """Accept the bearer tokens of the other APIs."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return user and token, or None without a bearer token."""
        if request.headers.get("Authorization", "").partition(" ")[0].casefold() != "bearer":
            return None
        try:
            caller = cast(SignedInRequest, request._request).caller
            return caller.user, caller.token
        except NotSignedIn as error:
            raise AuthenticationFailed(error.message) from error

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="cuebase"'


class BoundedJSONParser(JSONParser):
    """Parse JSON of bounded size and depth."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Raises TooLarge and ParseError."""
        data = stream.read(MAX_BODY + 1)
        if len(data) > MAX_BODY:
            raise TooLarge(f"The body has more than {MAX_BODY:,} bytes.")
        try:
            return super().parse(BytesIO(data), media_type, parser_context)
        except RecursionError as error:
            raise ParseError("JSON parse error: nested too deeply.") from error


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
