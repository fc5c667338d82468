"""How the endpoints for programs refuse: in the words of RFC 6749, and after too many requests."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from limits import RateLimitItem

from kbsite.middleware import rate_limits
from transcripts.core.errors import Throttled


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
