"""Prints readings and hits."""

from rich.text import Text

from kbsite.cli.terminal import note, out, printable, say
from transcripts.library import VideoReading, VideoSearch
from transcripts.timecodes import clock, milliseconds


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
        span = f"{clock(milliseconds(hit.start))}–{clock(milliseconds(hit.end))}"
        detail = f"  {hit.score:.2f}  {printable(hit.timestamp_link)}"
        out().print(Text(span, style="cyan") + Text(detail, style="dim"), soft_wrap=True)
        out().print(text, soft_wrap=not out().is_terminal)
        say("")
