"""Looking at what is there: list, show, export, collections, delete; and demo."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from kbsite.cli import completion
from kbsite.cli.options import InCollection, Json, Language, Track, VideoId, Yes
from kbsite.cli.terminal import confirm, note, open_library, print_json, say, table
from transcripts.timecodes import clock, parse_clock

SHELVES = typer.Typer(no_args_is_help=False, help="Collections: list, add, delete.")


class FormatOption(StrEnum):
    """What a transcript can be written as."""

    VTT = "vtt"
    SRT = "srt"
    TXT = "txt"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    for name, command in (
        ("list", list_videos),
        ("show", show),
        ("export", export),
        ("delete", delete),
        ("demo", demo),
    ):
        app.command(name)(command)
    app.add_typer(SHELVES, name="collections")


def list_videos(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Words of the title, channel or id.", show_default=False),
    ] = None,
    collection: InCollection = "",
    tag: Annotated[str, typer.Option(help="Only videos with this tag.", show_default=False)] = "",
    channel: Annotated[
        str, typer.Option(help="Only videos of this channel.", show_default=False)
    ] = "",
    lang: Language = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many videos at most.")
    ] = 50,
    offset: Annotated[int, typer.Option(min=0, max=10_000_000, help="Skip so many.")] = 0,
    as_json: Json = False,
) -> None:
    """List the videos, newest first."""
    scope = open_library()
    from citations.library import sources
    from kbsite.cli import output, shapes
    from transcripts import library

    filter = library.VideoFilter(
        words=" ".join(words or ()), collection=collection, channel=channel, tag=tag, language=lang
    )
    page = library.list_videos(scope, filter, offset=offset, limit=limit)
    indexed = sources.of_videos(scope, [video.pk for video in page.videos])
    if as_json:
        print_json(
            {
                "videos": [_listed(video, indexed.get(video.pk, ())) for video in page.videos],
                "total": page.total,
                "next": page.next,
            }
        )
        return
    rows = (
        (
            one.key,
            one.title,
            one.channel,
            clock(one.duration),
            " ".join(shapes.languages(one)),
            one.collection.slug,
            output.indexed(indexed.get(one.pk, ())),
        )
        for one in page.videos
    )
    table(
        ("ID", "Title", "Channel", "Length", "Languages", "Collection", "Indexed"),
        rows,
        empty="No videos. Add one with `kb add`, or try `kb demo`.",
    )
    if page.next is not None:
        note(f"{page.total} in all; the next: --offset {page.next}")


def show(
    reference: VideoId,
    full: Annotated[bool, typer.Option("--full", help="All of it, however long.")] = False,
    chunk: Annotated[
        int | None, typer.Option(min=0, help="One time chunk, counted from 0.", show_default=False)
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="From this moment on: 90, 12:34, 1:02:03 or 1h2m3s.",
            show_default=False,
        ),
    ] = "",
    end: Annotated[
        str, typer.Option(metavar="TIME", help="Up to this moment.", show_default=False)
    ] = "",
    chunk_size: Annotated[
        int | None,
        typer.Option(help="Seconds of a chunk; unset: CHUNK_SIZE_SECONDS.", show_default=False),
    ] = None,
    lang: Track = "",
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Read a transcript: all of it if it is short, else a preview; a time chunk; a time range."""
    span = [parse_clock(text) if text else None for text in (start, end)]
    scope = open_library()
    from kbsite.cli import shapes
    from transcripts import library

    video = library.find_video(scope, reference, collection=collection)
    found = library.read(
        video,
        language=lang,
        start=span[0],
        end=span[1],
        chunk_index=chunk,
        chunk_size=chunk_size,
        include_full=full,
    )
    if as_json:
        print_json(shapes.reading(found))
    else:
        shapes.print_reading(found)


def export(
    reference: VideoId,
    form: Annotated[
        FormatOption, typer.Option("--format", "-f", help="The format.")
    ] = FormatOption.VTT,
    lang: Track = "",
    collection: InCollection = "",
) -> None:
    """Write a transcript as captions or text to the standard output."""
    scope = open_library()
    from transcripts import captions, library

    transcript = library.find_transcript(
        library.find_video(scope, reference, collection=collection), language=lang
    )
    write = {
        FormatOption.VTT: captions.to_vtt,
        FormatOption.SRT: captions.to_srt,
        FormatOption.TXT: captions.to_txt,
    }[form]
    typer.echo(write(library.cues_of(transcript)), nl=False)


def delete(
    reference: VideoId, collection: InCollection = "", yes: Yes = False, as_json: Json = False
) -> None:
    """Delete a video or a document, by an id of `kb sources` or a video's, and everything that came from it."""
    scope = open_library()
    from citations.ingest import pipeline as ingest_pipeline
    from citations.library import sources
    from kbsite.cli import collections as cli_collections
    from transcripts import collections, library

    if document := sources.find_document(scope, reference):
        confirm(
            f"“{document.title}” goes, with its {cli_collections.counted(document.chunk_count, 'passage')}. Delete it?",
            yes=yes,
        )
        ingest_pipeline.remove(document)
        print_json({"deleted": reference}) if as_json else say(f"Deleted “{document.title}”.")
        return
    video = library.find_video(
        scope, cli_collections.video_key(scope, reference), collection=collection
    )
    going = cli_collections.what_goes_with(video)
    confirm(f"“{video}” ({video.key}) goes, with {going}. Delete it?", yes=yes)
    key = video.key
    collections.delete_video(video)
    if as_json:
        print_json({"deleted": key})
    else:
        say(f"Deleted {key}: {going}.")


def demo(as_json: Json = False) -> None:
    """Show what this does, with a small library of its own and without a network: read, page, search."""
    open_library()
    from kbsite.cli import demo as cli_demo

    shown = cli_demo.run()
    if as_json:
        print_json(shown.as_json())
    else:
        shown.print()


@SHELVES.callback(invoke_without_command=True)
def list_collections(context: typer.Context, as_json: Json = False) -> None:
    """List the collections, or add or delete one."""
    if context.invoked_subcommand:
        return
    scope = open_library()
    from kbsite.cli import collections as cli_collections

    found = cli_collections.overview(scope)
    if as_json:
        print_json([row.as_json() for row in found])
    else:
        table(
            ("Collection", "Name", "Videos", "Members"),
            ((row.slug, row.name, row.videos, ", ".join(row.members)) for row in found),
        )


@SHELVES.command("add")
def add_collection(
    name: Annotated[str, typer.Argument(help="Its name.")], as_json: Json = False
) -> None:
    """Make a collection."""
    open_library()
    from kbsite.cli import collections as cli_collections

    made = cli_collections.add(name)
    if as_json:
        print_json({"id": made.slug, "name": made.name})
    else:
        say(f"Made the collection “{made.name}” ({made.slug}).")


@SHELVES.command("delete")
def delete_collection(
    name: Annotated[
        str, typer.Argument(help="Its name or slug.", autocompletion=completion.collections)
    ],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete a collection with all its videos."""
    scope = open_library()
    from kbsite.cli import collections as cli_collections
    from transcripts import collections, library

    collection = library.find_collection(scope, name)
    going = cli_collections.what_goes_with(collection)
    confirm(f"The collection “{collection}” goes, with {going}. Delete it?", yes=yes)
    slug = collection.slug
    collections.delete(collection)
    if as_json:
        print_json({"deleted": slug})
    else:
        say(f"Deleted the collection {slug}: {going}.")


def _listed(video: Any, sources: Any) -> dict[str, Any]:
    from kbsite.cli import shapes

    return {
        **shapes.video(video),
        "sources": [
            {"id": str(one.uuid), "language": one.language, "state": one.state} for one in sources
        ],
    }
