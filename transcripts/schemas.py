"""What every door takes and shows of jobs, videos and transcripts, each shape declared once.

A shape is read from a model or value with ``model_validate``; REST returns it, MCP and
``kb --json`` dump it. Times are seconds. ``citations.schemas`` has those of passages and answers.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
)

from transcripts.core.errors import KnowledgeBaseError
from transcripts.text.reading import ReadingMode
from transcripts.text.timecodes import seconds


class Shape(BaseModel):
    """Base of all shapes. Every field is always there; one that does not apply is null or empty."""

    model_config = ConfigDict(
        from_attributes=True,
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def parse(cls, data: Any) -> Self:
        """Read what a door showed, by the names and in the units of the shape itself."""
        return cls.model_validate(data, by_name=True, by_alias=False, context=SHOWN)


SHOWN: Final = "shown"  # the context in which times are seconds already


def _read_seconds(time: Any, info: ValidationInfo) -> Any:
    return time if info.context == SHOWN else seconds(time)


MAX_NAME: Final = 120  # characters of a collection's slug or name
MAX_TITLE: Final = 300  # characters of a title from outside
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise ValueError("NUL and lone surrogates cannot be stored")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Text = Annotated[str, AfterValidator(_storable)]  # from outside
Filled = Annotated[Text, StringConstraints(min_length=1), AfterValidator(_filled)]
Id = Annotated[UUID, Strict(False)]  # JSON has no type of its own for it
Title = Annotated[Text, StringConstraints(max_length=MAX_TITLE)]
SlugOrName = Annotated[Text, StringConstraints(max_length=MAX_NAME)]  # of a collection
CollectionName = Annotated[
    SlugOrName, Field(description="The collection's slug or name; empty: the default one.")
]
Time = Annotated[float, Field(ge=0)]  # seconds
Seconds = Annotated[Time, BeforeValidator(_read_seconds)]  # read from milliseconds
Count = Annotated[int, Field(ge=0)]
Percent = Annotated[int, Field(ge=0, le=100)]
CollectionSlug = Annotated[str, Field(validation_alias=AliasPath("collection", "slug"))]
VideoKey = Annotated[
    str | None,
    Field(validation_alias=AliasPath("video", "key"), description="Null: it has no video."),
]


def _chapters(chapters: Iterable[Any], info: ValidationInfo) -> Any:
    if info.context == SHOWN:
        return chapters
    return [{"start": seconds(start), "title": title} for start, title in chapters]


def _gate(name: str) -> AliasPath:
    return AliasPath("gate", name)


def _all(rows: Any) -> Any:
    return rows.all() if hasattr(rows, "all") else rows


class FieldProblemOut(Shape):
    """The fault of a field or parameter of a request."""

    field: str = Field(description="Such as newest or segments.0.text; empty: all of it.")
    message: str


class ProblemOut(Shape):
    """Problem details (RFC 9457) with a stable code and a hint that says what to try."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    hint: str
    errors: list[FieldProblemOut] = Field(description="By field, if the request is invalid.")


class JobProblem(Shape):
    """A part of a job that failed while the rest went on, or a warning about it."""

    name: str
    code: str
    message: str
    hint: str

    @classmethod
    def of(cls, name: str, error: KnowledgeBaseError) -> Self:
        return cls(name=name, code=error.code, message=error.message, hint=error.hint)


class JobOut(Shape):
    """A job: its progress, and how it ended."""

    id: int
    kind: Literal["video", "feed", "files", "page", "listen"]
    target: str
    collection: CollectionSlug
    state: Literal["queued", "running", "done", "failed"]
    step: str
    done: Count
    total: Count
    percent: Percent
    language: str
    tags: list[str]
    video_id: VideoKey = None
    error_code: str
    error: str
    hint: str
    problems: list[JobProblem]
    created_at: datetime
    run_after: datetime | None
    jobs_before: int | None = Field(
        description="Jobs of your collections whose turn comes first; null: it does not wait for"
        " its turn."
    )
    started_at: datetime | None
    finished_at: datetime | None


class JobsOut(Shape):
    """A page of jobs; ``next`` is the offset of the next one."""

    jobs: list[JobOut]
    total: Count
    next: Count | None


class YouTubeOut(Shape):
    """Whether YouTube may be asked now, and why not."""

    state: Literal["open", "closed", "probing"] = Field(validation_alias=_gate("state"))
    free_at: datetime = Field(validation_alias=_gate("free_at"))
    closed_until: datetime | None = Field(validation_alias=_gate("closed_until"))
    refusals: int = Field(validation_alias=_gate("refusals"))
    reason_code: str = Field(validation_alias=_gate("reason_code"))
    reason: str = Field(validation_alias=_gate("reason"))
    last_success_at: datetime | None = Field(validation_alias=_gate("last_success_at"))
    waiting: int = Field(description="Jobs in your collections that wait for YouTube.")
    worker_alive: bool


class MemberOut(Shape):
    """A user's role in a collection."""

    user: str = Field(validation_alias=AliasPath("user", "username"))
    role: str


class CollectionOut(Shape):
    """A collection with its members."""

    slug: str
    name: str
    description: str
    videos: int = Field(validation_alias="video_count")
    members: Annotated[list[MemberOut], BeforeValidator(_all)] = Field(
        validation_alias="memberships"
    )
    created_at: datetime


class VideoOut(Shape):
    """A video, in short."""

    id: str = Field(validation_alias="key")
    title: str
    channel: str
    url: str
    duration: Seconds = Field(description="Seconds.")
    collection: CollectionSlug
    published_at: datetime | None


class ChapterOut(Shape):
    """A chapter of a video; times in seconds."""

    start: Time
    title: str


class VideoDetailsOut(VideoOut):
    """A video in a list, with the languages that it has transcripts in."""

    languages: list[str] = Field(validation_alias="tracks")
    tags: list[str]
    chapters: Annotated[list[ChapterOut], BeforeValidator(_chapters)]

    @classmethod
    def read(cls, video: Any, languages: Sequence[str]) -> Self:
        """Read a video; ``en.auto`` is speech recognition beside an ``en`` that a person made."""
        fields = ("key", "title", "channel", "url", "duration", "published_at", "tags", "chapters")
        values = {name: getattr(video, name) for name in fields}
        return cls.model_validate(
            {**values, "collection": video.collection.slug, "tracks": languages}
        )


class TranscriptOut(Shape):
    """A transcript without its text."""

    language: str
    origin: Literal["manual", "upload", "auto", "heard", "translated"]
    made_by: str = Field(description="The model that heard it; empty: people or YouTube made it.")
    has_added_stops: bool = Field(
        description="Whether full stops were added to captions with few or none."
    )
    cue_count: Count
    characters: Count
    duration: Seconds = Field(description="Seconds.")


class StoredOut(Shape):
    """A text that was stored."""

    video: VideoOut
    transcript: TranscriptOut
    change: Literal["added", "updated", "unchanged"]
    warning: str | None = Field(None, description="Null: nothing was unusual about the text.")


class ChunkOut(Shape):
    """A time chunk; times in seconds."""

    index: int
    count: int
    start: Time
    end: Time
    previous: int | None
    next: int | None


class ReadingOut(Shape):
    """A part of a transcript; times in seconds."""

    mode: ReadingMode
    text: str
    start: Time
    end: Time
    total_characters: int
    total_chunks: int
    chunk_size: int
    chunk: ChunkOut | None
    hints: list[str]
    warning: str


class VideoReadingOut(Shape):
    """A video, the transcript that was chosen, and the part that was read."""

    video: VideoOut
    transcript: TranscriptOut
    reading: ReadingOut


class HitOut(Shape):
    """A segment that matches a query; ``spans`` are the characters of the query's words."""

    text: str
    start: Time
    end: Time
    score: float
    spans: list[tuple[int, int]]
    timestamp_link: str


class VideoSearchOut(Shape):
    """The best segments of a video, best first."""

    video: VideoOut
    transcript: TranscriptOut
    query: str
    hits: list[HitOut]
