"""`kb highlights` lists highlights, and imports annotations as highlights."""

from pathlib import Path
from typing import Annotated

import typer

from citations.notebook import annotation_import, highlights, web_annotations
from citations.notebook.highlights import HighlightFilter
from citations.passages import place
from citations.schemas.notebook import HighlightsOut, ImportOut
from kbsite.callers import SignedInCaller, scope_of
from kbsite.cli.options import (
    InCollection,
    Json,
    Limit,
    ListGroup,
    Offset,
    argument,
    of_user,
    option,
)
from kbsite.cli.terminal import note, note_next_page, print_json, say, table
from kbsite.cli.users import find_user
from kbsite.library.database import open_database

app = typer.Typer(cls=ListGroup, add_completion=False)

OfUser = Annotated[
    str, of_user("The user whose highlights these are; unset: the owner of the library.")
]


def reader(name: str) -> SignedInCaller:
    """Return a user of the library, by default its owner; raises what ``find_user`` raises."""
    open_database()
    user = find_user(name)
    return SignedInCaller(user, scope_of(user))


@app.callback(invoke_without_command=True)
def list_highlights(
    context: typer.Context,
    words: Annotated[str, option(help="Words in the passage, note or title.")] = "",
    tag: Annotated[str, option(help="Only with this tag.")] = "",
    collection: InCollection = "",
    user: OfUser = "",
    limit: Limit = 50,
    offset: Offset = 0,
    as_json: Json = False,
) -> None:
    """List highlights, or import annotations."""
    if context.invoked_subcommand:
        return
    of = reader(user)
    filter = HighlightFilter(words=words, tag=tag, collection=collection)
    page = highlights.list_highlights(of.scope, of.user, filter, offset=offset, limit=limit)
    if as_json:
        print_json(HighlightsOut.model_validate(page))
        return
    rows = []
    for highlight in page.highlights:
        row, where = highlight.row, place(highlight.locator) if highlight.locator else "gone"
        tags = " ".join(f"#{tag}" for tag in row.tags)
        rows.append((row.source.title, where, row.quote, row.note, tags))
    columns = ("Source", "Place", "Highlight", "Note", "Tags")
    empty = "No highlights. Select words in a transcript or on a page."
    table(columns, rows, empty=empty, main="Highlight")
    note_next_page(page.total, page.next)


@app.command(name="import")
def import_file(
    file: Annotated[Path, argument("FILE", "Web Annotations (JSON-LD).", exists=True)],
    user: OfUser = "",
    as_json: Json = False,
) -> None:
    """Import Web Annotations as highlights, and list those without a match."""
    of = reader(user)
    annotations, ignored = web_annotations.read(file.read_bytes())
    report = annotation_import.import_annotations(of.scope, of.user, annotations, ignored=ignored)
    if as_json:
        print_json(ImportOut.model_validate(report))
        return
    counts = f"{report.made} new, {report.changed} changed, {report.unchanged} there already"
    say(f"{counts}, {report.ignored} without a quote left out.")
    for annotation in report.not_placed:
        note(f"{annotation.number}. “{annotation.quote[:80]}”: {annotation.reason}", "yellow")
    if report.waiting:
        note("Import the file again once its sources are ready: that adds the rest.")
