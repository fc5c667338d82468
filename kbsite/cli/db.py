"""`kb db`: status, migration to another embedding model, contexts, backup and restore."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from django.db import connection
from django.db.models import Count

from citations.conf import EmbeddingChoice
from citations.ingest import discovery, lanes
from citations.lexical import index as lexical_index
from citations.maintenance import migration
from citations.models import Chunk, EmbeddingSpace, Source, SpaceState, State
from citations.schemas.library import DatabaseOut, SpaceOut
from citations.schemas.search import StateCountsOut
from citations.vectors import language_gap
from citations.vectors import space as vector_space
from kbsite.cli import db_backups
from kbsite.cli.options import Json, Yes, option
from kbsite.cli.terminal import bar_label, confirm, note, print_json, progress, progress_bar, say
from kbsite.library import indexing
from kbsite.library.database import open_library
from transcripts.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from transcripts.models import Transcript, Video

FREE = frozenset({"local", "e5-small", "bge", "bge-base", "fake"})  # providers without charges
POLL_SECONDS = 0.5
SWEEP_SECONDS = 3600

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Show the database's status, migrate embeddings, back up and restore.",
)


@app.command()
def status(as_json: Json = False) -> None:
    """Show what is stored and indexed, and the embedding model that the library is locked to."""
    open_library()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = int(cursor.fetchone()[0])
    mismatch, hint = _mismatch()
    rows = Source.objects.values_list("state", "language").annotate(Count("pk"))
    by_state, labels, label = Counter[str](), Counter[str](), language_gap.state_labels()
    for state, language, count in rows.order_by("state", "language"):
        by_state[state] += count
        labels[label(state, language)] += count
    spaces = EmbeddingSpace.objects.order_by("pk")
    database = DatabaseOut(
        videos=Video.objects.count(),
        transcripts=Transcript.objects.count(),
        sources=StateCountsOut.model_validate({state: by_state[state] for state in State.values}),
        chunks=Chunk.objects.count(),
        bytes=size,
        spaces=[SpaceOut.model_validate(space) for space in spaces],
        waiting=lanes.waiting().count(),
        outdated=lexical_index.outdated(Source.objects.all()).count(),
        mismatch=mismatch,
        hint=hint,
    )
    if as_json:
        print_json(database)
    else:
        _print_status(database, labels)


@app.command()
def migrate_embeddings(
    to: Annotated[
        str,
        option(
            "--to",
            metavar="PROVIDER",
            help="local, voyage, openai, e5-small, bge, bge-base or ollama.",
        ),
    ] = "",
    model: Annotated[str, option(help="A model of that provider; unset: its default.")] = "",
    dimensions: Annotated[
        int, option(min=0, max=4_000, help="Vector length of a remote model unknown to Cuebase.")
    ] = 0,
    guarded: Annotated[
        bool,
        typer.Option("--guarded", help="Do not switch if hits marked as right would rank worse."),
    ] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the running migration.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Embed the library with another model, and switch to it at the end.

    Searches continue meanwhile. After an interruption, the same command resumes the migration.
    """
    if bool(to) == cancel:
        raise InvalidInput("Give either --to PROVIDER or --cancel.")
    open_library()
    if cancel:
        if (space := migration.under_way()) is None:
            hint = "`kb db status` shows the active model."
            raise NotFound("No migration is under way.", hint=hint)
        migration.cancel(space)
        migration.delete_leftovers(seconds=SWEEP_SECONDS)
        say(f"The migration to {space} is cancelled; the library is searched as before.")
        return
    choice = EmbeddingChoice(provider=to, model=model, dimensions=dimensions)
    plan = migration.plan(choice)
    verb = "Embed" if migration.under_way() is None else "Continue embedding"
    charge = f", about {plan.tokens:,} tokens that {plan.provider} may charge for"
    question = f"{verb} {plan.chunks:,} chunks with {plan}{'' if plan.provider in FREE else charge}"
    confirm(f"{question}? Searches continue meanwhile.", yes=yes)
    space = migration.begin(choice, guarded=guarded)
    _follow(space, quiet=as_json)
    space.refresh_from_db()
    if as_json:
        print_json(SpaceOut.model_validate(space))
        return
    say(f"The library is now searched with {space}.", "green")
    say("Running processes use it too. The settings need no change.")


@app.command()
def reindex(
    wait: Annotated[
        bool, typer.Option("--wait", "-w", help="Do it in this process, and wait for the end.")
    ] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Index sources again that were split with other settings or read by an earlier version.

    Run it after changing CHUNK_SIZE, CHUNK_OVERLAP, CHUNKING or CHUNK_PERCENTILE, once all
    processes use the new values, and when `kb doctor` names words or documents. Searches continue
    meanwhile; citations keep their quotes.
    """
    open_library()
    stale = list(discovery.stale().values_list("pk", flat=True))
    if stale:
        confirm(f"Index {len(stale):,} sources again?", yes=yes)
        discovery.renew()
    with progress(quiet=as_json) as bar:
        counts = indexing.index((), stale, wait=wait, progress=bar)
    if as_json:
        print_json({"sources": len(stale), "left": counts.words, "failed": counts.failed})
        return
    say(f"{counts.ready:,} of {len(stale):,} sources are indexed again.")
    if counts.words:
        note("A worker does the others; searches find them as they were until then.")


@app.command()
def write_contexts(
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate the cost.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Estimate the tokens for missing contexts, then write them; idle workers do so, too."""
    open_library()
    plan = indexing.contexts_plan()
    is_written = bool(plan.pieces) and not estimate
    if is_written:
        confirm(f"{indexing.costs_of(plan)} Write them?", yes=yes)
        with progress(quiet=as_json) as bar:
            indexing.write_contexts(bar)
    remaining = plan.pieces if estimate else indexing.contexts_plan().pieces
    if as_json:
        counts = {"sources": plan.sources, "pieces": plan.pieces, "left": remaining}
        print_json({"model": plan.model, **counts, **asdict(plan.cost)})
    elif not is_written:
        say(indexing.costs_of(plan))
    else:
        say(f"{plan.pieces - remaining:,} contexts were written.")
        if remaining:
            note(f"{remaining:,} are still missing; a later run tries again.", "yellow")


for _command in (db_backups.backup, db_backups.verify, db_backups.restore, db_backups.create_key):
    app.command()(_command)


def lock_lines() -> list[str]:
    """Return lines on the locked embedding model, and on a mismatch with the settings."""
    space = vector_space.locked()
    name = space or "no embedding model yet"
    return [f"The library is locked to {name}.", *filter(None, _mismatch())]


def _mismatch() -> tuple[str, str]:
    error = vector_space.mismatch()
    return (error.message, error.hint) if error else ("", "")


def _print_status(database: DatabaseOut, labels: Mapping[str, int]) -> None:
    say(
        f"{database.videos:,} recordings, {database.transcripts:,} transcripts,"
        f" {database.chunks:,} chunks, {database.bytes / 2**20:,.1f} MB"
    )
    states = [f"{count:,} {label}" for label, count in labels.items()]
    say(f"Sources: {', '.join(states) or 'none'}")
    if database.outdated:
        say(f"Words: {database.outdated:,} sources are still to be indexed again by this version.")
    for space in database.spaces:
        name = vector_space.describe(space.provider, space.model, space.dimensions)
        if space.state == SpaceState.BUILDING:
            say(f"Migrating to {name}: {space.done:,} of {space.total:,} chunks embedded")
        else:
            prefix = "Locked to" if space.state == SpaceState.ACTIVE else "Replaced:"
            say(f"{prefix} {name}: {space.vectors:,} vectors")
        if space.error:
            say(f"    {space.error} {space.hint}".rstrip(), "yellow")
    if not database.spaces:
        say("Locked to no embedding model yet: the first source that is indexed decides.")
    if database.mismatch:
        say(database.mismatch, "red")
        say(database.hint)


def _follow(space: EmbeddingSpace, *, quiet: bool) -> None:
    with progress_bar(quiet=quiet) as progress:
        label = bar_label(f"Embedding with {space.model}")
        bar = progress.add_task(label, total=space.total or None)

        def show(space: EmbeddingSpace) -> None:
            progress.update(bar, completed=space.done, total=space.total)

        try:
            while not migration.advance(space, on_progress=show):
                space.refresh_from_db()
                if space.state == SpaceState.RETIRED:
                    raise Conflict(f"The migration to {space} was cancelled meanwhile.")
                if space.error:
                    raise Unavailable(space.error, hint=space.hint)
                if space.state != SpaceState.BUILDING:
                    break
                show(space)  # a worker embeds
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            note("Stopped. The same command or a worker resumes the migration.", "yellow")
            raise
