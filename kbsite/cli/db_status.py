"""What `kb db status` shows: how much is stored and indexed, what the library is locked to, and what is being done."""

from dataclasses import asdict, dataclass
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
class Holdings:
    """Numbers of rows; sources by state; bytes on the disk; the embedding spaces; and what the settings name where that is another model."""

    videos: int
    transcripts: int
    sources: dict[str, int]
    chunks: int
    bytes: int
    spaces: list[dict[str, Any]]
    waiting: int
    mismatch: str
    hint: str

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)

    def print(self) -> None:
        """Show it."""
        say(
            f"{self.videos:,} videos, {self.transcripts:,} transcripts, {self.chunks:,} chunks, {self.bytes / 2**20:,.1f} MB"
        )
        states = [
            f"{count:,} {State(state).label}" for state, count in self.sources.items() if count
        ]
        say(f"Sources: {', '.join(states) or 'none'}")
        for space in self.spaces:
            say(_line(space))
            if space["error"]:
                say(f"    {space['error']} {space['hint']}".rstrip(), "yellow")
        if not self.spaces:
            say(
                "Locked to no embedding model yet: the first ingest locks it to the one that the settings name."
            )
        if self.mismatch:
            say(self.mismatch, "red")
            say(self.hint)


def look() -> Holdings:
    """Count everything."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = int(cursor.fetchone()[0])
    mismatch, hint = _mismatch()
    by_state = dict(Source.objects.order_by().values_list("state").annotate(Count("pk")))
    return Holdings(
        videos=Video.objects.count(),
        transcripts=Transcript.objects.count(),
        sources={state: by_state.get(state, 0) for state in State.values},
        chunks=Chunk.objects.count(),
        bytes=size,
        spaces=[
            db_migrate.shape(space) | {"vectors": space.embeddings.count()}
            for space in EmbeddingSpace.objects.order_by("pk")
        ],
        waiting=ingest_pipeline.waiting().count(),
        mismatch=mismatch,
        hint=hint,
    )


def lock_lines() -> list[str]:
    """Say what the library is locked to, and what the settings name where that is another model."""
    space = vector_space.locked()
    locked = (
        f"The library is locked to {space}."
        if space
        else "The library is locked to no embedding model yet."
    )
    mismatch, hint = _mismatch()
    return [locked, *filter(None, (mismatch, hint))]


def _mismatch() -> tuple[str, str]:
    try:
        vector_space.check()
    except (EmbeddingMismatch, InvalidProvider) as error:
        return error.message, error.hint
    return "", ""


def _line(space: dict[str, Any]) -> str:
    name = vector_space.describe(space["provider"], space["model"], space["dimensions"])
    if space["state"] == "building":
        return f"Being embedded anew with {name}: {space['done']:,} of {space['total']:,} chunks"
    words = "Locked to" if space["state"] == "active" else "Replaced:"
    return f"{words} {name}: {space['vectors']:,} vectors"
