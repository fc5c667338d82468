"""What the operations answer. Times are seconds."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from citations.api.search_in import ModeOf
from citations.models import Source, State
from citations.passages import NearDuplicate, Passage, Results, Stage, seconds
from transcripts.conf import absolute


class TermOut(Schema):
    """What one word adds to a BM25 score."""

    term: str
    frequency: int
    idf: float
    score: float


class ExplanationOut(Schema):
    """How a score came about: ranks count from 1, and a branch that did not find the passage has none. ``formula`` says it in numbers."""

    lexical_rank: int | None
    bm25: float | None
    terms: list[TermOut]
    vector_rank: int | None
    cosine: float | None
    rrf_lexical: float
    rrf_vector: float
    rrf: float
    lexical_weight: float
    vector_weight: float
    neighbours: float
    fused: float
    rerank_score: float | None
    formula: str


class TwinOut(Schema):
    """Where almost the same is said: it was left out in favour of a better passage."""

    source_id: UUID
    title: str
    start: float | None
    end: float | None
    page: int | None
    link: str
    similarity: float = Field(description="Of the sets of words, 0 to 1.")

    @staticmethod
    def resolve_source_id(duplicate: NearDuplicate) -> UUID:
        """Name its source."""
        return duplicate.origin.id

    @staticmethod
    def resolve_title(duplicate: NearDuplicate) -> str:
        """Name its source for people."""
        return duplicate.origin.title

    @staticmethod
    def resolve_start(duplicate: NearDuplicate) -> float | None:
        """Give it in seconds."""
        return seconds(duplicate.locator.start)

    @staticmethod
    def resolve_end(duplicate: NearDuplicate) -> float | None:
        """Give it in seconds."""
        return seconds(duplicate.locator.end)

    @staticmethod
    def resolve_page(duplicate: NearDuplicate) -> int | None:
        """Give the page it is on."""
        return duplicate.locator.page

    @staticmethod
    def resolve_link(duplicate: NearDuplicate) -> str:
        """Give it with the address of this site."""
        return absolute(duplicate.link)


class PassageOut(Schema):
    """A piece of a source that answers; ``spans`` are where the query's words are in its text, in characters."""

    source_id: UUID
    title: str
    kind: str
    channel: str
    collection: str
    language: str
    video: str | None = Field(description="The id of the video, where it is one.")
    text: str
    start: float | None = Field(description="Seconds.")
    end: float | None = Field(description="Seconds.")
    page: int | None
    last_page: int | None
    score: float = Field(description="0 to 1.")
    timestamp_link: str = Field(description="Opens the recording at that second.")
    link: str = Field(description="Opens the page here at that second or page.")
    context: str
    heading: str
    spans: list[tuple[int, int]]
    also: list[TwinOut]
    chunk: int = Field(description="For marking it; it changes when the source is cut anew.")
    mark: bool | None = Field(description="What you marked it as, for this query.")
    explanation: ExplanationOut | None

    @staticmethod
    def of(passage: Passage) -> dict[str, Any]:
        """Lay a passage out flat."""
        origin, locator = passage.origin, passage.locator
        same = (
            "text",
            "score",
            "timestamp_link",
            "context",
            "heading",
            "spans",
            "chunk",
            "mark",
            "explanation",
        )
        return {name: getattr(passage, name) for name in same} | {
            "also": passage.duplicates,
            "source_id": origin.id,
            "title": origin.title,
            "kind": origin.kind,
            "channel": origin.author,
            "collection": origin.collection,
            "language": origin.language,
            "video": origin.key or None,
            "start": seconds(locator.start),
            "end": seconds(locator.end),
            "page": locator.page,
            "last_page": locator.last_page,
            "link": absolute(passage.link),
        }


class StageOut(Schema):
    """One stage of the search: how long it took, how many passages came out of it."""

    name: str
    ms: float
    count: int
    note: str

    @staticmethod
    def resolve_ms(stage: Stage) -> float:
        """Give it to the microsecond."""
        return round(stage.milliseconds, 3)


class SearchOut(Schema):
    """The best passages, best first, and how they were found; ``notes`` say what was left out and why."""

    query: str
    mode: ModeOf
    passages: list[PassageOut]
    stages: list[StageOut]
    notes: list[str]
    reranked: bool
    hypothesis: str = Field(
        description="The hypothetical answer that was looked for as well, where a language model wrote one."
    )
    ms: float

    @staticmethod
    def resolve_passages(results: Results) -> list[dict[str, Any]]:
        """Lay each out flat."""
        return [PassageOut.of(passage) for passage in results.passages]

    @staticmethod
    def resolve_ms(results: Results) -> float:
        """Give it to the microsecond."""
        return round(results.milliseconds, 3)


class SourceOut(Schema):
    """A source, and how far it is indexed."""

    id: UUID
    kind: str
    title: str
    video: str | None = Field(description="The id of the video, where it is one.")
    language: str
    collection: str
    state: State
    step: str
    percent: int
    chunks: int
    error_code: str
    error: str
    hint: str
    updated_at: datetime

    @staticmethod
    def resolve_id(source: Source) -> UUID:
        """Name it as searches do."""
        return source.uuid

    @staticmethod
    def resolve_video(source: Source) -> str | None:
        """Name its video by its id."""
        return source.video.key if source.video else None

    @staticmethod
    def resolve_collection(source: Source) -> str:
        """Name it by its slug."""
        return source.collection.slug

    @staticmethod
    def resolve_chunks(source: Source) -> int:
        """Count its pieces."""
        return source.chunk_count


class MarkOut(Schema):
    """What a hit is marked as."""

    query: str
    chunk: int
    right: bool


__all__ = [
    "ExplanationOut",
    "MarkOut",
    "PassageOut",
    "SearchOut",
    "SourceOut",
    "StageOut",
    "TermOut",
    "TwinOut",
    "absolute",
    "seconds",
]
