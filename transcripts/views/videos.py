"""Actions on a video: download it, fetch it again; its thumbnail; the file that plays."""

import hashlib
import re
from collections.abc import AsyncIterator
from typing import Final

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_POST, require_safe

from transcripts.adding import acquisition, listening
from transcripts.core.errors import InvalidInput, NotFound
from transcripts.core.locks import release_connection
from transcripts.core.views.requests import PageRequest, back, fragment, redirect_with_message
from transcripts.forms import FetchForm, require_valid
from transcripts.library import collections, exports
from transcripts.library import reading as library
from transcripts.library.exports import TranscriptFormat
from transcripts.media import files as media
from transcripts.models import PlayableFile, Thumbnail, Video
from transcripts.tasks import send

RANGE: Final = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")
# Browsers must not run a file's content as part of this site: no sniffing, no scripts.
HARMLESS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Accept-Ranges": "bytes",
}
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
    """Return the thumbnail, or a drawing that is derived from the title if there is none."""
    video = collections.find_video(request.access, pk)
    stored = Thumbnail.objects.filter(video=video).first()
    if stored is not None:
        return HttpResponse(bytes(stored.data), content_type=stored.content_type)
    seed = hashlib.sha256(str(video).encode()).digest()
    hue = ART_HUES[seed[0] % len(ART_HUES)]
    bars = [
        {"x": 40 + n * 24, "y": 90 - height // 2, "height": height}
        for n, byte in enumerate(seed[1:12])
        if (height := 16 + byte % 72)
    ]
    art = {"hue": hue, "other": (hue + 40) % 360, "bars": bars}
    return render(request, "transcripts/thumbnail.svg", art, content_type="image/svg+xml")


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


@require_POST
def listen(request: PageRequest, pk: int) -> HttpResponse:
    """Listen to a recording whose file plays: its captions stay beside those that are made."""
    video = _changeable(request, pk)
    language = require_valid(FetchForm(request.POST))["language"]
    job = listening.request_again(video, language=language, by=request.user)
    send(job)
    if request.htmx:
        context = {"job": job, "may_write": True}
        return fragment(request, "transcripts/_job_live.html", context)
    message = _("“%(title)s” is queued.") % {"title": video}
    return redirect_with_message(request, message, "activity")


def _changeable(request: PageRequest, pk: int) -> Video:
    video = collections.find_video(request.access, pk)
    request.access.require_write(video.collection_id)
    return video


@require_safe
def show_media(request: PageRequest, pk: int) -> HttpResponseBase:
    """Return the file, or the range that a player asks for, of at most two megabytes."""
    return send_media(request, media.find(collections.find_video(request.access, pk)))


def send_media(request: HttpRequest, file: PlayableFile) -> HttpResponseBase:
    """Return a file, or the range that a player asks for."""
    etag = f'"{file._meta.model_name}-{file.pk}"'
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        is_current = request.headers.get("If-Range", etag) == etag
        span = RANGE.fullmatch(request.headers.get("Range", "")) if is_current else None
        response = _part_of(file, span) if span else _whole(request, file)
        response["Content-Disposition"] = content_disposition_header(False, file.name) or "inline"
    for header, value in {**HARMLESS, "ETag": etag}.items():
        response[header] = value
    return response


@require_POST
def change_media(request: PageRequest, pk: int) -> HttpResponse:
    """Add or replace the file of a recording, or remove it."""
    video = _changeable(request, pk)
    if upload := request.FILES.get("media"):
        media.replace(video, upload, name=upload.name or "media")
    elif "remove" in request.POST:
        media.remove(video)
    else:
        raise InvalidInput("No file is chosen.", hint="Choose an audio or video file.")
    messages.success(request, _("“%(title)s” was saved.") % {"title": video})
    return back(request, reverse("video", args=(pk,)))


def _part_of(file: PlayableFile, span: re.Match[str]) -> HttpResponse:
    start, end, suffix = span.groups()
    first = int(start) if start else max(0, file.size - int(suffix))
    last = min(int(end), file.size - 1) if end else file.size - 1
    if first > last:
        response = HttpResponse(status=416)
        response["Content-Range"] = f"bytes */{file.size}"
        return response
    data = media.read(file, first, last)
    response = HttpResponse(data, status=206, content_type=file.media_type)
    response["Content-Range"] = f"bytes {first}-{first + len(data) - 1}/{file.size}"
    return response


def _whole(request: HttpRequest, file: PlayableFile) -> HttpResponseBase:
    is_read = request.method == "GET"
    response: HttpResponseBase = StreamingHttpResponse(_pieces(file)) if is_read else HttpResponse()
    response["Content-Type"] = file.media_type
    response["Content-Length"] = str(file.size)
    return response


async def _pieces(file: PlayableFile) -> AsyncIterator[bytes]:
    """Yield the file, without holding a connection while a slow client reads."""

    def read(first: int) -> bytes:
        try:
            return media.read(file, first, file.size - 1)
        finally:
            release_connection()

    for first in range(0, file.size, media.MAX_READ):
        yield await sync_to_async(read)(first)
