"""Sizes of the database, the lock to an embedding model, and unfinished work."""

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Count

from citations.errors import EmbeddingMismatch, InvalidProvider
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Chunk, EmbeddingSpace, Source, State
from citations.vectors import space as vector_space
from kbsite.cli import db_migrate
from kbsite.cli.terminal import say
from transcripts.models import Transcript, Video


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStatus:
    """Row counts, sources by state, bytes on disk, embedding spaces, a mismatch of settings."""

    videos: int
    transcripts: int
    sources: dict[str, int]
    chunks: int
    bytes: int
    spaces: list[dict[str, Any]]
    waiting: int
    mismatch: str
    hint: str

    def print(self) -> None:
        say(
            f"{self.videos:,} videos, {self.transcripts:,} transcripts,"
            f" {self.chunks:,} chunks, {self.bytes / 2**20:,.1f} MB"
        )
        counts = self.sources.items()
        states = [f"{count:,} {State(state).label}" for state, count in counts if count]
        say(f"Sources: {', '.join(states) or 'none'}")
        for space in self.spaces:
            say(_space_line(space))
            if space["error"]:
                say(f"    {space['error']} {space['hint']}".rstrip(), "yellow")
        if not self.spaces:
            say(
                "Locked to no embedding model yet: the first ingest locks it to the configured one."
            )
        if self.mismatch:
            say(self.mismatch, "red")
            say(self.hint)


def status() -> DatabaseStatus:
    """Count everything."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = int(cursor.fetchone()[0])
    mismatch, hint = _mismatch()
    by_state = dict(Source.objects.order_by().values_list("state").annotate(Count("pk")))
    return DatabaseStatus(
        videos=Video.objects.count(),
        transcripts=Transcript.objects.count(),
        sources={state: by_state.get(state, 0) for state in State.values},
        chunks=Chunk.objects.count(),
        bytes=size,
        spaces=[
            db_migrate.space_json(space) | {"vectors": space.embeddings.count()}
            for space in EmbeddingSpace.objects.order_by("pk")
        ],
        waiting=ingest_pipeline.waiting().count(),
        mismatch=mismatch,
        hint=hint,
    )


def lock_lines() -> list[str]:
    """Return lines on the locked embedding model, and on a mismatch with the settings."""
    space = vector_space.locked()
    name = space or "no embedding model yet"
    return [f"The library is locked to {name}.", *filter(None, _mismatch())]


def _mismatch() -> tuple[str, str]:
    try:
        vector_space.check()
    except (EmbeddingMismatch, InvalidProvider) as error:
        return error.message, error.hint
    return "", ""


def _space_line(space: dict[str, Any]) -> str:
    name = vector_space.describe(space["provider"], space["model"], space["dimensions"])
    if space["state"] == "building":
        return f"Migrating to {name}: {space['done']:,} of {space['total']:,} chunks embedded"
    prefix = "Locked to" if space["state"] == "active" else "Replaced:"
    return f"{prefix} {name}: {space['vectors']:,} vectors"
