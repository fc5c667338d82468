"""`kb list`, `kb show` and `kb sources`: the recordings, their transcripts, and all sources."""

import contextlib
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.text import Text

from citations.documents.storage import document_note
from citations.errors import SourceNotFound
from citations.library import sources as library_sources
from citations.library.filters import Filter, find_source
from citations.library.item import KINDS
from citations.library.sources import SourcePage
from citations.schemas.library import ListedVideoOut, ListedVideosOut
from citations.schemas.search import SourcesOut
from citations.vectors import language_gap
from kbsite.cli.options import (
    InCollection,
    InCollections,
    Json,
    Kinds,
    Language,
    Limit,
    Many,
    Offset,
    Track,
    VideoId,
    argument,
    option,
)
from kbsite.cli.terminal import note, note_next_page, out, print_json, printable, table
from kbsite.library.database import open_library
from transcripts.core.errors import VideoNotFound
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Video
from transcripts.schemas import VideoDetailsOut, VideoReadingOut
from transcripts.text.timecodes import clock, parse_clock

MAX_NEAR = 3  # videos that an error names


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
    empty = "No recordings. Add one with `kb add`, or try `kb demo`."
    if filter != library.VideoFilter() and (total := library.list_videos(scope, limit=1).total):
        empty = f"None of the {total} recordings fits. Give fewer words or options."
    table(
        ("ID", "Title", "Channel", "Length", "Languages", "Collection", "Indexed"),
        rows,
        empty=empty,
        main="Title",
    )
    _note_language_gap(state for states in labels.values() for state in states)
    note_next_page(page.total, page.next)


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


def find_video(scope: Scope, reference: str, *, collection: str = "") -> Video:
    """Return a video as ``library.find_video`` does. Raises ``VideoNotFound``, which names videos
    that have the words, or says what else has this id.
    """
    try:
        return library.find_video(scope, reference, collection=collection)
    except VideoNotFound as error:
        filter = library.VideoFilter(words=reference, collection=collection)
        videos = library.list_videos(scope, filter, limit=MAX_NEAR).videos
        names = " · ".join(f"{video.key} ({video.title})" for video in videos)
        hint = f"Did you mean {names}?" if names else error.hint
        with contextlib.suppress(SourceNotFound):
            source = find_source(scope, reference)
            hint = (
                f"“{source.title}” is a document: `kb outline {reference}` shows its parts,"
                f" `kb search WORDS --in {reference}` finds passages in it. {document_note(source)}"
            ).rstrip()
        raise VideoNotFound(error.message, hint=hint) from None


def list_sources(
    words: Annotated[
        Many, argument("[WORDS]…", "Words in the title, author or recording's id.")
    ] = None,
    state: Annotated[
        str, option(metavar="STATE", help="Only pending, words, ready or failed.")
    ] = "",
    collection: InCollections = None,
    kind: Kinds = None,
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: Json = False,
) -> None:
    """List the sources and their indexing state."""
    filter = Filter.model_validate({"collections": collection or (), "kinds": kind or ()})
    scope, text = open_library(), " ".join(words or ())
    page = library_sources.list_sources(
        scope, filter, words=text, state=state, offset=offset, limit=limit
    )
    if as_json:
        print_json(SourcesOut.model_validate(page))
    else:
        _print_sources(page)


def _note_language_gap(states: Iterable[str]) -> None:
    if language_gap.WORDS_ALONE in states:
        fetch, migrate = language_gap.COMMANDS
        note(
            "The model of meaning does not know some of these languages:"
            f" `{fetch}`, then `{migrate}` finds all by meaning, too."
        )


def _print_sources(page: SourcePage) -> None:
    label, kinds, rows = language_gap.state_labels(), dict(KINDS), []
    states = [label(source.state, source.language) for source in page.sources]
    for source, state in zip(page.sources, states, strict=True):
        is_busy = source.step and source.total
        rows.append(
            (
                source.uuid,
                source.title,
                kinds[source.shown_kind],
                source.language,
                f"{state} ({source.step}, {source.percent} %)" if is_busy else state,
                source.chunk_count,
                source.collection.name,
            )
        )
    columns = ("ID", "Title", "Kind", "Language", "State", "Chunks", "Collection")
    table(columns, rows, empty="No sources. Add one with `kb add`.", main="Title")
    _note_language_gap(states)
    if page.counts.unfinished:
        note(f"{page.counts.unfinished} of {page.counts.total} are still being indexed.")
    for source in page.sources:
        if source.error:
            note(f"{source.title}: {source.error} {source.hint}".rstrip(), "yellow")
        if source.cut_note:
            note(f"{source.title}: {source.cut_note}", "yellow")
    note_next_page(page.total, page.next)
