"""What the operations answer."""

from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

from transcripts.models import Job, Transcript, Video
from transcripts.reading import ReadingMode


class ProblemOut(Schema):
    """Problem details (RFC 9457) with a stable code, and a hint at what to try."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str


class JobProblem(Schema):
    """A part of a job that failed while the rest went on."""

    name: str
    code: str
    message: str
    hint: str


class JobOut(Schema):
    """A job: how far it is, and how it ended."""

    id: int
    kind: str
    target: str
    collection: str
    state: str
    step: str
    done: int
    total: int
    percent: int
    language: str
    tags: list[str]
    video: str | None = Field(description="The id of the video it made.")
    error_code: str
    error: str
    hint: str
    problems: list[JobProblem]
    created_at: datetime
    run_after: datetime | None
    started_at: datetime | None
    finished_at: datetime | None

    @staticmethod
    def resolve_collection(job: Job) -> str:
        """Name it by its slug."""
        return job.collection.slug

    @staticmethod
    def resolve_video(job: Job) -> str | None:
        """Name it by its id."""
        return job.video.key if job.video else None


class JobsOut(Schema):
    """A page of jobs; ``next`` is the offset of the one after it."""

    jobs: list[JobOut]
    next: int | None


class VideoOut(Schema):
    """A video, in short."""

    id: str
    title: str
    channel: str
    url: str
    duration: float = Field(description="Seconds.")
    collection: str

    @staticmethod
    def resolve_id(video: Video) -> str:
        """Name it as people do."""
        return video.key

    @staticmethod
    def resolve_duration(video: Video) -> float:
        """Give it in seconds."""
        return video.duration / 1000

    @staticmethod
    def resolve_collection(video: Video) -> str:
        """Name it by its slug."""
        return video.collection.slug


class TranscriptOut(Schema):
    """A transcript without its text."""

    language: str
    origin: str
    cue_count: int
    characters: int
    duration: float = Field(description="Seconds.")

    @staticmethod
    def resolve_duration(transcript: Transcript) -> float:
        """Give it in seconds."""
        return transcript.duration / 1000


class StoredOut(Schema):
    """What a text became."""

    video: VideoOut
    transcript: TranscriptOut
    change: Literal["added", "updated", "unchanged"]


class ChunkOut(Schema):
    """Where a time chunk lies; times in seconds."""

    index: int
    count: int
    start: float
    end: float
    previous: int | None
    next: int | None


class ReadingOut(Schema):
    """What was read; times in seconds."""

    mode: ReadingMode
    text: str
    start: float
    end: float
    total_characters: int
    total_chunks: int
    chunk_size: int
    chunk: ChunkOut | None
    hints: list[str]
    warning: str


class VideoReadingOut(Schema):
    """A video, the transcript that was chosen, and what was read of it."""

    video: VideoOut
    transcript: TranscriptOut
    reading: ReadingOut


class HitOut(Schema):
    """A segment that answers: times in seconds, and where the words are in its text."""

    text: str
    start: float
    end: float
    score: float
    spans: list[tuple[int, int]]
    timestamp_link: str


class VideoSearchOut(Schema):
    """The best segments, best first."""

    video: VideoOut
    transcript: TranscriptOut
    query: str
    hits: list[HitOut]


class YouTubeOut(Schema):
    """Whether YouTube may be asked now, and why not."""

    state: Literal["open", "closed", "probing"]
    free_at: datetime
    closed_until: datetime | None
    refusals: int
    reason_code: str
    reason: str
    last_success_at: datetime | None
    waiting: int = Field(description="Jobs in your collections that wait for it.")
    worker_alive: bool


def answers(good: dict[int, Any], *bad: int) -> dict[Any, Any]:
    """Declare an operation's answers: the good ones, what any operation may refuse with, and what this one may."""
    return {**good, frozenset({400, 401, 403, 422, *bad}): ProblemOut}
