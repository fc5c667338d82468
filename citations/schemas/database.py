"""What `kb db` shows: the library in numbers, and the embedding models that it is locked to."""

from pydantic import Field

from citations.schemas.search import StateCountsOut
from transcripts.schemas import Shape


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
    mismatch: str = Field(description="How the settings differ from the model; empty: not at all.")
    hint: str
