"""The audio or video file of a recording: played in ranges, added and removed on its page."""

import re
from collections.abc import AsyncIterator
from typing import Final

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from transcripts.core.errors import InvalidInput
from transcripts.core.locks import release_connection
from transcripts.core.views.requests import PageRequest, back
from transcripts.library import collections
from transcripts.media import files as media
from transcripts.models import PlayableFile

RANGE: Final = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")
# Browsers must not run a file's content as part of this site: no sniffing, no scripts.
HARMLESS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Accept-Ranges": "bytes",
}


@require_safe
def show_media(request: PageRequest, pk: int) -> HttpResponseBase:
    """Return the file, or the range that a player asks for, of at most two megabytes."""
    return send(request, media.find(collections.find_video(request.access, pk)))


def send(request: HttpRequest, file: PlayableFile) -> HttpResponseBase:
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
    video = collections.find_video(request.access, pk)
    request.access.require_write(video.collection_id)
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
    for first in range(0, file.size, media.MAX_READ):
        yield await sync_to_async(_piece)(file, first)


def _piece(file: PlayableFile, first: int) -> bytes:
    try:
        return media.read(file, first, file.size - 1)
    finally:
        release_connection()
