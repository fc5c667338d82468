"""Checking quotes: verify."""

from pathlib import Path
from typing import Annotated

import typer

from kbsite.cli import completion
from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import open_library
from transcripts.errors import InvalidInput


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("verify")(verify)


def verify(
    quote: Annotated[
        str, typer.Argument(help="The quote, word for word.", show_default=False)
    ] = "",
    inside: Annotated[
        str,
        typer.Option(
            "--in",
            metavar="ID",
            help="The source or video it is said to be from.",
            autocompletion=completion.video_ids,
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="QUOTES.jsonl",
            exists=True,
            dir_okay=False,
            help='Check many: a line of JSON each, {"quote": "…", "source": "ID"}, or a plain text in quotes.',
            show_default=False,
        ),
    ] = None,
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Say whether quotes stand in the library word for word, where exactly, and what differs if they do not. Ends with 1 unless all do."""
    if bool(quote) == bool(file):
        raise InvalidInput(
            "There is nothing to check." if not quote else "A quote and a file are one too many.",
            hint="Give a quote, or --file.",
        )
    scope = open_library()
    from kbsite.cli import verify as cli_verify

    if not cli_verify.verify(
        scope, cli_verify.asked(quote, inside, file), collection=collection, as_json=as_json
    ):
        raise typer.Exit(1)
