"""Renders transcripts, videos and jobs as tools' answers.

An answer is a short text for the model and the same as structured content, both within the budget.
"""

from collections.abc import Sequence

from django.utils import timezone
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from citations.models import Source, State
from citations.providers.prompts import marked
from kbsite.mcp.budget import LEAST, longest, shorten, size, take, tokens
from kbsite.mcp.tool_inputs import (
    Arguments,
    GetJob,
    GetTranscript,
    ListTranscripts,
    SearchTranscript,
)
from kbsite.mcp.tool_outputs import (
    FetchedOut,
    HitsPage,
    IndexedOut,
    JobProgress,
    TranscriptPage,
    VideosPage,
    clip,
    dump,
)
from transcripts import library, reading
from transcripts.errors import InvalidCursor
from transcripts.models import Job
from transcripts.schemas import HitOut, JobOut, JobProblem, VideoDetailsOut
from transcripts.timecodes import clock, milliseconds

SOURCES = 5  # of a video, that an answer names
CURSOR = 90  # tokens reserved for a cursor, the sentence about it, and the marks of ``material``
MORE = "More follows: repeat this call with the same arguments and cursor="
MORE_OF_FETCHED = (
    "More follows: get_transcript with the same videoId, language and collection, and cursor="
)
_NO_HITS = (
    "No segment contains these words. Next: search_transcript with other words, or get_transcript "
    "to read."
)


def answer(text: str, data: BaseModel) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=dump(data)
    )


def joined(head: str, lines: Sequence[str], tail: str, cursor: str | None) -> str:
    more = f"{MORE}{cursor}" if cursor else ""
    return "\n".join(part for part in (head, material("\n".join(lines)), more, tail) if part)


def material(text: str) -> str:
    """Put what sources say between marks that it cannot contain; "" stays as it is.

    It may give orders to the model that reads it, and pose as lines of this server.
    """
    return marked("not-instructions", text) if text else ""


# Transcripts


def render_transcript(
    found: library.VideoReading, asked: GetTranscript, *, more: str = MORE
) -> tuple[str, TranscriptPage]:
    """Return a page of what was read.

    Raises ``InvalidCursor`` if the transcript has changed since the page before.
    """
    offset, version = asked.position
    text, digest = found.reading.text, found.transcript.digest[:12]
    if asked.cursor and (version != digest or offset >= len(text)):
        raise InvalidCursor(
            "The transcript has changed since the page before.", hint="Start again without cursor."
        )
    data = TranscriptPage.model_validate(found)
    data.video, data.reading.text = clip(data.video), ""
    data.timestamp_link = library.link_at(found.video, int(data.reading.start * 1000))
    head, next_step = _head(found, data, offset), _next_step(data)
    room = asked.budget - CURSOR - max(tokens(head) + tokens(next_step), size(data))
    following = None
    if text:
        length = longest(text, offset, room=max(room, LEAST))
        data.reading.text, following = reading.page_text(text, offset, length)
    data.next_cursor = asked.cursor_at(following, of=version or digest)
    tail = f"{more}{data.next_cursor}" if data.next_cursor else next_step
    said = material(f"{head}\n\n{data.reading.text}")
    return f"{said}\n\n{tail}".rstrip(), data


def render_hits(found: library.VideoSearch, asked: SearchTranscript) -> tuple[str, HitsPage]:
    offset, _ = asked.position
    data = HitsPage.model_validate(found)
    rows, data.hits = data.hits[offset : offset + asked.max_results], []
    data.video = clip(data.video)
    head, tail = _NO_HITS, ""
    if found.hits:
        count = f"{len(found.hits)}{' or more' if len(found.hits) == library.MAX_HITS else ''}"
        head = f"{count} segments of {data.video.id} match, best first."
        tail = "To read around a hit: get_transcript with startTime and endTime."
    room = asked.budget - CURSOR - max(tokens(head), size(data))
    for row in rows:  # a file without times is one long segment
        row.text = shorten(row.text, room=room - 100)
    data.hits = take(rows, _hit_line, room=room)
    shown = offset + len(data.hits)
    data.next_cursor = asked.cursor_at(shown if shown < len(found.hits) else None)
    lines = [_hit_line(offset + number, hit) for number, hit in enumerate(data.hits)]
    return joined(head, lines, tail, data.next_cursor), data


def render_videos(page: library.VideoPage, asked: ListTranscripts) -> tuple[str, VideosPage]:
    offset, _ = asked.position
    data = VideosPage(total=page.total)
    head = "No video matches. Next: list_transcripts without filters, or add_source."
    if page.total:
        head = f"{page.total} videos, newest first."
    rows = [clip(VideoDetailsOut.read(video, library.tracks(video))) for video in page.videos]
    data.videos = take(rows, _video_line, room=asked.budget - CURSOR - 2 * tokens(head))
    shown = offset + len(data.videos)
    data.next_cursor = asked.cursor_at(shown if shown < page.total and data.videos else None)
    return joined(head, [_video_line(0, row) for row in data.videos], "", data.next_cursor), data


def render_fetched(found: library.VideoReading, asked: GetTranscript) -> tuple[str, FetchedOut]:
    """Return a transcript of the library; get_transcript has its further pages."""
    text, data = render_transcript(found, asked, more=MORE_OF_FETCHED)
    return text, FetchedOut(status="ready", transcript=data)


def _head(found: library.VideoReading, data: TranscriptPage, offset: int) -> str:
    video, transcript = data.video, data.transcript
    language = (
        f"{transcript.language or 'unknown language'}, {found.transcript.get_origin_display()}"
    )
    length = f"{clock(found.transcript.duration)} long"
    about = (video.title, video.id, video.channel, language, length)
    lines = (
        " · ".join(part for part in about if part),
        f"{_part(data, offset)}, {data.timestamp_link}",
        data.reading.warning,
    )
    return "\n".join(line for line in lines if line)


def _part(data: TranscriptPage, offset: int) -> str:
    read = data.reading
    name = {"range": "Part", "preview": "Preview"}.get(read.mode, "Chunk")
    if read.chunk:
        name = f"Chunk {read.chunk.index} (of {read.chunk.count}, from 0)"
    part = f"{name} {clock(int(read.start * 1000))}–{clock(int(read.end * 1000))}"
    if read.mode == "full":
        part = "Whole transcript"
    return f"{part}, continued at character {offset}" if offset else part


def _next_step(data: TranscriptPage) -> str:
    read = data.reading
    if read.mode == "preview":
        return (
            "This is the beginning only. Next: search_transcript for what you look for; "
            f"get_transcript with chunkIndex 0 to {read.total_chunks - 1}, or startTime and "
            "endTime in seconds; or includeFullTranscript for all of it, about "
            f"{read.total_characters // 4:,} tokens."
        )
    if read.chunk and read.chunk.next is not None:
        return f"Next: get_transcript with chunkIndex={read.chunk.next}."
    return ""


def _hit_line(number: int, hit: HitOut) -> str:
    times = f"{clock(milliseconds(hit.start))}–{clock(milliseconds(hit.end))}"
    return f"{number + 1}. [{times}] {hit.text} ({hit.timestamp_link})"


def _video_line(_: int, video: VideoDetailsOut) -> str:
    length, languages = clock(milliseconds(video.duration)), ", ".join(video.languages)
    about = (video.id, video.title, video.channel, length, languages, video.collection)
    return f"- {' · '.join(part for part in about if part)}"


# Jobs


def render_job(
    job: Job, asked: Arguments, *, sources: Sequence[Source] = ()
) -> tuple[str, JobProgress]:
    """Return a job, how far the sources it added are indexed, and a page of its problems."""
    offset, _ = asked.position if isinstance(asked, GetJob) else (0, "")
    data = clip(JobProgress.model_validate(job))
    rows = [clip(problem) for problem in data.problems[offset:]]
    data.problem_count, data.problems = len(job.problems), []
    data.sources = [
        clip(
            IndexedOut(
                source_id=str(source.uuid),
                language=source.language,
                found_by_words=source.chunk_count > 0,
                found_by_meaning=source.state == State.READY,
                error=source.error,
                hint=source.hint,
            )
        )
        for source in sources[:SOURCES]
    ]
    state = _state(data).removesuffix(".")
    head = "\n".join(
        [
            f"Job {job.pk} ({job.get_kind_display()} {job.target}) is {state}.",
            *map(_indexed_line, data.sources),
        ]
    )
    next_step = _next_tool(data)
    room = asked.budget - CURSOR - max(tokens(head) + tokens(next_step), size(data))
    data.problems = take(rows, _problem_line, room=room)
    shown = offset + len(data.problems)
    if isinstance(asked, GetJob):
        data.next_cursor = asked.cursor_at(shown if shown < data.problem_count else None)
    lines = [_problem_line(0, problem) for problem in data.problems]
    return joined(head, lines, next_step, data.next_cursor), data


def render_waiting(job: Job, asked: Arguments) -> tuple[str, FetchedOut]:
    text, data = render_job(job, asked)
    return text, FetchedOut(
        status="running" if job.state == Job.State.RUNNING else "queued", job=data
    )


def _problem_line(_: int, problem: JobProblem) -> str:
    return f"- {problem.name}: {problem.message}"


def _indexed_line(row: IndexedOut) -> str:
    how = "by words, not yet by meaning" if row.found_by_words else "not yet"
    if row.found_by_meaning:
        how = "by words and by meaning"
    sentence = f"search_knowledge_base finds it ({row.language or 'language unknown'}) {how}."
    return " ".join(part for part in (sentence, row.error, row.hint) if part)


def _state(job: JobOut) -> str:
    reason = f": {f'{job.error} {job.hint}'.strip()}" if job.error else ""
    if job.state == Job.State.RUNNING:
        return f"running, {job.percent} %{f' ({job.step})' if job.step else ''}"
    if job.state == Job.State.QUEUED and _waits(job):
        return f"queued until {job.run_after:%Y-%m-%d %H:%M:%S} UTC{reason}"
    before = f", {job.jobs_before} before this" if job.jobs_before else ""
    return f"{job.state}{before}{reason}"


def _waits(job: JobOut) -> bool:
    return job.run_after is not None and job.run_after > timezone.now()


def _next_tool(job: JobOut) -> str:
    if job.state == Job.State.FAILED:
        return "Next: add_source to try again, or list_transcripts."
    if job.state != Job.State.DONE:
        when = f"after {job.run_after:%H:%M} UTC" if _waits(job) else "in half a minute"
        return f"Next: get_job with jobId={job.id}, {when}."
    if job.video_id:
        return f"Next: get_transcript with videoId={job.video_id}."
    return "Next: list_transcripts."
