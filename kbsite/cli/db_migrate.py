"""What `kb db migrate-embeddings` does: it says what will happen, asks, and follows it with a bar, whoever does the work."""

import time
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from citations.conf import EmbeddingChoice
from citations.maintenance import migration
from citations.models import EmbeddingSpace, SpaceState
from kbsite.cli.terminal import confirm, err, note, print_json, printable, say
from transcripts.errors import Conflict, NotFound, Unavailable

LOCAL = frozenset({"local", "bge", "bge-base", "fake"})  # providers that cost nothing but time
EVERY_SECONDS = 0.5


def move(to: EmbeddingChoice, *, guarded: bool, yes: bool, as_json: bool) -> None:
    """Migrate to a model, or go on with it. Raises what ``migration.begin`` and ``migration.advance`` raise."""
    planned = migration.plan(to)
    going_on = migration.under_way() is not None
    confirm(_question(planned, going_on=going_on), yes=yes)
    space = migration.begin(to, guarded=guarded)
    _follow(space, quiet=as_json)
    space.refresh_from_db()
    if as_json:
        print_json(shape(space))
        return
    say(f"The library is now searched with {space}.", "green")
    say(_advice(to, space))


def cancel() -> None:
    """Give up the migration that is under way. Raises ``NotFound`` where there is none."""
    space = migration.under_way()
    if space is None:
        raise NotFound("No migration is under way.", hint="`kb db status` shows what is.")
    migration.cancel(space)
    migration.sweep_away(seconds=3600)
    say(f"The migration to {space} is given up; the library is searched as before.")


def shape(space: EmbeddingSpace) -> dict[str, Any]:
    """Return a space for programs."""
    names = ("provider", "model", "dimensions", "state", "done", "total", "error", "hint")
    return {name: getattr(space, name) for name in names}


def _question(planned: migration.MigrationPlan, *, going_on: bool) -> str:
    tokens = (
        ""
        if planned.provider in LOCAL
        else f", about {planned.tokens:,} tokens that {planned.provider} may charge for"
    )
    verb = "Go on embedding" if going_on else "Embed"
    return f"{verb} {planned.chunks:,} chunks with {planned}{tokens}? Searches go on meanwhile."


def _follow(space: EmbeddingSpace, *, quiet: bool) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err(), transient=True, disable=quiet) as progress:
        bar = progress.add_task(
            printable(f"Embedding with {space.model}")[:60].replace("[", "("),
            total=space.total or None,
        )

        def show(one: EmbeddingSpace) -> None:
            progress.update(bar, completed=one.done, total=one.total)

        try:
            while not migration.advance(space, on_progress=show) and _goes_on(space):
                show(space)  # a worker does the work
                time.sleep(EVERY_SECONDS)
        except KeyboardInterrupt:
            note(
                "Stopped. What is embedded stays: the same command goes on, and so does a worker.",
                "yellow",
            )
            raise


def _goes_on(space: EmbeddingSpace) -> bool:
    space.refresh_from_db()
    if space.state == SpaceState.RETIRED:
        raise Conflict(f"The migration to {space} was given up meanwhile.")
    if space.error:
        raise Unavailable(space.error, hint=space.hint)
    return space.state == SpaceState.BUILDING


def _advice(to: EmbeddingChoice, space: EmbeddingSpace) -> str:
    names = [f"EMBEDDING_PROVIDER={space.provider}"]
    names += [f"EMBEDDING_MODEL={to.model}"] if to.model else []
    names += [f"EMBEDDING_DIMENSIONS={to.dimensions}"] if to.dimensions else []
    return f"Set {' '.join(names)} in the environment or in .env: processes that start from now on need it."
