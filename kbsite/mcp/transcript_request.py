"""Fetches what the library does not have yet: queues it and waits a little."""

import time
from asyncio import sleep
from collections.abc import Awaitable, Callable, Sequence

from kbsite import celery
from kbsite.callers import SignedInCaller
from kbsite.mcp.calls import in_thread
from transcripts.adding import acquisition
from transcripts.core.access import AccessLevel
from transcripts.core.errors import (
    InvalidUrl,
    KnowledgeBaseError,
    TranscriptNotFound,
    VideoNotFound,
)
from transcripts.library import activity
from transcripts.library import reading as library
from transcripts.models import Collection, Job, Video
from transcripts.text.timecodes import parse_target

PATIENCE = 20.0  # seconds; clients abandon a call after about 60
POLL = 0.5  # seconds between two queries of the job
REPORT = 1.0  # seconds between two reports of progress

Report = Callable[[float, float | None, str | None], Awaitable[None]]


class FetchFailed(KnowledgeBaseError):
    """The job ended without a transcript; message and hint come from the job."""

    code = "fetch_failed"


def find_or_request(
    by: SignedInCaller, reference: str, *, language: str, collection: str
) -> Video | Job:
    """Return the video if it has its transcript, else the job that fetches it.

    Raises ``Forbidden`` if fetching needs the right to write.
    """
    try:
        video = library.find_video(by.scope, reference, collection=collection)
        library.find_transcript(video, language=language)
    except VideoNotFound as missing:
        return request(
            by, target_collection(by, collection), _video_id(reference, missing), language=language
        )
    except TranscriptNotFound:
        if not video.youtube_id:
            raise
        by.require(AccessLevel.WRITE)
        by.scope.require_write(video.collection_id)
        return request(by, video.collection, video.youtube_id, language=language)
    return video


def request(
    by: SignedInCaller,
    where: Collection,
    address: str,
    *,
    language: str = "",
    tags: Sequence[str] = (),
    newest: int | None = None,
) -> Job:
    """Queue an address and notify the workers."""
    job = acquisition.request(
        where, address, language=language, tags=tags, newest=newest, by=by.user
    )
    celery.send(job)
    activity.annotate(by.scope, [job])
    return job


def target_collection(by: SignedInCaller, name: str) -> Collection:
    """Return the collection to add to.

    Raises ``Forbidden``, ``CollectionNotFound``, and ``InvalidInput`` if it must be named.
    """
    by.require(AccessLevel.WRITE)
    return library.target_collection(by.scope, name)


async def wait_for(by: SignedInCaller, job: Job, *, report: Report) -> Job:
    """Wait until a job ends or is postponed, ``PATIENCE`` seconds at most; report its progress.

    Raises ``FetchFailed``.
    """
    started, reported = time.monotonic(), -1.0
    while (waited := time.monotonic() - started) < PATIENCE:
        job = await in_thread(activity.find_job, by.scope, job.pk)
        if job.state == Job.State.FAILED:
            raise FetchFailed(job.error, hint=job.hint)
        if job.state == Job.State.DONE or job.run_after is not None:
            return job
        if waited - reported >= REPORT:
            reported = waited
            await report(round(waited, 3), PATIENCE, job.step or job.state)
        await sleep(POLL)
    return job


def _video_id(reference: str, missing: VideoNotFound) -> str:
    try:
        target = parse_target(reference)
    except InvalidUrl:
        raise missing from None
    if target.kind != "video":
        raise InvalidUrl(
            f"This is a {target.kind}, not a video.", hint="add_source adds all of its videos."
        )
    return target.id
