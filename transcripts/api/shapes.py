"""Inputs of the operations on transcripts and jobs, and what only they answer."""

from typing import Annotated, Any, Literal, Self

from ninja import Field, Path, Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, StringConstraints, model_validator

from transcripts.core.languages import code_of
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.library import reading as library
from transcripts.library.exports import TranscriptFormat
from transcripts.schemas import CollectionName, Filled, ProblemOut, Text, Title
from transcripts.text.reading import MAX_CHUNK_SECONDS, MIN_CHUNK_SECONDS

BIGGEST_ID = 2**63 - 1


def _whole(value: Any) -> Any:
    if type(value) is not int:
        raise ValueError("is not an integer")
    return value


Whole = BeforeValidator(_whole)  # of a Literal, which would take true for 1
Words = Annotated[Text, StringConstraints(max_length=200)]
Language = Annotated[
    Text,
    StringConstraints(max_length=35),
    AfterValidator(code_of),
    Field(description="A language code or name, such as en or pt-BR; empty: the preferred one."),
]
Track = Annotated[
    Text,
    StringConstraints(max_length=library.MAX_TRACK),
    Field(
        description=(
            "A language code or name, such as en; en.auto for speech recognition beside a better "
            "en; empty: the preferred one."
        )
    ),
]
Tags = Annotated[list[Annotated[Filled, StringConstraints(max_length=60)]], Field(max_length=50)]
VideoId = Annotated[
    Text, Path(description="The video's id or YouTube address, URL-encoded.", max_length=2048)
]
JobId = Annotated[int, Path(ge=1, le=BIGGEST_ID)]
FeedId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="As in /api/content/feeds/.")]


class BodyIn(Schema):
    """A JSON body: other fields are refused, and values of other JSON types, such as "1" for 1."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceIn(BodyIn):
    """A YouTube address, or a text with its title."""

    url: Annotated[Text, StringConstraints(max_length=2048)] = Field(
        "", description="A video, playlist or channel on YouTube."
    )
    text: str = Field("", description="A transcript panel, a caption file, or plain text, pasted.")
    title: Title = Field("", description="The title of the text.")
    collection: CollectionName = ""
    language: Language = ""
    translated: bool = Field(
        False, description="Take a machine translation if a video has no captions in the language."
    )
    tags: Tags = []
    listen: bool = Field(False, description="Listen to videos that have no captions.")
    newest: int | None = Field(
        None, ge=1, le=100_000, description="Of a playlist or channel, only the newest N."
    )
    every_hours: int | None = Field(
        None, ge=1, le=8_760, description="Look for new videos every N hours."
    )

    @model_validator(mode="after")
    def check_alternatives(self) -> Self:
        if bool(self.url.strip()) == bool(self.text.strip()):
            raise ValueError("give either url, or text and title")
        if self.text and not self.title.strip():
            raise ValueError("a text needs a title")
        return self


class FilesIn(Schema):
    """What applies to all files of a request."""

    collection: CollectionName = ""
    language: Language = ""
    tags: Tags = []


class CaptionsIn(BodyIn):
    """The captions of a YouTube video, as a browser or another program has fetched them."""

    url: Annotated[Filled, StringConstraints(max_length=2048)] = Field(
        description="The video's address on YouTube, or its id."
    )
    captions: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="The content of a caption file with times, such as json3 or WebVTT."
    )
    automatic: bool = Field(False, description="They are speech recognition.")
    language: Language = ""
    title: Title = ""
    channel: Annotated[Text, StringConstraints(max_length=200)] = ""
    collection: CollectionName = ""
    tags: Tags = []


class RetryIn(Schema):
    """How a job is tried again."""

    listen: bool = Field(False, description="Listen to the video if it has no captions.")


class TranscriptChoiceIn(Schema):
    """The collection and the language, if there are several with the video."""

    collection: CollectionName = ""
    language: Track = ""


class ReadingIn(TranscriptChoiceIn):
    """The part to read: a time range, else a chunk, else all."""

    start: float | None = Field(None, ge=0, description="Seconds; with end, a time range.")
    end: float | None = Field(None, ge=0, description="Seconds.")
    chunk_index: int | None = Field(
        None, ge=0, le=1_000_000, description="A time chunk, counted from 0."
    )
    chunk_size: int | None = Field(
        None,
        ge=MIN_CHUNK_SECONDS,
        le=MAX_CHUNK_SECONDS,
        description="Length of a time chunk in seconds.",
    )
    full: bool = Field(False, description="All of it, however long.")


class TranscriptSearchIn(TranscriptChoiceIn):
    """A query within a video."""

    query: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    limit: int = Field(5, ge=1, le=library.MAX_HITS)


class DownloadIn(TranscriptChoiceIn):
    """A file format."""

    format: TranscriptFormat


class PageIn(Schema):
    """A page of a list."""

    offset: int = Field(0, ge=0, le=BIGGEST_ID)
    limit: int = Field(25, ge=1, le=100)


class JobsIn(PageIn):
    """Filters and a page of jobs."""

    state: Literal["queued", "running", "done", "failed"] | None = None
    collection: CollectionName = ""


def responses(success: dict[int, Any], *errors: int) -> dict[Any, Any]:
    """Declare an operation's responses: on success, the errors of any operation, and its own."""
    return {**success, frozenset({400, 401, 403, 422, 429, *errors}): ProblemOut}
