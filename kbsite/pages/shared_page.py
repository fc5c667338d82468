"""The page of a shared link: one highlight, answer, page or clip, without an account."""

from typing import Any, Final
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe
from limits import RateLimitItem, RateLimitItemPerMinute

from citations.documents import page_images
from citations.errors import SharedLinkNotFound
from citations.notebook import shared_links
from citations.readers.pdf.reader import PICTURE_TYPE
from kbsite.middleware import rate_limits
from transcripts.views import videos

LOOKS: Final = RateLimitItemPerMinute(60)  # from one address
PARTS: Final = RateLimitItemPerMinute(120)  # of files: two megabytes each


@login_not_required
@require_safe
def show(request: HttpRequest, link_id: str) -> HttpResponseBase:
    """Show what a link leads to, and nothing else. Search engines are asked not to keep it.

    An address that was mistyped has the page of one that ended.
    """
    _count(request)
    context: dict[str, Any] = {}
    try:
        context = {"item": shared_links.follow_to_play(link_id)}
    except SharedLinkNotFound as error:
        context = {"error": error}
    status = 404 if "error" in context else 200
    return _unlisted(render(request, "citations/shared.html", context, status=status))


@login_not_required
@require_safe
def show_image(request: HttpRequest, link_id: UUID) -> HttpResponseBase:
    """Return the picture of a shared page. Raises ``SharedLinkNotFound``."""
    _count(request)
    passage = shared_links.follow(link_id).passage
    if passage is None or passage.image is None or passage.locator.page is None:
        raise SharedLinkNotFound("This link has no picture.")
    document, number = passage.source.document, passage.locator.page
    data = page_images.render_page(document, number, width=max(page_images.WIDTHS)).read_bytes()
    response = HttpResponse(data, content_type=PICTURE_TYPE)
    response["X-Content-Type-Options"] = "nosniff"
    return _unlisted(response)


@login_not_required
@require_safe
def show_media(request: HttpRequest, link_id: UUID, clip_id: UUID) -> HttpResponseBase:
    """Return what a link plays of a file, or a range of it. Raises ``SharedLinkNotFound``."""
    _count(request, "shared files", PARTS)
    clips = shared_links.follow(link_id).clips.values()
    clip = next((clip for clip in clips if clip.uuid == clip_id and clip.media_type), None)
    if clip is None:
        raise SharedLinkNotFound("This link plays no such file.")
    return _unlisted(videos.send_media(request, clip))


def _unlisted(response: HttpResponseBase) -> HttpResponseBase:
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _count(request: HttpRequest, kind: str = "shared links", most: RateLimitItem = LOOKS) -> None:
    rate_limits.count(
        kind,
        rate_limits.address_of(request),
        allowed=most,
        message="Too many shared links were opened from this address.",
    )
