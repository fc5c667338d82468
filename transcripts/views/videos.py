"""The page of a video: read, search, download, fetch again and delete it."""

import hashlib
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from transcripts import acquisition, collections, exports, library
from transcripts.errors import InvalidInput, InvalidTime, NotFound, TranscriptNotFound
from transcripts.exports import TranscriptFormat
from transcripts.forms import FetchForm, require_valid
from transcripts.models import Thumbnail, Transcript, Video
from transcripts.tasks import send
from transcripts.timecodes import parse_clock
from transcripts.tokenizer import MAX_QUERY_CHARACTERS
from transcripts.views.requests import PageRequest, done, fragment

HITS = 10
ART_HUES = (168, 200, 228, 262, 300, 340, 18, 42)


@require_safe
def show_video(request: PageRequest, pk: int) -> HttpResponse:
    """Show the time chunk of index ``chunk`` or at moment ``t``, and the hits for ``q``."""
    video = collections.find_video(request.access, pk)
    language = request.GET.get("lang", "")[:35]
    context: dict[str, Any] = {
        "video": video,
        "language": language,
        "may_write": video.collection_id in request.access.writable,
        "transcripts": video.transcripts.light(),
        "query": request.GET.get("q", "")[:MAX_QUERY_CHARACTERS],
        "formats": list(TranscriptFormat),
    }
    try:
        transcript = library.find_transcript(video, language=language)
    except TranscriptNotFound as error:
        context["missing"] = error
        status = 404 if language else 200
        return render(request, "transcripts/video.html", context, status=status)
    context |= _chunk(request, video, transcript, language) | _hits(context)
    return render(request, "transcripts/video.html", context)


@require_safe
def show_chunk(request: PageRequest, pk: int, index: int) -> HttpResponse:
    """Show a time chunk as a fragment for infinite scroll."""
    if not request.htmx:
        return redirect(f"{reverse('video', args=(pk,))}?chunk={index}")
    video = collections.find_video(request.access, pk)
    language = request.GET.get("lang", "")[:35]
    read = library.read(video, language=language, chunk_index=index)
    context = {
        "video": video,
        "chunk": read.reading.chunk,
        "language": language,
        "only": request.GET.get("only", ""),
    }
    return fragment(request, "transcripts/_chunk.html", context)


@require_safe
def search(request: PageRequest, pk: int) -> HttpResponse:
    """Show the hits for ``q`` as a fragment for search-as-you-type."""
    if not request.htmx:
        return redirect(f"{reverse('video', args=(pk,))}?{request.GET.urlencode()}")
    video = collections.find_video(request.access, pk)
    context = {
        "video": video,
        "language": request.GET.get("lang", "")[:35],
        "query": request.GET.get("q", "")[:MAX_QUERY_CHARACTERS],
    }
    return fragment(request, "transcripts/_hits.html", {**context, **_hits(context)})


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
        return HttpResponse(bytes(stored.data), content_type="image/jpeg")
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
    return done(request, f"“{video}” is queued.", "activity")


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then delete the video and its transcripts."""
    video = _changeable(request, pk)
    if request.method != "POST":
        context = {"video": video, "transcripts": video.transcripts.light()}
        return render(request, "transcripts/delete_video.html", context)
    collections.delete_video(video)
    return done(request, f"“{video}” was deleted.", "library")


def _changeable(request: PageRequest, pk: int) -> Video:
    video = collections.find_video(request.access, pk)
    request.access.require_write(video.collection_id)
    return video


def _chunk(
    request: PageRequest, video: Video, transcript: Transcript, language: str
) -> dict[str, Any]:
    moment, until = (_moment(request.GET.get(name, "")) for name in ("t", "until"))
    begin, end = round((moment or 0.0) * 1000), round((until or 0.0) * 1000)
    # Whole seconds are rounded, so they mean every millisecond of the second.
    latest = begin + (999 if (moment or 0.0).is_integer() else 0)
    sent = request.GET.get("chunk")
    index = library.chunk_index_at(transcript, latest / 1000) if sent is None else _index(sent)
    chunk = library.read(video, language=language, chunk_index=index).reading.chunk
    at = None
    if moment is not None and chunk is not None:
        starts = [cue.start for cue in chunk.cues]
        at = max((start for start in starts if start <= latest), default=starts[0])
    return {
        "transcript": transcript,
        "chunk": chunk,
        "at": at,
        "start": int(moment or 0),
        "from_ms": begin,
        "until_ms": end if end > begin else None,  # None plays to the end
    }


def _hits(context: dict[str, Any]) -> dict[str, Any]:
    if not str(context["query"]).strip():
        return {}
    video, query, language = (context[name] for name in ("video", "query", "language"))
    return {"search": library.search(video, query, language=language, limit=HITS)}


def _moment(text: str) -> float | None:
    try:
        return parse_clock(text) if text else None
    except InvalidTime:
        return None  # show the video anyway


def _index(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidInput(
            "The chunk in the address is not a number.", hint="Chunks are counted from 0."
        )
    return int(text)


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
