"""A citation in detail (the clip or the page, the quote in its context), and its address."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from citations.documents import pages
from citations.errors import CitationNotFound, PageNotFound
from citations.formats import VIDEO
from citations.models import Citation
from citations.passages import Locator
from citations.quotes import verification
from citations.reading.position import Position
from transcripts.core.lists import row_of
from transcripts.core.views.requests import PageRequest, fragment


@require_safe
def show_citation(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Show a citation at its current location in the source."""
    visible = Citation.objects.visible(request.access)
    shown = visible.select_related("source__video__media", "source__collection")
    citation = row_of(shown, citation_id, CitationNotFound)
    at = verification.locator_of(citation)
    link = citation.source.path_to(at) if at else ""
    context = {
        "citation": citation,
        "prefix": citation.prefix[citation.prefix.find(" ") + 1 :],  # whole words
        "suffix": citation.suffix[: citation.suffix.rfind(" ") + 1],
        "at": at,
        "link": link,
        "permanent": request.build_absolute_uri(citation.permalink),
        "clip": _clip(citation, at),
        "may_share": citation.source.collection_id in request.access.writable,
        "view": _page(request, citation, at),
    }
    return fragment(request, "citations/_citation.html", context)


def _clip(citation: Citation, at: Locator | None) -> Position | None:
    """Return what of a recording is played, None if nothing plays it."""
    video = citation.source.video
    if at is None or at.start is None or video is None or not video.player:
        return None
    return Position(begin=at.start, until=at.end)


def _page(request: PageRequest, citation: Citation, at: Locator | None) -> Any:
    if at is None or at.page is None or citation.source.kind == VIDEO:
        return None
    try:
        return pages.show_page(request.access, citation.source.uuid, at.page, quote=at.span)
    except PageNotFound:
        return None


@require_safe
def go(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Redirect to the current position of a citation."""
    return redirect(verification.address_of(request.access, citation_id))
