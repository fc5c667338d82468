"""What a request to the resources may do and bring: permissions, tokens, bodies, pages, filters.

Viewers read, editors write content, owners also change the collection. Filters refer by slug, id
or name, as numbers have bounds to exceed.
"""

from io import BytesIO
from typing import Any

import django_filters
from django.db.models import QuerySet
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.filters import SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from kbsite.auth import Caller, caller_of_token
from transcripts.errors import Forbidden, NotSignedIn, TooLarge
from transcripts.models import Collection, Membership, Role, Transcript, Video

MAX_BODY = 1024 * 1024  # bytes of JSON
MAX_WORDS = 10  # in a search; each is a condition on every field


class EditorsWrite(BasePermission):
    """Members read, editors and owners write, read-only tokens never write."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return request.method in SAFE_METHODS or request.auth is None or request.auth.can_write

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        return request.method in SAFE_METHODS or obj.collection_id in request.access.writable


class OwnersWrite(EditorsWrite):
    """Members read, owners write."""

    def has_object_permission(self, request: Any, view: Any, obj: Any) -> bool:
        collection = obj.pk if isinstance(obj, Collection) else obj.collection_id
        return request.method in SAFE_METHODS or owns(request, collection)


def require_owner(request: Any, collection_id: int) -> None:
    """Raise Forbidden unless the caller may change the collection itself."""
    if not owns(request, collection_id):
        raise Forbidden("Only an owner of the collection may do this.")


def owns(request: Any, collection_id: int) -> bool:
    """Check that the caller may change the collection itself."""
    if collection_id not in request.access.writable:
        return False
    owned = Membership.objects.filter(user=request.user, collection=collection_id, role=Role.OWNER)
    return request.user.is_superuser or owned.exists()


class TokenAuthentication(BaseAuthentication):
    """Accept the bearer tokens of the other APIs."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return user and token, or None without a bearer token."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.casefold() != "bearer":
            return None
        try:
            caller: Caller = caller_of_token(text.strip())
        except NotSignedIn as error:
            raise AuthenticationFailed(error.message) from error
        return caller.user, caller.token

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


class Pages(PageNumberPagination):
    page_size = 25
    page_size_query_param = "pageSize"
    max_page_size = 100


class Search(SearchFilter):
    def get_search_terms(self, request: Request) -> list[str]:
        return list(super().get_search_terms(request))[:MAX_WORDS]


class TaggedFilter(django_filters.FilterSet):
    """Filters that videos and sources share."""

    collection = django_filters.CharFilter(field_name="collection__slug")
    tag = django_filters.CharFilter(method="with_tag")
    added_after = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    published_after = django_filters.IsoDateTimeFilter(field_name="published_at", lookup_expr="gte")

    def with_tag(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return queryset.filter(tags__contains=[value])


class VideoFilterSet(TaggedFilter):
    id = django_filters.CharFilter(field_name="key")
    youtube_id = django_filters.CharFilter()
    channel = django_filters.CharFilter(lookup_expr="iexact")
    language = django_filters.CharFilter(method="in_language")

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


class SourceFilter(TaggedFilter):
    video = django_filters.CharFilter(field_name="video__key")
    kind = django_filters.CharFilter()
    state = django_filters.CharFilter()
    author = django_filters.CharFilter(lookup_expr="iexact")
    language = django_filters.CharFilter(lookup_expr="istartswith")


class ChunkFilter(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="source__collection__slug")
    source = django_filters.UUIDFilter(field_name="source__uuid")
    video = django_filters.CharFilter(field_name="source__video__key")
    kind = django_filters.CharFilter(field_name="source__kind")
