"""What the tools answer with, as structured content. Times are seconds, dates ISO 8601; what does not apply is left out."""

from typing import Literal

from pydantic import BaseModel


class ChunkPlace(BaseModel):
    """Where a time chunk stands among the others."""

    index: int
    count: int
    previous: int | None = None
    next: int | None = None


class TranscriptAnswer(BaseModel):
    """A part of a transcript, or all of it."""

    video_id: str
    title: str
    channel: str
    collection: str
    language: str
    origin: str
    mode: Literal["range", "chunk", "full", "preview"]
    start: float
    end: float
    duration: float
    total_characters: int
    total_chunks: int
    chunk_size: int
    timestamp_link: str
    chunk: ChunkPlace | None = None
    warning: str | None = None
    next_cursor: str | None = None
    text: str = ""


class HitAnswer(BaseModel):
    """A segment that answers a query."""

    text: str
    start: float
    end: float
    score: float
    timestamp_link: str


class SearchAnswer(BaseModel):
    """The best segments, best first."""

    video_id: str
    title: str
    language: str
    query: str
    hits: list[HitAnswer] = []
    next_cursor: str | None = None


class VideoAnswer(BaseModel):
    """A video of the library."""

    video_id: str
    title: str
    channel: str
    collection: str
    duration: float
    languages: list[str]
    url: str
    published_at: str | None = None


class ListAnswer(BaseModel):
    """A page of videos, newest first."""

    total: int
    videos: list[VideoAnswer] = []
    next_cursor: str | None = None


class ProblemAnswer(BaseModel):
    """A part of a job that failed while the rest went on."""

    name: str
    message: str


class IndexedAnswer(BaseModel):
    """How far a video's text in one language is indexed: it is found by words, then by meaning too."""

    source_id: str
    language: str
    found_by_words: bool
    found_by_meaning: bool
    error: str | None = None


class JobAnswer(BaseModel):
    """How far a job is."""

    job_id: int
    state: str
    kind: str
    target: str
    step: str
    done: int
    total: int
    percent: int
    video_id: str | None = None
    error: str | None = None
    problem_count: int = 0
    problems: list[ProblemAnswer] = []
    sources: list[IndexedAnswer] = []
    next_cursor: str | None = None


class FetchAnswer(BaseModel):
    """A transcript that is there, or the job that gets it."""

    status: Literal["ready", "queued", "running"]
    transcript: TranscriptAnswer | None = None
    job: JobAnswer | None = None


class TermAnswer(BaseModel):
    """What one word adds to a BM25 score."""

    term: str
    frequency: int
    score: float


class ExplanationAnswer(BaseModel):
    """How a score came about; ranks count from 1."""

    formula: str
    lexical_rank: int | None = None
    bm25: float | None = None
    vector_rank: int | None = None
    cosine: float | None = None
    rrf_lexical: float
    rrf_vector: float
    rrf: float
    lexical_weight: float
    vector_weight: float
    neighbours: float
    fused: float
    rerank_score: float | None = None
    terms: list[TermAnswer] = []


class AlsoAnswer(BaseModel):
    """Where almost the same is said."""

    source_id: str
    title: str
    start: float | None = None
    page: int | None = None
    link: str


class PassageAnswer(BaseModel):
    """A passage that answers."""

    source_id: str
    title: str
    kind: str
    channel: str
    video_id: str | None = None
    text: str
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None
    score: float
    timestamp_link: str
    heading: str | None = None
    also: list[AlsoAnswer] = []
    explanation: ExplanationAnswer | None = None


class StageAnswer(BaseModel):
    """A stage of a search."""

    name: str
    ms: float
    count: int


class KnowledgeAnswer(BaseModel):
    """The best passages of the library, best first."""

    query: str
    mode: str
    reranked: bool
    notes: list[str] = []
    stages: list[StageAnswer] = []
    passages: list[PassageAnswer] = []
    next_cursor: str | None = None


class SourceAnswer(BaseModel):
    """A source of the library, and how far it is indexed."""

    source_id: str
    title: str
    kind: str
    channel: str
    collection: str
    language: str
    video_id: str | None = None
    published_at: str | None = None
    state: str
    chunks: int
    pages: int | None = None
    error: str | None = None


class SourcesAnswer(BaseModel):
    """A page of sources, newest first; ``indexing`` counts those that are still on their way."""

    total: int
    indexing: int
    failed: int
    sources: list[SourceAnswer] = []
    next_cursor: str | None = None


class DifferenceAnswer(BaseModel):
    """Words that a quote leaves out ("missing"), adds or replaces ("changed")."""

    kind: Literal["missing", "added", "changed"]
    quoted: str
    actual: str


class VerifiedAnswer(BaseModel):
    """Whether a quote stands somewhere word for word; only a verbatim one may be cited."""

    verdict: Literal["verbatim", "misattributed", "altered", "not_found"]
    too_short: bool = False
    source_id: str | None = None
    title: str | None = None
    video_id: str | None = None
    text: str | None = None
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None
    link: str | None = None
    differences: list[DifferenceAnswer] = []
