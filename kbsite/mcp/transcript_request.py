"""Getting what the library does not have yet: choosing where it goes, queueing it, and waiting a little for it."""

import time
from asyncio import sleep
from collections.abc import Awaitable, Callable, Sequence

from kbsite.auth import Caller
from kbsite.mcp.threads import in_thread
from transcripts import acquisition, activity, library, tasks
from transcripts.errors import InvalidUrl, KnowledgeBaseError, TranscriptNotFound, VideoNotFound
from transcripts.models import Collection, Job, Video
from transcripts.timecodes import parse_target

PATIENCE = 20.0  # seconds; clients give up on a call after about 60
GLANCE = 0.5  # seconds between two looks at the job
TELL = 1.0  # seconds between two reports of progress

Report = Callable[[float, float | None, str | None], Awaitable[None]]


class FetchFailed(KnowledgeBaseError):
    """The job that was waited for ended without a transcript; message and hint are its own."""

    code = "fetch_failed"


def find_or_request(by: Caller, reference: str, *, language: str, collection: str) -> Video | Job:
    """Return the video if its transcript is there, else the job that gets it. Raises ``Forbidden`` where that would need the right to write."""
    try:
        video = library.find_video(by.scope, reference, collection=collection)
        library.find_transcript(video, language=language)
    except VideoNotFound as missing:
        return request(by, shelf(by, collection), _video_id(reference, missing), language=language)
    except TranscriptNotFound:
        if not video.youtube_id:
            raise
        by.require_write()
        by.scope.require_write(video.collection_id)
        return request(by, video.collection, video.youtube_id, language=language)
    return video


def request(
    by: Caller,
    where: Collection,
    address: str,
    *,
    language: str = "",
    tags: Sequence[str] = (),
    newest: int | None = None,
) -> Job:
    """Queue an address and tell the workers."""
    job = acquisition.request(
        where, address, language=language, tags=tags, newest=newest, by=by.user
    )
    tasks.send(job)
    return job


def shelf(by: Caller, name: str) -> Collection:
    """Return the collection to add to. Raises ``Forbidden``, ``CollectionNotFound``, and ``InvalidInput`` when it has to be named."""
    by.require_write()
    return library.target_collection(by.scope, name)


async def wait_for(by: Caller, job: Job, *, report: Report) -> Job:
    """Wait for a job, reporting seconds waited and what it does, until it ends, is put off, or patience does. Raises ``FetchFailed``."""
    started, reported = time.monotonic(), -1.0
    while (waited := time.monotonic() - started) < PATIENCE:
        job = await in_thread(activity.find_job, by.scope, job.pk)
        if job.state == Job.State.FAILED:
            raise FetchFailed(job.error, hint=job.hint)
        if job.state == Job.State.DONE or job.run_after is not None:
            return job
        if waited - reported >= TELL:
            reported = waited
            await report(round(waited, 3), PATIENCE, job.step or job.state)
        await sleep(GLANCE)
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
