"""`kb export`: a transcript as captions, highlights for other programs, or everything."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from citations.notebook import archive, highlight_export
from citations.notebook.highlight_export import HighlightFormat
from citations.notebook.highlights import HighlightFilter
from kbsite.cli.highlights import OfUser, reader
from kbsite.cli.library import find_video
from kbsite.cli.options import InCollection, Track, argument, option, video_ids
from kbsite.cli.terminal import note, progress_bar, writing
from kbsite.library.database import open_library
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidInput
from transcripts.library import exports
from transcripts.library import reading as library
from transcripts.library.exports import TranscriptFormat


def export(
    reference: Annotated[
        str, argument("[ID]", "A recording's id or its YouTube address.", autocompletion=video_ids)
    ] = "",
    form: Annotated[
        TranscriptFormat,
        option("--format", "-f", help="Format of the transcript: vtt, srt, txt, md or json."),
    ] = TranscriptFormat.VTT,
    lang: Track = "",
    highlights: Annotated[
        HighlightFormat | None,
        option(help="Export highlights instead: obsidian, readwise, anki or jsonld."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Export everything that the user may read, in one ZIP."),
    ] = False,
    media: Annotated[
        bool, typer.Option("--media", help="Include audio and video files in the ZIP.")
    ] = False,
    tag: Annotated[str, option(help="Only highlights with this tag.")] = "",
    cards: Annotated[bool, typer.Option("--cards", help="Only highlights that are cards.")] = False,
    user: OfUser = "",
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="Write to this file.")
    ] = None,
    collection: InCollection = "",
) -> None:
    """Export a transcript, highlights for other programs, or everything in one ZIP."""
    if everything:
        _write_everything(user, collection, output, with_media=media)
    elif highlights is not None:
        filter, of = HighlightFilter(tag=tag, collection=collection, cards=cards), reader(user)
        exported = highlight_export.export(of.scope, of.user, filter, highlights)
        target = output or Path(exported.name)
        with exported.file as file, writing(target), target.open("wb") as written:
            shutil.copyfileobj(file, written)
        note(f"Wrote {target}")
    elif reference:
        video = find_video(open_library(), reference, collection=collection)
        text = exports.export(video, form=form, language=lang).text
        if output is None:
            typer.echo(text, nl=False)
        else:
            with writing(output):
                output.write_text(text, encoding="utf-8")
    else:
        raise InvalidInput(
            "Nothing to export is named.",
            hint="Name a recording, or add --highlights obsidian or --everything.",
        )


def _write_everything(name: str, collection: str, output: Path | None, *, with_media: bool) -> None:
    of, target = reader(name), output or Path("cuebase.zip")
    chosen = library.find_collection(of.scope, collection) if collection else None
    with writing(target), target.open("wb") as file, progress_bar() as bar:
        audit.record(Action.EXPORT, "archive", collection=chosen)
        task = bar.add_task("Everything")
        archive.write(
            of.scope,
            of.user,
            file,
            collection=chosen,
            with_media=with_media,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    note(f"Wrote {target}")
