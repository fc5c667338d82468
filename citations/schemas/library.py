"""The library as every door shows it: its recordings, and what `kb db` shows of it in numbers."""

from typing import Any, Self
from uuid import UUID

from pydantic import Field

from citations.schemas.search import StateCountsOut
from transcripts.schemas import Shape, VideoDetailsOut


class IndexedOut(Shape):
    """A source of a recording, and how far it is indexed."""

    id: UUID = Field(validation_alias="uuid")
    language: str
    state: str


class ListedVideoOut(VideoDetailsOut):
    """A recording in a list, with its sources."""

    sources: list[IndexedOut]

    @classmethod
    def of(cls, video: VideoDetailsOut, sources: Any) -> Self:
        shapes = [IndexedOut.model_validate(source).model_dump() for source in sources]
        return cls.parse({**video.model_dump(), "sources": shapes})


class ListedVideosOut(Shape):
    """A page of recordings, newest first; ``next`` is the offset of the next page."""

    videos: list[ListedVideoOut]
    total: int
    next: int | None


class SpaceOut(Shape):
    """The vectors of one embedding model; of one that is being built, how far it is."""

    provider: str
    model: str
    dimensions: int
    state: str = Field(description="active, building or retired.")
    vectors: int
    done: int
    total: int
    error: str
    hint: str


class DatabaseOut(Shape):
    """What is stored and indexed, and whether the settings fit the model that it is locked to."""

    videos: int
    transcripts: int
    sources: StateCountsOut
    chunks: int
    bytes: int = Field(description="On disk.")
    spaces: list[SpaceOut]
    waiting: int = Field(description="Sources that wait for a worker.")
    outdated: int = Field(description="Sources whose words an earlier version has indexed.")
    mismatch: str = Field(description="How the settings differ from the model; empty: not at all.")
    hint: str
