"""The operations on transcripts and jobs."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from ninja import Query, Router, Status
from ninja.files import UploadedFile

from transcripts import conf
from transcripts.adding import acquisition, listening, storage
from transcripts.adding.transcript_rows import StorageChange
from transcripts.api import shapes
from transcripts.api.shapes import responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.errors import TooLarge
from transcripts.core.headers import FILE_NAME, located
from transcripts.core.lists import page_of
from transcripts.core.views.requests import CallerRequest
from transcripts.library import activity, exports
from transcripts.library import reading as library
from transcripts.models import Job
from transcripts.schemas import (
    JobOut,
    JobsOut,
    StoredOut,
    VideoReadingOut,
    VideoSearchOut,
    YouTubeOut,
)
from transcripts.tasks import send

UPLOADS_AT_ONCE = 4  # times the size limit of one file, for all files of a request

router = Router(tags=["sources"])


class Request(CallerRequest):
    """A request of the API."""

    answer: HttpResponse  # what will be returned; for its headers
    begun: UUID | None  # the long work that an earlier attempt at the same keyed request began
    begin: Callable[[UUID | None], None]  # commits what was done, before long work (with its id)


def add_video_or_text(request: Request, source: shapes.SourceIn) -> Status[Any]:
    """Queue a YouTube address, or store a text. The operation itself is in ``citations``."""
    collection = library.target_collection(request.access, source.collection)
    if source.text:
        about = source.model_dump(include={"title", "language", "tags"})
        stored = storage.add_text(collection, source.text, by=request.caller.user, **about)
        request.answer["Location"] = f"/api/v1/transcripts/{quote(stored.video.key, safe='')}"
        return Status(201, stored)
    names = {"language", "translated", "tags", "newest", "every_hours"}
    about = {"by": request.caller.user, "listens": source.listen}
    about |= source.model_dump(include=names)
    return queued(request, acquisition.request(collection, source.url, **about))


@router.post(
    "sources/captions",
    response=responses({200: StoredOut, 201: StoredOut}, 404, 409, 413),
    openapi_extra=located(200, 201),
    summary="Add a video with its captions",
)
@needs(AccessLevel.WRITE)
def add_captions(request: Request, body: shapes.CaptionsIn) -> Status[Any]:
    """Store captions that were fetched elsewhere, such as by the browser extension.

    YouTube is not asked. 200 says that the video had captions in this language: they are updated,
    if these are another version of the same, or unchanged.
    """
    collection = library.target_collection(request.access, body.collection)
    about = body.model_dump(include={"automatic", "language", "title", "channel", "tags"})
    stored = storage.add_sent(collection, body.url, body.captions, by=request.caller.user, **about)
    request.answer["Location"] = f"/api/v1/transcripts/{stored.video.key}"
    return Status(201 if stored.change is StorageChange.ADDED else 200, stored)


@router.get("jobs", response=responses({200: JobsOut}, 404), summary="List jobs")
@needs(AccessLevel.READ)
def list_jobs(request: Request, query: Query[shapes.JobsIn]) -> dict[str, Any]:
    """List the jobs of your collections, newest first."""
    jobs = (
        Job.objects.visible(request.access)
        .select_related("collection", "video")
        .defer("video__description", "video__chapters", "video__languages")
    )
    if query.collection:
        jobs = jobs.filter(collection=library.find_collection(request.access, query.collection))
    if query.state:
        jobs = jobs.filter(state=query.state)
    rows, following = page_of(jobs, query.offset, query.limit)
    activity.annotate(request.access, rows)
    return {"jobs": rows, "total": jobs.count(), "next": following}


@router.get("jobs/{job_id}", response=responses({200: JobOut}, 404), summary="Follow a job")
@needs(AccessLevel.READ)
def get_job(request: Request, job_id: shapes.JobId) -> Job:
    """Return a job's progress, or how it ended."""
    return activity.find_job(request.access, job_id)


@router.post(
    "jobs/{job_id}/retry",
    response=responses({202: JobOut}, 403, 404, 409),
    openapi_extra=located(202),
    summary="Try a job again",
)
@needs(AccessLevel.WRITE)
def retry_job(request: Request, job_id: shapes.JobId, query: Query[shapes.RetryIn]) -> Status[Any]:
    """Queue a finished job again."""
    job = activity.find_job(request.access, job_id)
    request.access.require_write(job.collection_id)
    return queued(request, acquisition.retry(job, listens=query.listen))


@router.post(
    "jobs/{job_id}/stop", response=responses({200: JobOut}, 404, 409), summary="Stop listening"
)
@needs(AccessLevel.WRITE)
def stop_job(request: Request, job_id: shapes.JobId) -> Job:
    """Stop listening to a recording; what was heard is kept, and a retry goes on from there."""
    job = activity.find_job(request.access, job_id)
    request.access.require_write(job.collection_id)
    listening.stop(job)
    return activity.find_job(request.access, job_id)


@router.post(
    "feeds/{feed_id}/sync",
    response=responses({202: JobOut}, 404),
    openapi_extra=located(202),
    summary="Fetch what is new of a playlist or channel",
)
@needs(AccessLevel.WRITE)
def sync_feed(request: Request, feed_id: shapes.FeedId) -> Status[Any]:
    """Read the list again, and queue the videos that are new: the job says how many there are."""
    feed = activity.find_feed(request.access, feed_id)
    request.access.require_write(feed.collection_id)
    return queued(request, acquisition.request_feed(feed, by=request.caller.user))


# Reading. Longer paths stand before the one that ends with the id, which may contain slashes.


@router.get(
    "transcripts/{path:video_id}/search",
    response=responses({200: VideoSearchOut}, 404),
    summary="Search within a video",
)
@needs(AccessLevel.READ)
def search_transcript(
    request: Request, video_id: shapes.VideoId, query: Query[shapes.TranscriptSearchIn]
) -> library.VideoSearch:
    """Rank the segments of one video by BM25."""
    video = library.find_video(request.access, video_id, collection=query.collection)
    return library.search(video, query.query, language=query.language, limit=query.limit)


_TEXTS = ("text/vtt", "application/x-subrip", "text/plain", "text/markdown")
_CUE = {"text": {"type": "string"}, "start": {"type": "number"}, "duration": {"type": "number"}}
_TRANSCRIPT = {
    "id": {"type": "string"},
    "title": {"type": "string"},
    "lang": {"type": "string"},
    "has_added_stops": {"type": "boolean"},
    "cues": {"type": "array", "items": {"type": "object", "properties": _CUE}},
}
_FILES = {name: {"schema": {"type": "string"}} for name in _TEXTS} | {
    "application/json": {"schema": {"type": "object", "properties": _TRANSCRIPT}}
}


@router.get(
    "transcripts/{path:video_id}/download",
    response=responses({200: None}, 404),
    openapi_extra={"responses": {200: {"content": _FILES, "headers": FILE_NAME}}},
    summary="Download a transcript",
)
@needs(AccessLevel.READ)
def download_transcript(
    request: Request, video_id: shapes.VideoId, query: Query[shapes.DownloadIn]
) -> HttpResponse:
    """Return a transcript as WebVTT, SubRip, plain text, Markdown or JSON."""
    video = library.find_video(request.access, video_id, collection=query.collection)
    file = exports.export(video, form=query.format, language=query.language)
    disposition = content_disposition_header(True, file.name) or "attachment"
    headers = {"Content-Disposition": disposition}
    return HttpResponse(file.text, content_type=file.media_type, headers=headers)


@router.post(
    "transcripts/{path:video_id}/refetch",
    response=responses({202: JobOut}, 404),
    openapi_extra=located(202),
    summary="Fetch a video again",
)
@needs(AccessLevel.WRITE)
def refetch_transcript(
    request: Request, video_id: shapes.VideoId, query: Query[shapes.TranscriptChoiceIn]
) -> Status[Any]:
    """Queue a YouTube video again, in another language if one is named."""
    video = library.find_video(request.access, video_id, collection=query.collection)
    request.access.require_write(video.collection_id)
    job = acquisition.refetch(video, language=query.language, by=request.caller.user)
    return queued(request, job)


@router.get(
    "transcripts/{path:video_id}",
    response=responses({200: VideoReadingOut}, 404),
    summary="Read a transcript",
)
@needs(AccessLevel.READ)
def read_transcript(
    request: Request, video_id: shapes.VideoId, query: Query[shapes.ReadingIn]
) -> library.VideoReading:
    """Read a time range, a time chunk, all of it if short or requested, or else a preview."""
    video = library.find_video(request.access, video_id, collection=query.collection)
    selection = query.model_dump(exclude={"collection", "full"})
    return library.read(video, include_full=query.full, **selection)


@router.get(
    "youtube", response=responses({200: YouTubeOut}), summary="See the state of the YouTube queue"
)
@needs(AccessLevel.READ)
def get_youtube(request: Request) -> activity.YouTubeQueue:
    """Return whether the queue to YouTube runs, or until when it pauses and why."""
    return activity.youtube_queue(request.access)


def queued(request: Request, job: Job) -> Status[Any]:
    """Send a job to the workers, and answer with it and its address."""
    send(job)
    activity.annotate(request.access, [job])
    request.answer["Location"] = f"/api/v1/jobs/{job.pk}"
    return Status(202, job)


def contents(files: list[UploadedFile]) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of files. Raises ``TooLarge`` before reading any."""
    limit = UPLOADS_AT_ONCE * conf.max_upload_bytes()
    if sum(file.size or 0 for file in files) > limit:
        raise TooLarge(
            f"Together the files have more than {limit:,} bytes.",
            hint="Send them in several requests.",
        )
    for file in files:
        yield file.name or "", file.read()
