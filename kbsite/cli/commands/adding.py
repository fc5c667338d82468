"""Bringing something in: add."""

from typing import Annotated

import typer

from kbsite.cli.options import InCollection, Json, Language
from kbsite.cli.terminal import open_library


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("add")(add)


def add(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="URL|FILE|DIR…",
            help="Addresses at YouTube, caption files, documents, folders; - for a pasted panel.",
        ),
    ],
    collection: InCollection = "",
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", "-t", help="A tag; can be repeated.", show_default=False),
    ] = None,
    lang: Language = "",
    newest: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            help="Of a playlist or channel, only the newest so many.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=8_760,
            metavar="HOURS",
            help="Look for new videos every so many hours.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[
        str, typer.Option(help="The title of one file, or of what is pasted.", show_default=False)
    ] = "",
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            "-w",
            help="Wait until YouTube's videos are here, and all is found by meaning.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Add videos of YouTube, caption files, documents (PDF, Markdown, text, HTML), folders of them, or a transcript pasted into the standard input (-).

    What a file is, its content decides: words with times are a transcript, without them a document.
    """
    scope = open_library()
    from kbsite.cli import add as cli_add

    wishes = cli_add.AddOptions(
        tags=tuple(tag or ()),
        language=lang,
        newest=newest,
        every_hours=every,
        title=title,
        wait=wait,
        quiet=as_json,
    )
    report = cli_add.add(cli_add.shelf(scope, collection), what, wishes=wishes)
    report.print(as_json=as_json)
    raise typer.Exit(report.exit_code)
