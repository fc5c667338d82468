"""Lectures as every door shows them; the fields of citations are those of FRD-05.

Times are seconds from the lecture's start.
"""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, AliasPath, BeforeValidator, Field

from transcripts.schemas import CollectionSlug, Count, Seconds, Shape

PageNumber = Annotated[
    Annotated[int, Field(ge=1)] | None,
    Field(validation_alias="page", description="Counted from 1; null in a recording."),
]


Rank = Annotated[
    int, Field(ge=1, le=3, description="1: the window's best; 2 and 3: its runners-up.")
]
Note = Annotated[
    str,
    Field(
        description=(
            "Without citations why: no_documents, not_indexed_yet, off_topic or too_weak, or a"
            " sentence on what failed. With citations a remark on them, or empty."
        )
    ),
]


class SessionOut(Shape):
    """A lecture and its progress. Times are seconds from its start."""

    id: UUID = Field(validation_alias="uuid")
    title: str
    collection: CollectionSlug
    language: str
    sources: Annotated[
        list[UUID], BeforeValidator(lambda rows: [row.uuid for row in rows.all()])
    ] = Field(description="The sources that it names, without deleted ones.")
    names_sources: bool = Field(
        description="Whether it cites only those; else every source of its collection."
    )
    video_id: str | None = Field(
        None,
        validation_alias=AliasPath("transcript", "video", "key"),
        description="The recording that it replays, or as which it was kept.",
    )
    state: Literal["not_begun", "in_progress", "ended"]
    position: Seconds = Field(description="How far it is replayed, in seconds.")
    windows: int = Field(validation_alias="window_count")
    events: int = Field(
        validation_alias="event_count",
        description="The number of the last event: watch from here to get only what comes next.",
    )
    created_at: datetime
    ended_at: datetime | None


class ListedSessionOut(SessionOut):
    """A lecture in a list."""

    citations: int = Field(validation_alias="citation_count")


class SessionsOut(Shape):
    """A page of sessions; ``next`` is the offset of the next page."""

    sessions: list[ListedSessionOut]
    total: Count
    next: Count | None


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


class LookedUpOut(Shape):
    """How many windows are looked up again."""

    windows: int


class CitationLocationOut(Shape):
    """The location of a citation."""

    document_name: str = Field(validation_alias=AliasPath("source", "title"))
    page_number: PageNumber


class CitationDetailsOut(CitationLocationOut):
    """The location and relevance of a citation."""

    document_id: UUID = Field(validation_alias=AliasPath("source", "uuid"))
    section_heading: Annotated[str | None, AfterValidator(lambda heading: heading or None)]
    relevance_score: float = Field(ge=0, le=1, description="0 to 1.")


class WindowCitationOut(CitationDetailsOut):
    """A citation for a window."""

    rank: Rank
    snippet: str = Field(description="100 to 200 characters, if the passage has so many.")


class QueryMetadataOut(Shape):
    """How the citations were found."""

    keywords: list[str]
    expanded_concepts: list[str] = Field([], description="Always empty: no query is expanded.")
    processing_time_ms: int = Field(validation_alias="milliseconds")


class WindowCitationsOut(Shape):
    """The citations for one window, best first; none if nothing is relevant."""

    window_index: int
    citations: list[WindowCitationOut]
    note: Note
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
    rank: Rank
    snippet: str
    created_at: datetime


class CitationsOut(Shape):
    """A page of a session's citations; ``next`` is the offset of the next page."""

    citations: list[CitationSummaryOut]
    total: Count
    next: Count | None


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
    notes: dict[str, int] = Field(description="The most frequent notes of windows, with counts.")


# Events


class SegmentEventOut(Shape):
    """A segment of speech; times in seconds."""

    number: int
    text: str
    start: Seconds | None
    end: Seconds | None


class CitedEventOut(WindowCitationOut):
    """A citation; the times of its passage in seconds, null in a document."""

    id: UUID = Field(validation_alias="uuid")
    kind: str = Field(validation_alias=AliasPath("source", "kind"))
    is_slide: bool = Field(False, description="The page is a slide.")
    start: Seconds | None
    end: Seconds | None


class CitationsEventOut(Shape):
    """What became of a window: its citations, best first, or why it has none."""

    window_index: int
    outcome: str
    note: Note
    milliseconds: float = Field(description="How long it took.")
    citations: list[CitedEventOut]


class EndedEventOut(Shape):
    """The lecture has ended; citations of its last windows may follow."""


# Replays


class ReplayedCitationOut(CitedEventOut):
    """A citation of a lecture that was replayed."""

    window_index: int


class ReplayOut(Shape):
    """A lecture that was replayed to its end, and what it cites."""

    lecture: SessionOut
    statistics: StatisticsOut
    cited: list[ReplayedCitationOut]
