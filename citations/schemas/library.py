"""The library's recordings as every door lists them, with what is indexed of each."""

from typing import Any, Self
from uuid import UUID

from pydantic import Field

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
