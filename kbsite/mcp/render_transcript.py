"""Use cases' results as tool answers: a concise text for the model, the same as structured content, both within the token budget."""

from collections.abc import Callable, Sequence

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from citations.models import Source, State
from kbsite.mcp.budget import as_json, costs, fitting, longest, tokens
from kbsite.mcp.tool_inputs import (
    Arguments,
    GetJob,
    GetTranscript,
    ListTranscripts,
    SearchTranscript,
)
from kbsite.mcp.tool_outputs import (
    ChunkPlace,
    FetchAnswer,
    HitAnswer,
    IndexedAnswer,
    JobAnswer,
    ListAnswer,
    ProblemAnswer,
    SearchAnswer,
    TranscriptAnswer,
    VideoAnswer,
)
from transcripts import library, reading
from transcripts.errors import InvalidCursor
from transcripts.models import Job, Video
from transcripts.timecodes import clock

TITLE, NAME = 80, 60  # characters of a title, and of other names, that an answer repeats
SOURCES = 5  # of a video, that an answer names
CURSOR = 60  # tokens kept free for a cursor and the sentence about it
MORE = "More follows: repeat this call with the same arguments and cursor="
MORE_OF_FETCHED = (
    "More follows: get_transcript with the same videoId, language and collection, and cursor="
)


def answer(text: str, data: BaseModel) -> CallToolResult:
    """Return a tool's answer."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=data.model_dump(mode="json", exclude_none=True),
    )


def transcript_answer(
    found: library.VideoReading, asked: GetTranscript, *, more: str = MORE
) -> tuple[str, TranscriptAnswer]:
    """Return a page of what was read. Raises ``InvalidCursor`` when the transcript has changed since the page before."""
    offset, version = asked.place
    text = found.reading.text
    if asked.cursor and (version != found.transcript.digest[:12] or offset >= len(text)):
        raise InvalidCursor(
            "The transcript has changed since the page before.", hint="Begin anew without cursor."
        )
    data = _transcript(found)
    head = _head(found, data, offset)
    room = (
        asked.budget
        - CURSOR
        - max(tokens(head) + tokens(_reading_on(found, data)), tokens(as_json(data)))
    )
    data.text, following = (
        reading.page_text(text, offset, longest(text, offset, room=max(room, 32)))
        if text
        else ("", None)
    )
    data.next_cursor = asked.going_on(following, of=version or found.transcript.digest[:12])
    tail = f"{more}{data.next_cursor}" if data.next_cursor else _reading_on(found, data)
    return f"{head}\n\n{data.text}\n\n{tail}".rstrip(), data


def search_answer(found: library.VideoSearch, asked: SearchTranscript) -> tuple[str, SearchAnswer]:
    """Return a page of hits."""
    offset, _ = asked.place
    data = SearchAnswer(
        video_id=found.video.key,
        title=found.video.title[:TITLE],
        language=found.transcript.language,
        query=found.query,
    )
    page = found.hits[offset : offset + asked.max_results]
    head = f"{len(found.hits)}{' or more' if len(found.hits) == library.MAX_HITS else ''} segments of “{data.title}” ({data.video_id}) match, best first."
    room = asked.budget - CURSOR - max(tokens(head), tokens(as_json(data)))
    rows = [_hit(hit, room=room - 100) for hit in page]
    data.hits = rows[: fitting(costs(rows, _hit_line), room=room)]
    shown = offset + len(data.hits)
    data.next_cursor = asked.going_on(shown if shown < len(found.hits) else None)
    lines = [_hit_line(offset + number, hit) for number, hit in enumerate(data.hits)]
    tail = "To read around a hit: get_transcript with startTime and endTime."
    return joined(
        head if found.hits else _NO_HITS, lines, tail if found.hits else "", data.next_cursor
    ), data


def list_answer(found: library.VideoPage, asked: ListTranscripts) -> tuple[str, ListAnswer]:
    """Return a page of videos."""
    offset, _ = asked.place
    data = ListAnswer(total=found.total)
    head = (
        f"{found.total} videos, newest first."
        if found.total
        else "No video matches. Next: list_transcripts without filters, or add_source."
    )
    rows = [_video(video) for video in found.videos]
    data.videos = rows[
        : fitting(costs(rows, _video_line), room=asked.budget - CURSOR - 2 * tokens(head))
    ]
    shown = offset + len(data.videos)
    data.next_cursor = asked.going_on(shown if shown < found.total and data.videos else None)
    return joined(
        head, [_video_line(0, video) for video in data.videos], "", data.next_cursor
    ), data


def job_answer(
    job: Job, asked: Arguments, *, sources: Sequence[Source] = ()
) -> tuple[str, JobAnswer]:
    """Return how far a job is, how far what it brought is indexed, and a page of its problems."""
    offset, _ = asked.place if isinstance(asked, GetJob) else (0, "")
    data = _job(job)
    data.sources = [_indexed(source) for source in sources[:SOURCES]]
    head = "\n".join(
        [
            f"Job {job.pk} ({job.get_kind_display()} {job.target}) is {_state(job).removesuffix('.')}.",
            *map(_indexed_line, data.sources),
        ]
    )
    rows = [
        ProblemAnswer(name=problem["name"][:200], message=problem["message"][:300])
        for problem in job.problems[offset:]
    ]
    room = asked.budget - CURSOR - max(tokens(head) + tokens(_after(job)), tokens(as_json(data)))
    data.problems = rows[: fitting(costs(rows, _problem_line), room=room)]
    shown = offset + len(data.problems)
    if isinstance(asked, GetJob):
        data.next_cursor = asked.going_on(shown if shown < len(job.problems) else None)
    return joined(
        head,
        [_problem_line(0, problem) for problem in data.problems],
        _after(job),
        data.next_cursor,
    ), data


def fetched_answer(found: library.VideoReading, asked: GetTranscript) -> tuple[str, FetchAnswer]:
    """Return a transcript that is in the library; its further pages are get_transcript's."""
    text, data = transcript_answer(found, asked, more=MORE_OF_FETCHED)
    return text, FetchAnswer(status="ready", transcript=data)


def waiting_answer(job: Job, asked: Arguments) -> tuple[str, FetchAnswer]:
    """Return the job that gets a transcript."""
    text, data = job_answer(job, asked)
    return text, FetchAnswer(
        status="running" if job.state == Job.State.RUNNING else "queued", job=data
    )


# Transcripts


_NO_HITS = "No segment contains these words. Next: search_transcript with other words, or get_transcript to read."


def _transcript(found: library.VideoReading) -> TranscriptAnswer:
    video, transcript, read = found.video, found.transcript, found.reading
    return TranscriptAnswer(
        video_id=video.key,
        title=video.title[:TITLE],
        channel=video.channel[:NAME],
        collection=video.collection.slug,
        language=transcript.language,
        origin=transcript.origin,
        mode=read.mode.value,
        start=read.start,
        end=read.end,
        duration=transcript.duration / 1000,
        total_characters=read.total_characters,
        total_chunks=read.total_chunks,
        chunk_size=read.chunk_size,
        timestamp_link=library.link_at(video, int(read.start * 1000)),
        chunk=None
        if read.chunk is None
        else ChunkPlace(
            index=read.chunk.index,
            count=read.chunk.count,
            previous=read.chunk.previous,
            next=read.chunk.next,
        ),
        warning=read.warning or None,
    )


def _head(found: library.VideoReading, data: TranscriptAnswer, offset: int) -> str:
    language = f"{data.language or 'unknown language'}, {found.transcript.get_origin_display()}"
    about = [
        data.title,
        data.video_id,
        data.channel,
        language,
        f"{clock(found.transcript.duration)} long",
    ]
    lines = [
        " · ".join(part for part in about if part),
        f"{_part(data, offset)}, {data.timestamp_link}",
        data.warning,
    ]
    return "\n".join(line for line in lines if line)


def _part(data: TranscriptAnswer, offset: int) -> str:
    times = f"{clock(int(data.start * 1000))}–{clock(int(data.end * 1000))}"
    names = {
        "range": f"Part {times}",
        "full": "Whole transcript",
        "preview": f"Preview {times}",
        "chunk": f"Chunk {times}",
    }
    name = (
        f"Chunk {data.chunk.index} (of {data.chunk.count}, from 0) {times}"
        if data.chunk
        else names[data.mode]
    )
    return f"{name}, continued at character {offset}" if offset else name


def _reading_on(found: library.VideoReading, data: TranscriptAnswer) -> str:
    if data.mode == "preview":
        return (
            "This is the beginning only. Next: search_transcript for what you look for; get_transcript with "
            f"chunkIndex 0 to {data.total_chunks - 1}, or startTime and endTime in seconds; or, for all of it, about "
            f"{data.total_characters // 4:,} tokens, includeFullTranscript."
        )
    if data.chunk and data.chunk.next is not None:
        return f"Next: get_transcript with chunkIndex={data.chunk.next}."
    return ""


# Rows


def _hit(hit: library.SegmentHit, *, room: int) -> HitAnswer:
    # A file without times is one long segment: a single hit must not burst the budget.
    text = hit.text[: longest(hit.text, 0, room=max(room, 32))] if hit.text else ""
    return HitAnswer(
        text=text,
        start=hit.start,
        end=hit.end,
        score=round(hit.score, 4),
        timestamp_link=hit.timestamp_link,
    )


def _hit_line(number: int, hit: BaseModel) -> str:
    if not isinstance(hit, HitAnswer):
        return ""
    return f"{number + 1}. [{clock(int(hit.start * 1000))}–{clock(int(hit.end * 1000))}] {hit.text} ({hit.timestamp_link})"


def _video(video: Video) -> VideoAnswer:
    return VideoAnswer(
        video_id=video.key,
        title=video.title[:TITLE],
        channel=video.channel[:NAME],
        collection=video.collection.slug,
        duration=video.duration / 1000,
        languages=library.tracks(video),
        url=video.url,
        published_at=video.published_at.date().isoformat() if video.published_at else None,
    )


def _video_line(_: int, video: BaseModel) -> str:
    if not isinstance(video, VideoAnswer):
        return ""
    about = [
        video.video_id,
        video.title,
        video.channel,
        clock(int(video.duration * 1000)),
        ", ".join(video.languages),
        video.collection,
    ]
    return f"- {' · '.join(part for part in about if part)}"


def _problem_line(_: int, problem: BaseModel) -> str:
    return f"- {problem.name}: {problem.message}" if isinstance(problem, ProblemAnswer) else ""


def joined(head: str, lines: Sequence[str], tail: str, cursor: str | None) -> str:
    """Put an answer's text together."""
    return "\n".join(
        part for part in (head, *lines, f"{MORE}{cursor}" if cursor else "", tail) if part
    )


# Jobs


def _job(job: Job) -> JobAnswer:
    return JobAnswer(
        job_id=job.pk,
        state=job.state,
        kind=job.kind,
        target=job.target,
        step=job.step,
        done=job.done,
        total=job.total,
        percent=job.percent,
        video_id=job.video.key if job.video else None,
        error=f"{job.error} {job.hint}".strip()[:500] or None,
        problem_count=len(job.problems),
    )


def _indexed(source: Source) -> IndexedAnswer:
    by_words = source.chunk_count > 0
    error = f"{source.error} {source.hint}".strip()[:200] or None
    return IndexedAnswer(
        source_id=str(source.uuid),
        language=source.language,
        found_by_words=by_words,
        found_by_meaning=source.state == State.READY,
        error=error,
    )


def _indexed_line(one: IndexedAnswer) -> str:
    how = (
        "by words and by meaning"
        if one.found_by_meaning
        else "by words, not yet by meaning"
        if one.found_by_words
        else "not yet"
    )
    return f"search_knowledge_base finds it ({one.language or 'language unknown'}) {how}.{f' {one.error}' if one.error else ''}"


def _state(job: Job) -> str:
    reason = f": {f'{job.error} {job.hint}'.strip()[:500]}" if job.error else ""
    if job.state == Job.State.RUNNING:
        return f"running, {job.percent} %{f' ({job.step})' if job.step else ''}"
    if job.state == Job.State.QUEUED and job.run_after:
        return f"queued until {job.run_after:%Y-%m-%d %H:%M:%S} UTC{reason}"
    return f"{job.state}{reason}"


def _after(job: Job) -> str:
    """Name the tool that makes sense now."""
    steps: dict[str, Callable[[], str]] = {
        Job.State.DONE: lambda: (
            f"Next: get_transcript with videoId={job.video.key}."
            if job.video
            else "Next: list_transcripts."
        ),
        Job.State.FAILED: lambda: "Next: add_source to try again, or list_transcripts.",
    }
    waiting = f"Next: get_job with jobId={job.pk}, in half a minute."
    return steps[job.state]() if job.state in steps else waiting
