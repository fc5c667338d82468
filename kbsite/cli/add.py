"""`kb add`: add files and addresses, here or on a server, and report the results."""

from typing import Annotated

import typer

from citations.formats import NAMES
from kbsite.cli.add_report import print_report
from kbsite.cli.options import InCollection, Json, Language, Many, argument, option
from kbsite.cli.remote import chosen_library
from kbsite.cli.terminal import exit_code_of, print_json, progress
from kbsite.library.add_options import AddOptions


def add(
    targets: Annotated[
        list[str],
        argument(
            "URL|FILE|DIR…",
            f"YouTube addresses, caption files, documents ({NAMES}) or folders; or -.",
        ),
    ],
    collection: InCollection = "",
    tag: Annotated[Many, option("--tag", "-t", help="A tag; repeatable.")] = None,
    lang: Language = "",
    translated: Annotated[
        bool,
        typer.Option(
            "--translated",
            help="Accept a machine translation if --lang is not available otherwise.",
        ),
    ] = False,
    newest: Annotated[
        int | None,
        option(min=1, max=100_000, help="Only the newest N videos of a playlist or channel."),
    ] = None,
    every: Annotated[
        int | None,
        option(min=1, max=8_760, metavar="HOURS", help="Check for new videos at this interval."),
    ] = None,
    title: Annotated[str, option(help="The title of a single file or of pasted text.")] = "",
    ocr: Annotated[
        bool, typer.Option("--ocr", help="Read pages of PDFs that have no text layer by OCR.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", "-w", help="Wait until everything is fetched and embedded.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add YouTube videos, caption files, documents or folders.

    - reads a pasted transcript from the standard input. A file's content decides: text with
    timestamps is a transcript, other text a document.
    """
    options = AddOptions(
        collection=collection,
        tags=tuple(tag or ()),
        language=lang,
        translated=translated,
        newest=newest,
        every_hours=every,
        title=title,
        ocr=ocr,
        wait=wait,
    )
    with chosen_library() as library, progress(quiet=as_json) as bar:
        report = library.add_all(targets, options, bar)
    print_json(report.added) if as_json else print_report(report)
    raise typer.Exit(exit_code_of(report.failure) if report.failure else 0)
