"""The operations on transcripts and jobs under /api/v1/: each parses, makes one call, renders. What only lists content is in the content API."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from ninja import Field, File, Form, Path, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import AfterValidator, ConfigDict, StringConstraints, model_validator

from transcripts import acquisition, conf, library
from transcripts.errors import TooLarge
from transcripts.library import Format
from transcripts.models import Job, Transcript, Video, WorkerPulse, YouTubeGate
from transcripts.reading import MAX_CHUNK_SECONDS, MIN_CHUNK_SECONDS, Mode
from transcripts.scope import Scope
from transcripts.tasks import send

BIGGEST_ID = 2**63 - 1
UPLOADS_AT_ONCE = 4  # together, files sent in one request may be so many times the limit of a single one

router = Router()


class Request(HttpRequest):
    """A request after the middleware: who asks, and what they may see."""

    caller: Any
    scope: Scope


# What is sent


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("NUL and halves of characters cannot be stored")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Language = Annotated[
    Text, StringConstraints(max_length=35), Field(description="A language code, such as en or pt-BR; empty: the preferred one.")
]
Shelf = Annotated[Text, StringConstraints(max_length=120), Field(description="The collection, by slug or name; empty: the usual one.")]
Tags = Annotated[list[Annotated[Text, StringConstraints(min_length=1, max_length=60)]], Field(max_length=50)]
VideoId = Annotated[Text, Path(description="The video's id, its YouTube id, or its address on YouTube, URL-encoded.", max_length=2048)]
JobId = Annotated[int, Path(ge=1, le=BIGGEST_ID)]


class SourceIn(Schema):
    """An address on YouTube, or a text with its title."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[Text, StringConstraints(max_length=2048)] = Field("", description="A video, playlist or channel on YouTube.")
    text: str = Field("", description="A transcript panel, a caption file, or plain text, pasted.")
    title: Annotated[Text, StringConstraints(max_length=300)] = Field("", description="The title of the text.")
    collection: Shelf = ""
    language: Language = ""
    tags: Tags = []
    newest: int | None = Field(None, ge=1, le=100_000, description="Of a playlist or channel, only the newest N.")
    every_hours: int | None = Field(None, ge=1, le=8_760, description="Look again every so many hours.")

    @model_validator(mode="after")
    def one_of_two(self) -> Self:
        """Refuse both, neither, and a text without a title."""
        if bool(self.url.strip()) == bool(self.text.strip()):
            raise ValueError("give either url, or text and title")
        if self.text and not self.title.strip():
            raise ValueError("a text needs a title")
        return self


class FilesIn(Schema):
    """What goes for all of the files sent."""

    collection: Shelf = ""
    language: Language = ""
    tags: Tags = []


class Reach(Schema):
    """Which of several: a collection where several hold the video, a language where it has several."""

    collection: Shelf = ""
    language: Language = ""


class ReadingIn(Reach):
    """Which part: a time range goes before a chunk, a chunk before the whole."""

    start: float | None = Field(None, ge=0, description="Seconds; with end, a time range.")
    end: float | None = Field(None, ge=0, description="Seconds.")
    chunk_index: int | None = Field(None, ge=0, le=1_000_000, description="A time chunk, from 0 on.")
    chunk_size: int | None = Field(None, ge=MIN_CHUNK_SECONDS, le=MAX_CHUNK_SECONDS, description="Length of a time chunk in seconds.")
    full: bool = Field(False, description="All of it, however long.")


class SearchIn(Reach):
    """What to look for, and how many answers are wanted."""

    query: Annotated[Text, StringConstraints(min_length=1, max_length=library.MAX_QUERY)]
    limit: int = Field(5, ge=1, le=library.MAX_HITS)


class DownloadIn(Reach):
    """The kind of file."""

    format: Format


class JobsIn(Schema):
    """Which jobs, newest first."""

    state: Literal["queued", "running", "done", "failed"] | None = None
    collection: Shelf = ""
    limit: int = Field(25, ge=1, le=100)
    offset: int = Field(0, ge=0, le=1_000_000)


# What is answered


class Problem(Schema):
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

    mode: Mode
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
    return {**good, frozenset({400, 401, 403, 422, *bad}): Problem}


# Adding


@router.post("sources", response=answers({201: StoredOut, 202: JobOut}, 404, 409, 413), summary="Add a video, playlist, channel or text")
def add_source(request: Request, source: SourceIn) -> Status[Any]:
    """Queue an address of YouTube (202, with the job; an unfinished job for the same is answered as it is), or store a text at once (201)."""
    request.caller.require_write()
    shelf = library.shelf(request.scope, source.collection)
    if source.text:
        return Status(201, acquisition.add_text(shelf, source.text, title=source.title, language=source.language, tags=source.tags))
    job = acquisition.request(
        shelf,
        source.url,
        language=source.language,
        tags=source.tags,
        newest=source.newest,
        every_hours=source.every_hours,
        by=request.caller.user,
    )
    return _queued(job)


@router.post("sources/files", response=answers({202: JobOut}, 404, 413), summary="Add caption files")
def add_files(request: Request, files: File[list[UploadedFile]], about: Form[FilesIn]) -> Status[Any]:
    """Queue the import of caption files, and of yt-dlp's .info.json files beside them."""
    request.caller.require_write()
    shelf = library.shelf(request.scope, about.collection)
    job = acquisition.request_files(shelf, _contents(files), language=about.language, tags=about.tags, by=request.caller.user)
    return _queued(job)


# Jobs


@router.get("jobs", response=answers({200: JobsOut}, 404), summary="List jobs")
def list_jobs(request: Request, wanted: Query[JobsIn]) -> dict[str, Any]:
    """List the jobs of your collections, newest first."""
    found = _jobs(request)
    if wanted.collection:
        found = found.filter(collection=library.find_collection(request.scope, wanted.collection))
    if wanted.state:
        found = found.filter(state=wanted.state)
    rows = list(found[wanted.offset : wanted.offset + wanted.limit + 1])
    return {"jobs": rows[: wanted.limit], "next": wanted.offset + wanted.limit if len(rows) > wanted.limit else None}


@router.get("jobs/{job_id}", response=answers({200: JobOut}, 404), summary="Follow a job")
def get_job(request: Request, job_id: JobId) -> Job:
    """Say how far a job is, or how it ended."""
    job: Job = _jobs(request).numbered(job_id)
    return job


@router.post("jobs/{job_id}/retry", response=answers({202: JobOut}, 404, 409), summary="Try a job again")
def retry_job(request: Request, job_id: JobId) -> Status[Any]:
    """Queue a finished job again."""
    request.caller.require_write()
    job = _jobs(request).numbered(job_id)
    request.scope.require_write(job.collection_id)
    return _queued(acquisition.retry(job))


# Reading. The paths that go on after the id stand before the one that does not: an id may be an address, with slashes in it.


@router.get("transcripts/{path:video_id}/search", response=answers({200: VideoSearchOut}, 404), summary="Search within a video")
def search_transcript(request: Request, video_id: VideoId, wanted: Query[SearchIn]) -> library.VideoSearch:
    """Rank the segments of one video by BM25."""
    video = library.find_video(request.scope, video_id, collection=wanted.collection)
    return library.search(video, wanted.query, language=wanted.language, limit=wanted.limit)


_FILE = {"schema": {"type": "string"}}
_FILES = {
    200: {
        "content": {"text/vtt": _FILE, "application/x-subrip": _FILE, "text/plain": _FILE, "text/markdown": _FILE, "application/json": {}}
    }
}


@router.get(
    "transcripts/{path:video_id}/download",
    response=answers({200: None}, 404),
    openapi_extra={"responses": _FILES},
    summary="Download a transcript",
)
def download_transcript(request: Request, video_id: VideoId, wanted: Query[DownloadIn]) -> HttpResponse:
    """Give a transcript as WebVTT, SubRip, plain text, Markdown or JSON."""
    video = library.find_video(request.scope, video_id, collection=wanted.collection)
    file = library.export(video, form=wanted.format, language=wanted.language)
    headers = {"Content-Disposition": content_disposition_header(as_attachment=True, filename=file.name) or "attachment"}
    return HttpResponse(file.text, content_type=file.media_type, headers=headers)


@router.post("transcripts/{path:video_id}/refetch", response=answers({202: JobOut}, 404), summary="Fetch a video again")
def refetch_transcript(request: Request, video_id: VideoId, wanted: Query[Reach]) -> Status[Any]:
    """Queue a video of YouTube anew, in another language if one is named."""
    request.caller.require_write()
    video = library.find_video(request.scope, video_id, collection=wanted.collection)
    request.scope.require_write(video.collection_id)
    return _queued(acquisition.refetch(video, language=wanted.language, by=request.caller.user))


@router.get("transcripts/{path:video_id}", response=answers({200: VideoReadingOut}, 404), summary="Read a transcript")
def read_transcript(request: Request, video_id: VideoId, wanted: Query[ReadingIn]) -> library.VideoReading:
    """Read a time range, a time chunk, all of it when it is short or asked for, or else a preview with hints."""
    video = library.find_video(request.scope, video_id, collection=wanted.collection)
    return library.read(
        video,
        language=wanted.language,
        start=wanted.start,
        end=wanted.end,
        chunk_index=wanted.chunk_index,
        chunk_size=wanted.chunk_size,
        include_full=wanted.full,
    )


@router.get("youtube", response=answers({200: YouTubeOut}), summary="See whether YouTube can be asked")
def get_youtube(request: Request) -> dict[str, Any]:
    """Say whether the queue to YouTube runs, or until when it pauses and why."""
    gate = YouTubeGate.current()
    fields = ("state", "free_at", "closed_until", "refusals", "reason_code", "reason", "last_success_at")
    waiting = Job.objects.visible(request.scope).filter(state=Job.State.QUEUED).exclude(kind=Job.Kind.FILES).count()
    return {**{name: getattr(gate, name) for name in fields}, "waiting": waiting, "worker_alive": WorkerPulse.is_alive()}


def _jobs(request: Request) -> Any:
    return (
        Job.objects.visible(request.scope)
        .select_related("collection", "video")
        .defer("video__description", "video__chapters", "video__languages")
    )


def _queued(job: Job) -> Status[Any]:
    send(job)
    return Status(202, job)


def _contents(files: list[UploadedFile]) -> Iterator[tuple[str, bytes]]:
    limit = UPLOADS_AT_ONCE * conf.max_upload_bytes()
    if sum(file.size or 0 for file in files) > limit:
        raise TooLarge(f"Together the files have more than {limit:,} bytes.", hint="Send them in several requests.")
    for file in files:
        yield file.name or "", file.read()
