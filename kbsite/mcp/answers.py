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
    next_cursor: str | None = None


class FetchAnswer(BaseModel):
    """A transcript that is there, or the job that gets it."""

    status: Literal["ready", "queued", "running"]
    transcript: TranscriptAnswer | None = None
    job: JobAnswer | None = None
