"""`kb list` and `kb show`: the recordings and their transcripts."""

from typing import Annotated

import typer
from rich.text import Text

from citations.library import sources as library_sources
from citations.schemas.library import ListedVideoOut, ListedVideosOut
from citations.vectors import language_gap
from kbsite.cli.options import (
    InCollection,
    Json,
    Language,
    Limit,
    Many,
    Offset,
    Track,
    VideoId,
    argument,
    option,
)
from kbsite.cli.sources import note_language_gap
from kbsite.cli.terminal import note, note_next_page, out, print_json, printable, table
from kbsite.cli.videos import find_video
from kbsite.library.database import open_library
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.schemas import VideoDetailsOut, VideoReadingOut
from transcripts.text.timecodes import clock, parse_clock


def list_videos(
    words: Annotated[Many, argument("[WORDS]…", "Words in the title, channel or id.")] = None,
    collection: InCollection = "",
    tag: Annotated[str, option(help="Only recordings with this tag.")] = "",
    channel: Annotated[str, option(help="Only recordings of this channel.")] = "",
    lang: Language = "",
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: Json = False,
) -> None:
    """List the recordings, newest first.

    `kb sources` lists documents, too.
    """
    scope = open_library()
    filter = library.VideoFilter(
        words=" ".join(words or ()), collection=collection, channel=channel, tag=tag, language=lang
    )
    page = library.list_videos(scope, filter, offset=offset, limit=limit)
    sources = library_sources.of_videos(scope, [video.pk for video in page.videos])
    if as_json:
        videos = [
            ListedVideoOut.of(
                VideoDetailsOut.read(video, library.tracks(video)), sources.get(video.pk, ())
            )
            for video in page.videos
        ]
        print_json(ListedVideosOut(videos=videos, total=page.total, next=page.next))
        return
    label = language_gap.state_labels()
    labels = {
        pk: dict.fromkeys(label(source.state, source.language) for source in of_video)
        for pk, of_video in sources.items()
    }
    rows = (
        (
            video.key,
            video.title,
            video.channel,
            clock(video.duration),
            " ".join(library.tracks(video)),
            video.collection.name,
            ", ".join(labels.get(video.pk, ())),
        )
        for video in page.videos
    )
    table(
        ("ID", "Title", "Channel", "Length", "Languages", "Collection", "Indexed"),
        rows,
        empty=_empty(scope, filter),
        main="Title",
    )
    note_language_gap(state for states in labels.values() for state in states)
    note_next_page(page.total, page.next)


def _empty(scope: Scope, filter: library.VideoFilter) -> str:
    """Say that there are no recordings, or that none of them fits."""
    if filter == library.VideoFilter() or not (total := library.list_videos(scope, limit=1).total):
        return "No recordings. Add one with `kb add`, or try `kb demo`."
    return f"None of the {total} recordings fits. Give fewer words or options."


def show(
    reference: VideoId,
    full: Annotated[bool, typer.Option("--full", help="The whole text, however long.")] = False,
    chunk: Annotated[int | None, option(min=0, help="One time chunk, counted from 0.")] = None,
    start: Annotated[
        str, option(metavar="TIME", help="From this time on: 90, 12:34, 1:02:03 or 1h2m3s.")
    ] = "",
    end: Annotated[str, option(metavar="TIME", help="Up to this time.")] = "",
    chunk_size: Annotated[
        int | None, option(help="Seconds of a time chunk; unset: CHUNK_SIZE_SECONDS.")
    ] = None,
    lang: Track = "",
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Read a transcript: whole, a time chunk or a range.

    Without options, a long transcript is shown as a preview.
    """
    first, last = (parse_clock(text) if text else None for text in (start, end))
    video = find_video(open_library(), reference, collection=collection)
    reading = library.read(
        video,
        language=lang,
        start=first,
        end=last,
        chunk_index=chunk,
        chunk_size=chunk_size,
        include_full=full,
    )
    if as_json:
        print_json(VideoReadingOut.model_validate(reading))
    else:
        print_reading(reading)


def print_reading(result: library.VideoReading) -> None:
    """Print cues with their times, then how to read on."""
    part, key, transcript = result.reading, result.video.key, result.transcript
    language = transcript.language or "unknown language"
    heading = f"{result.video.title} · {language} · {clock(transcript.duration)}"
    if part.chunk:
        heading += f" · time chunk {part.chunk.index} of 0–{part.chunk.count - 1}"
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
