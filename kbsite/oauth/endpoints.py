"""The endpoints for programs: who issues tokens for which part of this server (RFC 8414, 9728),
codes become tokens, and tokens are revoked. They refuse in the words of RFC 6749.
"""

from typing import Any, Final

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from limits import RateLimitItem, RateLimitItemPerMinute
from oauth2_provider.views import OAuthProtectedResourceMetadataView, RevokeTokenView, TokenView

from kbsite.middleware import rate_limits
from kbsite.oauth import audience
from transcripts.core.errors import Throttled
from transcripts.core.site_path import own_path

PER_ADDRESS: Final = RateLimitItemPerMinute(300)


class Exchange(TokenView):
    """Exchanges an authorization code or a refresh token for tokens."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.POST.get("grant_type") not in ("authorization_code", "refresh_token"):
            return refusal("unsupported_grant_type")
        if refused := _refused(request):
            return refused
        with transaction.atomic():  # a second use of a code waits until the first is over
            answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer


class Revocation(RevokeTokenView):
    """Revokes a token of the program that asks (RFC 7009)."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return _refused(request) or super().post(request, *args, **kwargs)


def _refused(request: HttpRequest) -> HttpResponse | None:
    """Refuse too many requests, and what PostgreSQL cannot compare."""
    message = "Too many requests came from this address."
    if response := throttled(request, "tokens", allowed=PER_ADDRESS, message=message):
        return response
    if any("\0" in value for values in request.POST.lists() for value in values[1]):
        return refusal("invalid_request")
    return None


class ResourceMetadata(OAuthProtectedResourceMetadataView):
    """The metadata of the server, or of one of its parts."""

    def get_resource(self, request: HttpRequest) -> str:
        part = request.path_info.removeprefix(audience.METADATA)
        return audience.origin_of(request) + own_path(part)


def refusal(
    error: str, message: str = "", *, status: int = 400, wait: int | None = None
) -> HttpResponse:
    """Return an error by its code; ``wait`` says in how many seconds to come back."""
    about = {"error_description": message} if message else {}
    headers = {"Retry-After": str(wait)} if wait else {}
    return JsonResponse({"error": error, **about}, status=status, headers=headers)


def throttled(
    request: HttpRequest, kind: str, *, allowed: RateLimitItem, message: str
) -> HttpResponse | None:
    """Count a request of an address; return the refusal of one too many."""
    who = rate_limits.address_of(request)
    try:
        rate_limits.count(kind, who, allowed=allowed, message=message)
    except Throttled as error:
        return refusal("slow_down", error.message, status=429, wait=error.retry_after)
    return None
