"""Where a reader is: kept while they read, and how they go on there."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from citations.library import reading_progress
from citations.library.filters import find_source
from citations.library.reading_progress import THE_END
from citations.models import Document, ReadingProgress, Source
from transcripts.core.errors import InvalidInput
from transcripts.core.views.requests import PageRequest, back, number_of, redirect_with_message
from transcripts.models import Video
from transcripts.text.timecodes import clock

FAR: Final = 10_000  # ms from where a recording is opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """The link to where a reader was; ``at`` is its millisecond in a recording."""

    href: str
    label: str
    at: int | None = None


def resume_recording(
    progress: ReadingProgress | None, *, opened_at: int, duration: int, carried: str
) -> Resume | None:
    """Return where to go on in a recording, None where it is opened there anyway."""
    at = progress.position if progress else 0
    if at < FAR or at >= THE_END * duration or abs(at - opened_at) < FAR:
        return None
    label = _("Continue at %(time)s") % {"time": clock(at)}
    return Resume(href=f"?t={at // 1000}s{carried}", label=label, at=at)


def resume_document(progress: ReadingProgress | None, source: Source, number: int) -> Resume | None:
    """Return where to go on in a document, None if that is this page."""
    page = progress.position if progress else 0
    if page < 2 or page == number:
        return None
    href = reverse("source-page", args=(source.uuid, page))
    return Resume(href=href, label=_("Continue on page %(page)s") % {"page": page})


@require_POST
def keep(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Keep a position (ms, or a page), or mark a source as read or unread.

    ``reads_on`` is 1 where the position was reached from the one before without a jump.
    """
    source = find_source(request.access, str(source_id))
    item = source.video or source
    if (mark := request.POST.get("read", "")) == "1":
        reading_progress.finish(request.user, item)
        return back(request, reverse("library"))
    if mark == "0":
        reading_progress.forget(request.user, item)
        return redirect_with_message(
            request, _("“%(title)s” is unread.") % {"title": item}, "library"
        )
    position = number_of(request.POST.get("position", ""))
    if position is None:
        raise InvalidInput("The position is not a number.", hint="Reload the page.")
    reads_on = request.POST.get("reads_on") == "1"
    reading_progress.keep(
        request.user, item, position=position, length=_length(item), reads_on=reads_on
    )
    return HttpResponse(status=204)


def _length(item: Video | Source) -> int:
    if isinstance(item, Video):
        return item.duration
    return Document.objects.filter(source=item).values_list("page_count", flat=True).first() or 0
