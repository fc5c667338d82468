"""Videos, readings and hits, as JSON and on a terminal."""

from typing import Any

from rich.text import Text

from kbsite.cli.terminal import note, out, printable, say
from transcripts.library import SegmentHit, VideoReading, VideoSearch, link_at, tracks
from transcripts.models import Job, Video
from transcripts.reading import TimeChunk
from transcripts.timecodes import clock


def video(one: Video) -> dict[str, Any]:
    """Return what a program needs to know of a video; times in seconds."""
    return {
        "id": one.key,
        "title": one.title,
        "channel": one.channel,
        "collection": one.collection.slug,
        "url": one.url,
        "duration": one.duration / 1000,
        "published_at": one.published_at.isoformat() if one.published_at else None,
        "languages": languages(one),
        "tags": one.tags,
        "chapters": [{"start": start / 1000, "title": title} for start, title in one.chapters],
    }


def languages(one: Video) -> list[str]:
    """Return the languages that it has transcripts in, as --lang takes them: ``en.auto`` beside an ``en`` that a person made."""
    return tracks(one)


def reading(found: VideoReading) -> dict[str, Any]:
    """Return what was read, where it lies in the whole, and how to read on."""
    read = found.reading
    return {
        "id": found.video.key,
        "title": found.video.title,
        "language": found.transcript.language,
        "origin": found.transcript.origin,
        "mode": read.mode,
        "start": read.start,
        "end": read.end,
        "timestamp_link": link_at(found.video, round(read.start * 1000)),
        "text": read.text,
        "is_complete": read.is_complete,
        "total_characters": read.total_characters,
        "total_chunks": read.total_chunks,
        "chunk_size": read.chunk_size,
        "chunk": _place(read.chunk) if read.chunk else None,
        "hints": read.hints,
        "warning": read.warning,
    }


def hit(one: SegmentHit) -> dict[str, Any]:
    """Return a search hit."""
    return {
        "text": one.text,
        "start": one.start,
        "end": one.end,
        "score": one.score,
        "timestamp_link": one.timestamp_link,
    }


def job(one: Job) -> dict[str, Any]:
    """Return what is to be known of a job."""
    return {
        "id": one.pk,
        "kind": one.kind,
        "target": one.target,
        "collection": one.collection.slug,
        "state": one.state,
        "step": one.step,
        "done": one.done,
        "total": one.total,
        "percent": one.percent,
        "video": one.video.key if one.video else None,
        "code": one.error_code,
        "message": one.error,
        "hint": one.hint,
        "problems": one.problems,
        "run_after": one.run_after.isoformat() if one.run_after else None,
        "created_at": one.created_at.isoformat(),
    }


def print_reading(found: VideoReading) -> None:
    """Print the text, cue after cue with its time, and how to read on."""
    read, key = found.reading, found.video.key
    heading = f"{found.video.title} · {found.transcript.language or 'language unknown'} · {clock(found.transcript.duration)}"
    if read.chunk:
        heading += f" · chunk {read.chunk.index} of 0–{read.chunk.count - 1}"
    note(heading, "bold")
    for cue in read.cues:
        line = Text(f"{clock(cue.start):>8}  ", style="cyan") + Text(printable(cue.text), style="")
        out().print(line, soft_wrap=not out().is_terminal)
    if read.warning:
        note(read.warning, "yellow")
    if read.chunk and read.chunk.next is not None:
        note(f"Read on: kb show {key} --chunk {read.chunk.next}")
    if read.hints:
        note(
            f"A preview. Read on: kb show {key} --chunk 0 (to {read.total_chunks - 1}), --start 1:00 --end 2:00, or --full; kb search WORDS --in {key}"
        )


def print_hits(found: VideoSearch) -> None:
    """Print the hits, the words that were looked for marked."""
    if not found.hits:
        say(f"Nothing in “{found.video}” answers “{found.query}”.", "dim")
    for one in found.hits:
        print_hit(one)


def print_hit(one: SegmentHit) -> None:
    """Print one hit: its time, score, link, and its text with the words marked."""
    text = Text(one.text)
    for start, end in one.spans:
        text.stylize("bold yellow", start, end)
    heading = Text(f"{clock(round(one.start * 1000))}–{clock(round(one.end * 1000))}", style="cyan")
    out().print(
        heading + Text(f"  {one.score:.2f}  {printable(one.timestamp_link)}", style="dim"),
        soft_wrap=True,
    )
    out().print(text, soft_wrap=not out().is_terminal)
    say("")


def _place(chunk: TimeChunk) -> dict[str, Any]:
    return {
        "index": chunk.index,
        "count": chunk.count,
        "start": chunk.start,
        "end": chunk.end,
        "previous": chunk.previous,
        "next": chunk.next,
    }
