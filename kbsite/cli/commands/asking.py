"""Asking: ask, and the terminal interface."""

from typing import Annotated

import typer

from kbsite.cli import completion
from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import check_terminal, open_library


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("ask")(ask)
    app.command("tui")(tui)


def ask(
    question: Annotated[
        str,
        typer.Argument(help="What you want to know; several questions in one are answered each."),
    ],
    inside: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="ID",
            help="Only from this source or video; repeatable.",
            autocompletion=completion.video_ids,
            show_default=False,
        ),
    ] = None,
    collection: InCollection = "",
    follow_up: Annotated[
        bool,
        typer.Option(
            "--follow-up", "-f", help="Go on with the latest conversation, about the same sources."
        ),
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="Tell how the answer was made: questions, stages, passages, verdicts."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Answer a question out of the library. Every quote was found word for word in its source; what is not there is not answered."""
    scope = open_library()
    from kbsite.cli import ask as cli_ask

    wishes = cli_ask.AskOptions(
        sources=tuple(inside or ()),
        collection=collection,
        follow_up=follow_up,
        with_trace=trace,
        as_json=as_json,
    )
    cli_ask.ask(scope, question, wishes)


def tui(collection: InCollection = "") -> None:
    """Open the terminal interface: sources, conversation, and what is cited; by keyboard alone, over SSH too. F1 lists its keys."""
    check_terminal()
    open_library()
    import logging

    from kbsite.auth import everything
    from kbsite.cli.tui import LibraryNotebook
    from kbsite.tui.app import CuebaseApp

    notebook = LibraryNotebook(everything, collection=collection)
    logging.disable(logging.CRITICAL)  # a line of the log would be written across the screen
    CuebaseApp(notebook).run()
