"""One citation of an answer looked at: the clip or the page, and the quote with what is around it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from citations.documents import pages
from citations.errors import CitationNotFound, PageNotFound
from citations.models import Quotation, SourceKind
from citations.passages import Locator
from citations.quotes import verification
from transcripts.views.requests import PageRequest, fragment


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A piece of a YouTube video, in whole seconds around what is said."""

    youtube: str
    start: int
    end: int


@require_safe
def show_quotation(request: PageRequest, quotation_id: UUID) -> HttpResponse:
    """Show what a citation quotes, where it stands now."""
    quotation = (
        Quotation.objects.visible(request.reach)
        .select_related("source__video", "source__collection")
        .filter(uuid=quotation_id)
        .first()
    )
    if quotation is None:
        raise CitationNotFound("There is no such citation.")
    at = verification.place_of(quotation)
    permanent = request.build_absolute_uri(f"/citations/{quotation.uuid}/")
    link = verification.link_of(quotation.source, at) if at else ""
    context = {
        "quotation": quotation,
        "before": quotation.before[
            quotation.before.find(" ") + 1 :
        ],  # from the border of a word on
        "behind": quotation.behind[: quotation.behind.rfind(" ") + 1],
        "at": at,
        "link": link,
        "permanent": permanent,
        "clip": _clip(quotation, at),
        "view": _page(request, quotation, at),
    }
    return fragment(request, "citations/_quotation.html", context)


def _clip(quotation: Quotation, at: Locator | None) -> Clip | None:
    video = quotation.source.video
    if at is None or at.start is None or video is None or not video.youtube_id:
        return None
    return Clip(
        youtube=video.youtube_id, start=at.start // 1000, end=-(-(at.end or at.start) // 1000)
    )


def _page(request: PageRequest, quotation: Quotation, at: Locator | None) -> Any:
    if at is None or at.page is None or quotation.source.kind == SourceKind.VIDEO:
        return None
    try:
        return pages.show(request.reach, quotation.source.uuid, at.page, quote=at.span)
    except PageNotFound:
        return None
