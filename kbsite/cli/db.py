"""`kb db`: status, migration to another embedding model, contexts, backup and restore."""

from pathlib import Path
from typing import Annotated

import typer

from citations.conf import EmbeddingChoice
from kbsite.cli import db_backup, db_contexts, db_migrate, db_status
from kbsite.cli.database import open_library
from kbsite.cli.options import Json, Yes, argument, option
from kbsite.cli.terminal import confirm, print_json, print_result, say
from transcripts.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True, help="Show status, migrate embeddings, back up and restore the database."
)


@app.command()
def status(as_json: Json = False) -> None:
    """Show what is stored and indexed, and the embedding model that the library is locked to."""
    open_library()
    database = db_status.status()
    if as_json:
        print_json(database)
    else:
        database.print()


@app.command()
def migrate_embeddings(
    to: Annotated[
        str,
        option("--to", metavar="PROVIDER", help="local, voyage, openai, bge, bge-base or ollama."),
    ] = "",
    model: Annotated[str, option(help="A model of that provider other than its default.")] = "",
    dimensions: Annotated[
        int, option(min=0, max=4_000, help="Vector length of an unknown remote model.")
    ] = 0,
    guarded: Annotated[
        bool,
        typer.Option("--guarded", help="Do not switch if hits marked as right would rank worse."),
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Cancel the migration that is under way.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Embed the library with another model, and switch to it when all is done.

    Searches continue meanwhile. After an interruption, the same command resumes the migration.
    """
    if bool(to) == cancel:
        raise InvalidInput("Give either --to PROVIDER or --cancel.")
    open_library()
    if cancel:
        db_migrate.cancel()
        return
    choice = EmbeddingChoice(provider=to, model=model, dimensions=dimensions)
    db_migrate.migrate(choice, guarded=guarded, yes=yes, as_json=as_json)


@app.command()
def write_contexts(
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate the cost.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Estimate the tokens of the missing contexts, then write them; an idle worker does so too."""
    open_library()
    db_contexts.write(yes=yes, only_estimate=estimate, as_json=as_json)


@app.command()
def backup(
    file: Annotated[Path, argument("FILE", "The file to write.", dir_okay=False)],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Write the whole library, users and tokens included, to one file. Store it safely."""
    if file.exists():
        confirm(f"{file} exists. Replace it?", yes=yes)
    open_library()
    size = db_backup.back_up(file)
    written = f"{file}: {size / 2**20:,.1f} MB. `kb db restore` restores it."
    print_result(written, {"file": str(file), "bytes": size}, as_json=as_json)


@app.command()
def restore(
    file: Annotated[
        Path, argument("FILE", "A file that `kb db backup` wrote.", exists=True, dir_okay=False)
    ],
    yes: Yes = False,
) -> None:
    """Replace the library with a backup, all of it or nothing."""
    open_library()
    db_backup.check(file)
    if videos := db_backup.video_count():
        confirm(f"Replace this library of {videos:,} videos with {file}?", yes=yes)
    db_backup.restore(file)
    say(f"Restored: {db_backup.video_count():,} videos.")
