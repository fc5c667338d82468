"""Levels of detail: what a source or the library tells of, and building that anew."""

from typing import Annotated

import typer

from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import open_library


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("levels")(levels)


def levels(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="[ID]",
            help="A source's or video's id, or its address at YouTube.",
            show_default=False,
        ),
    ] = "",
    collection: InCollection = "",
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Build it anew first: of this source, or all levels and topics."
        ),
    ] = False,
    abstracts: Annotated[
        bool,
        typer.Option(
            "--abstracts", help="Let the language model tell of this source in its own words."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the outline of a source in its own sentences; without an ID, the topics of the collections."""
    scope = open_library()
    from kbsite.cli import levels as cli_levels

    if reference:
        cli_levels.source(scope, reference, rebuild=rebuild, abstracts=abstracts, as_json=as_json)
    else:
        cli_levels.library(scope, collection=collection, rebuild=rebuild, as_json=as_json)
