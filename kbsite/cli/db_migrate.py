"""Migrate the library to another embedding model, with a progress bar."""

import time
from typing import Any

from citations.conf import EmbeddingChoice
from citations.maintenance import migration
from citations.models import EmbeddingSpace, SpaceState
from kbsite.cli.terminal import bar_label, confirm, note, print_json, progress_bar, say
from transcripts.errors import Conflict, NotFound, Unavailable

LOCAL = frozenset({"local", "bge", "bge-base", "fake"})  # providers without charges
POLL_SECONDS = 0.5
SWEEP_SECONDS = 3600


def migrate(choice: EmbeddingChoice, *, guarded: bool, yes: bool, as_json: bool) -> None:
    """Start or resume a migration, whoever embeds, and wait for its end.

    Raises what ``migration.begin`` and ``migration.advance`` raise.
    """
    confirm(_question(migration.plan(choice)), yes=yes)
    space = migration.begin(choice, guarded=guarded)
    _follow(space, quiet=as_json)
    space.refresh_from_db()
    if as_json:
        print_json(space_json(space))
        return
    say(f"The library is now searched with {space}.", "green")
    say(_advice(choice, space))


def cancel() -> None:
    """Cancel the migration that is under way. Raises ``NotFound``."""
    space = migration.under_way()
    if space is None:
        raise NotFound("No migration is under way.", hint="`kb db status` shows the active model.")
    migration.cancel(space)
    migration.delete_leftovers(seconds=SWEEP_SECONDS)
    say(f"The migration to {space} is cancelled; the library is searched as before.")


def space_json(space: EmbeddingSpace) -> dict[str, Any]:
    """Return an embedding space for programs."""
    names = ("provider", "model", "dimensions", "state", "done", "total", "error", "hint")
    return {name: getattr(space, name) for name in names}


def _question(plan: migration.MigrationPlan) -> str:
    tokens = (
        ""
        if plan.provider in LOCAL
        else f", about {plan.tokens:,} tokens that {plan.provider} may charge for"
    )
    verb = "Embed" if migration.under_way() is None else "Continue embedding"
    return f"{verb} {plan.chunks:,} chunks with {plan}{tokens}? Searches continue meanwhile."


def _follow(space: EmbeddingSpace, *, quiet: bool) -> None:
    with progress_bar(quiet=quiet) as progress:
        label = bar_label(f"Embedding with {space.model}")
        bar = progress.add_task(label, total=space.total or None)

        def show(space: EmbeddingSpace) -> None:
            progress.update(bar, completed=space.done, total=space.total)

        try:
            while not migration.advance(space, on_progress=show) and _is_building(space):
                show(space)  # a worker embeds
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            note("Stopped. The same command or a worker resumes the migration.", "yellow")
            raise


def _is_building(space: EmbeddingSpace) -> bool:
    space.refresh_from_db()
    if space.state == SpaceState.RETIRED:
        raise Conflict(f"The migration to {space} was cancelled meanwhile.")
    if space.error:
        raise Unavailable(space.error, hint=space.hint)
    return space.state == SpaceState.BUILDING


def _advice(choice: EmbeddingChoice, space: EmbeddingSpace) -> str:
    names = [f"EMBEDDING_PROVIDER={space.provider}"]
    names += [f"EMBEDDING_MODEL={choice.model}"] if choice.model else []
    names += [f"EMBEDDING_DIMENSIONS={choice.dimensions}"] if choice.dimensions else []
    return f"Set {' '.join(names)} in the environment or .env for processes that start from now on."
