"""Actions on a video: download it, fetch it again; its thumbnail."""

import hashlib
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_POST, require_safe

from transcripts.adding import acquisition
from transcripts.core.errors import NotFound
from transcripts.core.views.requests import PageRequest, fragment, redirect_with_message
from transcripts.forms import FetchForm, require_valid
from transcripts.library import collections, exports
from transcripts.library import reading as library
from transcripts.library.exports import TranscriptFormat
from transcripts.models import Thumbnail, Video
from transcripts.tasks import send

ART_HUES = (168, 200, 228, 262, 300, 340, 18, 42)


@require_safe
def find(request: PageRequest) -> HttpResponse:
    """Open a video by its id or address."""
    return redirect("video", pk=library.find_video(request.access, request.GET.get("id", "")).pk)


@require_safe
def download(request: PageRequest, pk: int, form: str) -> HttpResponse:
    if form not in list(TranscriptFormat):
        known = ", ".join(TranscriptFormat)
        raise NotFound(f"There is no format “{form[:20]}”.", hint=f"Known: {known}.")
    video = collections.find_video(request.access, pk)
    language = request.GET.get("lang", "")[:35]
    export = exports.export(video, form=TranscriptFormat(form), language=language)
    response = HttpResponse(export.text, content_type=export.media_type)
    response["Content-Disposition"] = content_disposition_header(True, export.name)
    return response


@require_safe
@cache_control(private=True, max_age=300)
def thumbnail(request: PageRequest, pk: int) -> HttpResponse:
    """Return the thumbnail, or a generated drawing if there is none."""
    video = collections.find_video(request.access, pk)
    stored = Thumbnail.objects.filter(video=video).first()
    if stored is not None:
        return HttpResponse(bytes(stored.data), content_type=stored.content_type)
    return render(request, "transcripts/thumbnail.svg", _art(video), content_type="image/svg+xml")


@require_POST
def fetch(request: PageRequest, pk: int) -> HttpResponse:
    """Fetch a YouTube video again, or in another language."""
    video = _changeable(request, pk)
    options = require_valid(FetchForm(request.POST))
    job = acquisition.refetch(video, **options, by=request.user)
    send(job)
    if request.htmx:
        return fragment(request, "transcripts/_job_live.html", {"job": job})
    return redirect_with_message(
        request, _("“%(title)s” is queued.") % {"title": video}, "activity"
    )


def _changeable(request: PageRequest, pk: int) -> Video:
    video = collections.find_video(request.access, pk)
    request.access.require_write(video.collection_id)
    return video


def _art(video: Video) -> dict[str, Any]:
    """Derive a drawing from the title."""
    seed = hashlib.sha256(str(video).encode()).digest()
    hue = ART_HUES[seed[0] % len(ART_HUES)]
    bars = [
        {"x": 40 + n * 24, "y": 90 - height // 2, "height": height}
        for n, byte in enumerate(seed[1:12])
        if (height := 16 + byte % 72)
    ]
    return {"hue": hue, "other": (hue + 40) % 360, "bars": bars}
