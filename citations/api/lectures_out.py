"""Outputs of the operations on lectures. The fields of citations are those of FRD-05."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.db.models import Manager
from ninja import Field
from pydantic import AfterValidator, AliasPath, BeforeValidator

from citations.models import Source
from transcripts.schemas import CollectionSlug, Seconds, Shape

PageNumber = Annotated[
    int | None, Field(validation_alias="page", description="Counted from 1; null in a recording.")
]


def _ids(sources: Manager[Source]) -> list[UUID]:
    return [source.uuid for source in sources.all()]


class SessionOut(Shape):
    """A lecture and its progress. Times are seconds from its start."""

    id: UUID = Field(validation_alias="uuid")
    title: str
    collection: CollectionSlug
    language: str
    sources: Annotated[list[UUID], BeforeValidator(_ids)] = Field(
        description="The sources that it names, without deleted ones."
    )
    names_sources: bool = Field(
        description="Whether it cites only those; else every source of its collection."
    )
    video_id: str | None = Field(
        None,
        validation_alias=AliasPath("transcript", "video", "key"),
        description="The video that is replayed.",
    )
    position: Seconds = Field(description="How far it is replayed, in seconds.")
    windows: int = Field(validation_alias="window_count")
    events: int = Field(
        validation_alias="event_count",
        description="The number of the last event: watch from here to get only what comes next.",
    )
    created_at: datetime
    ended_at: datetime | None


class SessionsOut(Shape):
    """A page of sessions; ``next`` is the offset of the next page."""

    sessions: list[SessionOut]
    total: int
    next: int | None


class WindowOut(Shape):
    """A window of speech: its first and last segment, its times in seconds, its text."""

    index: int
    first: int | None
    last: int | None
    start: Seconds | None
    end: Seconds | None
    text: str


class WindowsOut(Shape):
    """The windows that are complete now. Their citations come as events."""

    windows: list[WindowOut]


class CitationLocationOut(Shape):
    """The location of a citation."""

    document_name: str = Field(validation_alias=AliasPath("source", "title"))
    page_number: PageNumber


class CitationDetailsOut(CitationLocationOut):
    """The location and relevance of a citation."""

    document_id: UUID = Field(validation_alias=AliasPath("source", "uuid"))
    section_heading: Annotated[str | None, AfterValidator(lambda heading: heading or None)]
    relevance_score: float = Field(description="0 to 1.")


class WindowCitationOut(CitationDetailsOut):
    """A citation for a window."""

    rank: int = Field(description="1, 2 or 3.")
    snippet: str = Field(description="100 to 200 characters, if the passage has so many.")


class QueryMetadataOut(Shape):
    """How the citations were found."""

    keywords: list[str]
    expanded_concepts: list[str]
    processing_time_ms: int = Field(validation_alias="milliseconds")


class WindowCitationsOut(Shape):
    """The citations for one window, best first; none if nothing is relevant."""

    window_index: int
    citations: list[WindowCitationOut]
    query_metadata: QueryMetadataOut


class CitationOut(CitationDetailsOut):
    """A citation with the whole passage, as it was when it was cited."""

    id: UUID = Field(validation_alias="uuid")
    full_chunk_text: str = Field(validation_alias="quote")
    created_at: datetime


class CitationSummaryOut(CitationLocationOut):
    """A citation in a list."""

    id: UUID = Field(validation_alias="uuid")
    window_index: int
    rank: int
    snippet: str
    created_at: datetime


class CitationsOut(Shape):
    """A session's citations, by window and rank."""

    citations: list[CitationSummaryOut]


class StageTimeOut(Shape):
    """Percentiles of a stage's duration over ``count`` windows, in milliseconds."""

    name: str
    p50: float
    p95: float
    count: int


class StatisticsOut(Shape):
    """What became of a lecture's windows.

    Shares, 0 to 1, are of the finished windows that had documents to cite.
    """

    windows: int
    waiting: int
    citations: int
    outcomes: dict[str, int]
    cited: float
    off_topic: float = Field(description="Rejected by the topic gate.")
    too_far: float = Field(description="Without a passage near enough.")
    too_weak: float = Field(description="Without a passage relevant enough.")
    stages: list[StageTimeOut]
    total: StageTimeOut | None
