"""Live lectures: live, and lectures."""

from typing import Annotated

import typer

from kbsite.cli import completion
from kbsite.cli.options import InCollection, Json, Language, Yes
from kbsite.cli.terminal import confirm, note, open_library, print_json, say

LECTURES = typer.Typer(no_args_is_help=False, help="Lectures: list, figures, notes, delete.")
LectureId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The lecture's id, or the beginning of it.", show_default=False
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("live")(live)
    app.add_typer(LECTURES, name="lectures")


def live(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="[ID]",
            help="The video that is replayed: its id, or its address at YouTube.",
            autocompletion=completion.video_ids,
            show_default=False,
        ),
    ] = "",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            "-s",
            metavar="S",
            help="A lecture to go on with, by its id; or the title of a new one.",
            show_default=False,
        ),
    ] = "",
    speed: Annotated[
        float,
        typer.Option(
            "--speed", min=0.1, max=1_000, help="How many times as fast as it was spoken."
        ),
    ] = 1.0,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="ID",
            help="Cite this source of the collection alone; repeatable.",
            show_default=False,
        ),
    ] = None,
    lang: Language = "",
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Replay a video as a lecture: what is said, and beside it the pages and minutes that it cites, as they land.

    Ctrl-C leaves the lecture where it is; `kb live --session ID` goes on with it.
    """
    scope = open_library()
    from kbsite.cli import live as cli_live

    wishes = cli_live.ReplayOptions(
        reference=reference,
        session=session,
        speed=speed,
        sources=tuple(source or ()),
        language=lang,
        collection=collection,
    )
    lecture = cli_live.open_lecture(scope, wishes)
    try:
        cli_live.replay(lecture, speed=speed, quiet=as_json)
    except KeyboardInterrupt:
        note(f"Stopped; `kb live --session {lecture.uuid}` goes on with it.")
        raise typer.Exit(130) from None
    if as_json:
        print_json(cli_live.whole(lecture))
    else:
        cli_live.print_figures(lecture)


@LECTURES.callback(invoke_without_command=True)
def list_lectures(context: typer.Context, as_json: Json = False) -> None:
    """List the lectures, newest first, or see one's figures or notes, or delete one."""
    if context.invoked_subcommand:
        return
    scope = open_library()
    from kbsite.cli import live as cli_live

    found = cli_live.listed(scope)
    if as_json:
        print_json([cli_live.shape(one) for one in found])
    else:
        cli_live.print_list(found)


@LECTURES.command("figures")
def figures(reference: LectureId, as_json: Json = False) -> None:
    """Show what became of a lecture's windows, and how long each stage took."""
    scope = open_library()
    from kbsite.cli import live as cli_live

    lecture = cli_live.find(scope, reference)
    if as_json:
        print_json(cli_live.figures(lecture))
    else:
        cli_live.print_figures(lecture)


@LECTURES.command("notes")
def notes(reference: LectureId) -> None:
    """Write a lecture's notes, with all that it cites, as Markdown to the standard output."""
    scope = open_library()
    from citations.lectures import sessions
    from kbsite.cli import live as cli_live

    typer.echo(sessions.export(cli_live.find(scope, reference)), nl=False)


@LECTURES.command("delete")
def delete(reference: LectureId, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a lecture with all that was said and cited in it; its sources stay."""
    scope = open_library()
    from citations.lectures import sessions
    from kbsite.cli import live as cli_live

    lecture = cli_live.find(scope, reference)
    confirm(
        f"The lecture “{lecture.title}” goes, with {sessions.citations_of(lecture).count():,} citations. Delete it?",
        yes=yes,
    )
    sessions.delete(lecture)
    if as_json:
        print_json({"deleted": str(lecture.uuid)})
    else:
        say(f"Deleted “{lecture.title}”.")
