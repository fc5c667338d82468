"""Jobs: queue what the library does not have yet, wait a little, and say where they are."""

import time
from asyncio import sleep
from collections.abc import Sequence

from django.utils import timezone

from citations.models import Source, State
from citations.vectors import language_gap
from kbsite import celery
from kbsite.callers import SignedInCaller
from kbsite.mcp import progress
from kbsite.mcp.answer_text import clip, for_models, page
from kbsite.mcp.calls import in_thread
from kbsite.mcp.errors import FetchFailed
from kbsite.mcp.tool_inputs import Arguments, GetJob
from transcripts.adding import acquisition
from transcripts.core.access import AccessLevel
from transcripts.core.errors import InvalidUrl, TranscriptNotFound, VideoNotFound
from transcripts.library import activity
from transcripts.library import reading as library
from transcripts.models import Collection, Job, Video
from transcripts.schemas import JobOut, JobProblem
from transcripts.text.timecodes import parse_target

PATIENCE = 20.0  # seconds; clients abandon a call after about 60
POLL = 0.5  # seconds between two queries of the job
SOURCES = 5  # of a video, that an answer names


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
        where = target_collection(by, collection)
        try:
            target = parse_target(reference)
        except InvalidUrl:
            raise missing from None
        if target.kind != "video":
            raise InvalidUrl(
                f"This is a {target.kind}, not a video.", hint="add_source adds all of its videos."
            ) from None
        return request(by, where, target.id, language=language)
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


async def wait_for(by: SignedInCaller, job: Job) -> Job:
    """Wait until a job ends or is postponed, ``PATIENCE`` seconds at most; say what it does.

    Raises ``FetchFailed``.
    """
    started = time.monotonic()
    while time.monotonic() - started < PATIENCE:
        job = await in_thread(activity.find_job, by.scope, job.pk)
        if job.state == Job.State.FAILED:
            raise FetchFailed(job.error, hint=job.hint)
        if job.state == Job.State.DONE or job.run_after is not None:
            return job
        progress.step(job.step or job.state)
        await sleep(POLL)
    return job


def render_job(job: Job, arguments: Arguments, *, sources: Sequence[Source] = ()) -> str:
    """Return a job, how far the sources it added are indexed, and a page of its problems."""
    offset, _ = arguments.position if isinstance(arguments, GetJob) else (0, "")
    data = clip(JobOut.model_validate(job))
    rows = [clip(problem) for problem in data.problems[offset:]]
    lines = [
        f"Job {job.pk} ({job.get_kind_display()} {job.target}) is {_state(data).removesuffix('.')}."
    ]
    # The labels are read from the database, which async callers, who name no source, may not do.
    label = language_gap.state_labels() if sources else None
    for source in sources[:SOURCES]:
        how = "by words, not yet by meaning" if source.chunk_count else "not yet"
        if label and source.state == State.READY:
            how = label(source.state, source.language).removeprefix("found ")
        language = source.language or "language unknown"
        ways = f"search_knowledge_base finds it ({language}, sourceId={source.uuid}) {how}."
        lines.append(f"{ways} {for_models(source.error[:500])}".rstrip())
    lines += [f"{len(job.problems)} problems:"] if job.problems else []

    def line(_: int, problem: JobProblem) -> str:
        return f"- {problem.name}: {problem.message}"

    total, tail = len(job.problems), _next_tool(data)
    return page("\n".join(lines), rows, line, arguments, total=total, tail=tail)


def _state(job: JobOut) -> str:
    reason = f": {for_models(f'{job.error} {job.hint}').strip()}" if job.error else ""
    if job.state == "running":
        return f"running, {job.percent} %{f' ({job.step})' if job.step else ''}"
    if job.state == "queued" and _waits(job):
        return f"queued until {job.run_after:%Y-%m-%d %H:%M:%S} UTC{reason}"
    before = f", {job.jobs_before} before this" if job.jobs_before else ""
    return f"{job.state}{before}{reason}"


def _waits(job: JobOut) -> bool:
    return job.run_after is not None and job.run_after > timezone.now()


def _next_tool(job: JobOut) -> str:
    if job.state == "failed":
        return "Next: add_source to try again, or list_transcripts."
    if job.state != "done":
        when = f"after {job.run_after:%H:%M} UTC" if _waits(job) else "in half a minute"
        return f"Next: get_job with jobId={job.id}, {when}."
    if job.kind == "page":
        return "Next: list_sources."
    if job.video_id:
        return f"Next: get_transcript with videoId={job.video_id}."
    return "Next: list_transcripts."
