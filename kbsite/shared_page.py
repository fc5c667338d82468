"""The page of a shared link: one highlight or answer, for people without an account."""

from typing import Any, Final
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from limits import RateLimitItemPerMinute

from citations.errors import SharedLinkNotFound
from citations.notebook import shared_links
from kbsite import rate_limits

LOOKS: Final = RateLimitItemPerMinute(60)  # from one address


@login_not_required
@never_cache
@require_safe
def show(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """Show what a link leads to, and nothing else. Search engines are asked not to keep it."""
    rate_limits.count(
        "shared links",
        rate_limits.address_of(request),
        allowed=LOOKS,
        message="Too many shared links were opened from this address.",
    )
    context: dict[str, Any] = {}
    try:
        context = {"item": shared_links.follow(link_id)}
    except SharedLinkNotFound as error:
        context = {"error": error}
    status = 404 if "error" in context else 200
    response = render(request, "citations/shared.html", context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"  # the address is the key
    return response
