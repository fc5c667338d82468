"""What a request to the resources may do and bring: permissions, tokens, bodies.

Viewers read, editors write content, owners also change the collection.
"""

from io import BytesIO
from typing import Any, cast

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, ParseError
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from kbsite.callers import SignedInRequest
from transcripts.core.errors import Forbidden, NotSignedIn, TooLarge
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Membership, Role

MAX_BODY = 1024 * 1024  # bytes of JSON
UNKNOWN = "there is no such parameter here"


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
