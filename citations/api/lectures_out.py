"""What the operations on lectures answer. Times are milliseconds from the lecture's start; the fields of citations are fixed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from citations.lectures.worker import WindowResult
from citations.models import Citation, LectureSession

PAGE = "Counted from 1; null in a recording, and in an event its start says where."


class SessionOut(Schema):
    """A lecture, and how far it is."""

    id: UUID
    title: str
    collection: str
    language: str
    sources: list[UUID] = Field(description="The sources that it names and that are still there.")
    names_sources: bool = Field(
        description="Whether it cites nothing but those; else every source of its collection."
    )
    video: str | None = Field(description="The id of the video that is replayed.")
    position: int = Field(description="How far it is replayed, in milliseconds.")
    windows: int
    events: int = Field(
        description="The number of the last event: to hear what comes after it, and nothing before."
    )
    created_at: datetime
    ended_at: datetime | None

    @staticmethod
    def resolve_id(session: LectureSession) -> UUID:
        """Name it as addresses do."""
        return session.uuid

    @staticmethod
    def resolve_collection(session: LectureSession) -> str:
        """Name it by its slug."""
        return session.collection.slug

    @staticmethod
    def resolve_sources(session: LectureSession) -> list[UUID]:
        """Name them by their ids."""
        return [source.uuid for source in session.sources.all()]

    @staticmethod
    def resolve_video(session: LectureSession) -> str | None:
        """Name it by its id."""
        return session.transcript.video.key if session.transcript else None

    @staticmethod
    def resolve_windows(session: LectureSession) -> int:
        """Count them."""
        return session.window_count

    @staticmethod
    def resolve_events(session: LectureSession) -> int:
        """Count them."""
        return session.event_count


class SessionsOut(Schema):
    """A page of sessions; ``next`` is the offset of the one after it."""

    sessions: list[SessionOut]
    total: int
    next: int | None


class WindowOut(Schema):
    """A window of speech: the segments it goes from and to, their times and text."""

    index: int
    first: int | None
    last: int | None
    start: int | None
    end: int | None
    text: str


class WindowsOut(Schema):
    """The windows that are full now. They are being looked up; what is found comes as events."""

    windows: list[WindowOut]


class CitationPlaceOut(Schema):
    """What every citation says of its place."""

    document_name: str
    page_number: int | None = Field(description=PAGE)

    @staticmethod
    def resolve_document_name(citation: Citation) -> str:
        """Name its source for people."""
        return citation.source.title

    @staticmethod
    def resolve_page_number(citation: Citation) -> int | None:
        """Give the page it begins on."""
        return citation.page


class CitedWhole(CitationPlaceOut):
    """What a citation says of its place where it is looked at by itself."""

    document_id: UUID
    section_heading: str | None
    relevance_score: float = Field(description="0 to 1.")

    @staticmethod
    def resolve_document_id(citation: Citation) -> UUID:
        """Name its source."""
        return citation.source.uuid

    @staticmethod
    def resolve_section_heading(citation: Citation) -> str | None:
        """Give none rather than an empty one."""
        return citation.section_heading or None


class QueriedOut(CitedWhole):
    """A citation of the window that was asked about."""

    rank: int = Field(description="1, 2 or 3.")
    snippet: str = Field(description="100 to 200 characters, where the passage has so many.")


class QueryMetadata(Schema):
    """How the citations were found."""

    keywords: list[str]
    expanded_concepts: list[str]
    processing_time_ms: int


class AnswerOut(Schema):
    """The citations of one window, best first; none where nothing fits."""

    window_index: int
    citations: list[QueriedOut]
    query_metadata: QueryMetadata

    @staticmethod
    def resolve_query_metadata(answer: WindowResult) -> dict[str, Any]:
        """Lay out how it was found."""
        return {
            "keywords": answer.keywords,
            "expanded_concepts": answer.expanded_concepts,
            "processing_time_ms": answer.milliseconds,
        }


class CitationOut(CitedWhole):
    """A citation, with the whole passage that it cites."""

    id: UUID
    full_chunk_text: str
    created_at: datetime

    @staticmethod
    def resolve_id(citation: Citation) -> UUID:
        """Name it as events do."""
        return citation.uuid

    @staticmethod
    def resolve_full_chunk_text(citation: Citation) -> str:
        """Give the passage as it was when it was cited."""
        return citation.quote


class CitationSummaryOut(CitationPlaceOut):
    """A citation in the list of a session's."""

    id: UUID
    window_index: int
    rank: int
    snippet: str
    created_at: datetime

    @staticmethod
    def resolve_id(citation: Citation) -> UUID:
        """Name it as events do."""
        return citation.uuid


class CitationsOut(Schema):
    """A session's citations, in the order of windows and ranks."""

    citations: list[CitationSummaryOut]


class StageTimeOut(Schema):
    """How long a stage took: half and 95 % of the windows in less, in milliseconds; over how many windows."""

    name: str
    p50: float
    p95: float
    count: int


class StatisticsOut(Schema):
    """How a lecture's windows fared. Shares are of the windows that are finished and had documents to cite, 0 to 1."""

    windows: int
    waiting: int
    citations: int
    outcomes: dict[str, int]
    cited: float
    off_topic: float = Field(description="Left out by the gate.")
    too_far: float = Field(description="Left out because nothing is near enough.")
    too_weak: float = Field(description="Left out because nothing is relevant enough.")
    stages: list[StageTimeOut]
    total: StageTimeOut | None
