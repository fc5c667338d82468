"""Videos, readings, hits and jobs as JSON and in a terminal."""

from collections.abc import Iterable
from typing import Any

from rich.text import Text

from kbsite.cli.terminal import note, out, printable, say
from transcripts.library import SegmentHit, VideoReading, VideoSearch, link_at, tracks
from transcripts.models import Job, Video
from transcripts.timecodes import clock

_READING_FIELDS = (
    "mode",
    "start",
    "end",
    "text",
    "is_complete",
    "total_characters",
    "total_chunks",
    "chunk_size",
    "hints",
    "warning",
)
_CHUNK_FIELDS = ("index", "count", "start", "end", "previous", "next")


def video(video: Video) -> dict[str, Any]:
    """Return a video for programs; times in seconds."""
    return {
        "id": video.key,
        "title": video.title,
        "channel": video.channel,
        "collection": video.collection.slug,
        "url": video.url,
        "duration": video.duration / 1000,
        "published_at": video.published_at.isoformat() if video.published_at else None,
        "languages": tracks(video),
        "tags": video.tags,
        "chapters": [{"start": start / 1000, "title": title} for start, title in video.chapters],
    }


def reading(result: VideoReading) -> dict[str, Any]:
    """Return a reading for programs: the text, its position, and hints for reading on."""
    video, part = result.video, result.reading
    return {
        "id": video.key,
        "title": video.title,
        "language": result.transcript.language,
        "origin": result.transcript.origin,
        **_fields(part, _READING_FIELDS),
        "timestamp_link": link_at(video, round(part.start * 1000)),
        "chunk": _fields(part.chunk, _CHUNK_FIELDS) if part.chunk else None,
    }


def hit(hit: SegmentHit) -> dict[str, Any]:
    """Return a search hit for programs."""
    return _fields(hit, ("text", "start", "end", "score", "timestamp_link"))


def job(job: Job) -> dict[str, Any]:
    """Return a job for programs."""
    return {
        "id": job.pk,
        **_fields(job, ("kind", "target", "state", "step", "done", "total", "percent")),
        "collection": job.collection.slug,
        "video": job.video.key if job.video else None,
        "code": job.error_code,
        "message": job.error,
        "hint": job.hint,
        "problems": job.problems,
        "run_after": job.run_after.isoformat() if job.run_after else None,
        "created_at": job.created_at.isoformat(),
    }


def print_reading(result: VideoReading) -> None:
    """Print cues with their times, then how to read on."""
    part, key, transcript = result.reading, result.video.key, result.transcript
    language = transcript.language or "unknown language"
    heading = f"{result.video.title} · {language} · {clock(transcript.duration)}"
    if part.chunk:
        heading += f" · chunk {part.chunk.index} of 0–{part.chunk.count - 1}"
    note(heading, "bold")
    for cue in part.cues:
        line = Text(f"{clock(cue.start):>8}  ", style="cyan") + Text(printable(cue.text), style="")
        out().print(line, soft_wrap=not out().is_terminal)
    if part.warning:
        note(part.warning, "yellow")
    if part.chunk and part.chunk.next is not None:
        note(f"Read on: kb show {key} --chunk {part.chunk.next}")
    if part.hints:
        note(
            f"This is a preview. Read on: kb show {key} --chunk 0 (to {part.total_chunks - 1}),"
            f" --start 1:00 --end 2:00, or --full; kb search WORDS --in {key}"
        )


def print_hits(result: VideoSearch) -> None:
    """Print each hit's time, score, link, and its text with the query's words marked."""
    if not result.hits:
        say(f"Nothing in “{result.video}” matches “{result.query}”.", "dim")
    for hit in result.hits:
        text = Text(hit.text)
        for start, end in hit.spans:
            text.stylize("bold yellow", start, end)
        span = f"{clock(round(hit.start * 1000))}–{clock(round(hit.end * 1000))}"
        detail = f"  {hit.score:.2f}  {printable(hit.timestamp_link)}"
        out().print(Text(span, style="cyan") + Text(detail, style="dim"), soft_wrap=True)
        out().print(text, soft_wrap=not out().is_terminal)
        say("")


def _fields(record: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
