"""Inputs and outputs of the operations on lectures; the fields of citations are those of FRD-05.

Times are seconds from the lecture's start.
"""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from ninja import Field, Header, Path, Schema
from pydantic import (
    AfterValidator,
    AliasPath,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    model_validator,
)

from citations.lectures import worker as lecture_worker
from citations.lectures.speech import MAX_INTEGER, MAX_SAID, MAX_SEGMENTS, MAX_TEXT
from citations.lectures.windows import Utterance
from citations.library.filters import MAX_VALUES
from transcripts.api.shapes import CollectionName, Language, PageIn, Text, Title, Track, Words
from transcripts.schemas import CollectionSlug, Seconds, Shape
from transcripts.timecodes import milliseconds

SessionId = Annotated[UUID, Path(description="The session's id.")]
CitationId = Annotated[UUID, Path(description="The citation's id.")]
Number = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
LastEventId = Annotated[
    Number | None,
    Header(alias="Last-Event-ID", description="Sent by a browser when it reconnects."),
]
SecondsIn = Annotated[
    float,
    Field(
        ge=0,
        le=MAX_INTEGER // 1000,
        allow_inf_nan=False,
        description="Seconds from the lecture's start.",
    ),
]


class SessionIn(Schema):
    """A lecture to start."""

    model_config = ConfigDict(extra="forbid")

    title: Title = Field("", description="Empty: the video's title, or the date and time.")
    collection: CollectionName = ""
    sources: list[Annotated[Text, StringConstraints(min_length=1, max_length=500)]] = Field(
        [],
        max_length=MAX_VALUES,
        description="Ids of the sources to cite; empty: all of the collection, also later ones.",
    )
    language: Language = ""
    video_id: Annotated[Text, StringConstraints(max_length=2048)] = Field(
        "", description="The video to replay: its id, or its address on YouTube."
    )
    track: Track = ""


class SessionsIn(PageIn):
    """Filters and a page of sessions."""

    words: Words = Field("", description="Words of the title.")
    collection: CollectionName = ""


class SegmentIn(Schema):
    """A segment of speech, of any length."""

    model_config = ConfigDict(extra="forbid")

    number: Number = Field(
        description="Your number, from 0: it orders the segments; a repeated one is ignored."
    )
    text: Annotated[Text, StringConstraints(max_length=MAX_TEXT)]
    start: SecondsIn | None = None
    end: SecondsIn | None = None


class SegmentsIn(Schema):
    """Numbered segments, or the text that is said next."""

    model_config = ConfigDict(extra="forbid")

    segments: list[SegmentIn] = Field([], max_length=MAX_SEGMENTS)
    text: Annotated[Text, StringConstraints(max_length=MAX_SAID)] = Field(
        "", description="Instead of segments: what is said next. The server numbers it."
    )

    @model_validator(mode="after")
    def check_alternatives(self) -> Self:
        if bool(self.segments) == bool(self.text.strip()):
            raise ValueError("give either segments or text")
        return self

    @property
    def utterances(self) -> list[Utterance]:
        return [
            Utterance(
                segment.number, segment.text, milliseconds(segment.start), milliseconds(segment.end)
            )
            for segment in self.segments
        ]


class PositionIn(Schema):
    """A position in the recording."""

    model_config = ConfigDict(extra="forbid")

    position: SecondsIn


class WindowIn(Schema):
    """A window of speech that the client made."""

    model_config = ConfigDict(extra="forbid")

    session_id: UUID
    transcript_text: Annotated[
        Text, StringConstraints(min_length=1, max_length=lecture_worker.MAX_TEXT)
    ]
    window_index: int = Field(
        ge=0,
        le=lecture_worker.MAX_INDEX,
        description="The window's number in the session; citations are listed in this order.",
    )


class CitationsIn(PageIn):
    """Which citations, and a page of them."""

    from_window: Number = Field(0, description="Only of windows from this index on.")


class EventsIn(Schema):
    """Where to continue."""

    after: Number = Field(
        0, description="The number of the last event seen; the header Last-Event-ID has precedence."
    )


PageNumber = Annotated[
    int | None, Field(validation_alias="page", description="Counted from 1; null in a recording.")
]


Rank = Annotated[int, Field(description="1: the window's best; 2 and 3: its runners-up.")]


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
    relevance_score: float = Field(description="0 to 1.")


class WindowCitationOut(CitationDetailsOut):
    """A citation for a window."""

    rank: Rank
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
    rank: Rank
    snippet: str
    created_at: datetime


class CitationsOut(Shape):
    """A page of a session's citations; ``next`` is the offset of the next page."""

    citations: list[CitationSummaryOut]
    total: int
    next: int | None


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
