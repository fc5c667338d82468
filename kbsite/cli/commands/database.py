"""The database: how much is in it, moving to another embedding model, backup and restore."""

from pathlib import Path
from typing import Annotated

import typer

from kbsite.cli.options import Json, Yes
from kbsite.cli.terminal import confirm, open_library, print_json, say
from transcripts.errors import InvalidInput

DATABASE = typer.Typer(
    help="The database: status, moving to another embedding model, backup and restore.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(DATABASE, name="db")


@DATABASE.command("status")
def status(as_json: Json = False) -> None:
    """Show how much is stored and indexed, and which embedding model the library is locked to."""
    open_library()
    from kbsite.cli import db_status

    found = db_status.look()
    if as_json:
        print_json(found.as_json())
    else:
        found.print()


@DATABASE.command("migrate-embeddings")
def migrate_embeddings(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="PROVIDER",
            help="local, voyage, openai, bge, bge-base or ollama.",
            show_default=False,
        ),
    ] = "",
    model: Annotated[
        str,
        typer.Option(help="Another model of that provider than its usual one.", show_default=False),
    ] = "",
    dimensions: Annotated[
        int,
        typer.Option(
            min=0,
            max=4_000,
            help="Length of its vectors, for a remote model that is not known.",
            show_default=False,
        ),
    ] = 0,
    guarded: Annotated[
        bool,
        typer.Option(
            "--guarded",
            help="Do not switch where hits that people marked as right would be found worse.",
        ),
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Give up the migration that is under way.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Embed the library with another model, beside the one that is searched, and switch when all is done.

    Searches go on throughout. Stopped or killed, the same command goes on where it was.
    """
    if bool(to) == cancel:
        raise InvalidInput("Say where to with --to PROVIDER, or --cancel.")
    open_library()
    from citations.conf import EmbeddingChoice
    from kbsite.cli import db_migrate

    if cancel:
        db_migrate.cancel()
        return
    db_migrate.move(
        EmbeddingChoice(provider=to, model=model, dimensions=dimensions),
        guarded=guarded,
        yes=yes,
        as_json=as_json,
    )


@DATABASE.command("write-contexts")
def write_contexts(
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what they would cost.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Write the contexts that are missing, after saying how many tokens that takes. A worker writes them as well, when it has nothing else to do."""
    open_library()
    from kbsite.cli import db_contexts

    db_contexts.write(yes=yes, only_estimate=estimate, as_json=as_json)


@DATABASE.command("backup")
def backup(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The file to write.", dir_okay=False, show_default=False
        ),
    ],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Write the whole library to one file: videos, transcripts, index, users, tokens. Guard it as you guard the library."""
    if file.exists():
        confirm(f"{file} exists. Replace it?", yes=yes)
    open_library()
    from kbsite.cli import db_backup

    size = db_backup.back_up(file)
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        say(f"{file}: {size / 2**20:,.1f} MB. `kb db restore` puts it back.")


@DATABASE.command("restore")
def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A file that `kb db backup` wrote.",
            exists=True,
            dir_okay=False,
            show_default=False,
        ),
    ],
    yes: Yes = False,
) -> None:
    """Put a backup in the place of the library, all of it or nothing. Asks before it replaces anything."""
    open_library()
    from kbsite.cli import db_backup

    db_backup.check(file)
    if videos := db_backup.videos_here():
        confirm(f"Replace this library of {videos:,} videos by {file}?", yes=yes)
    db_backup.restore(file)
    say(f"Restored: {db_backup.videos_here():,} videos.")
