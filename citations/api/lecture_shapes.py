"""Inputs of the operations on lectures. Times are seconds from the lecture's start."""

from typing import Annotated, Self
from uuid import UUID

from ninja import Field, Header, Path, Schema
from pydantic import StringConstraints, model_validator

from citations.lectures import worker as lecture_worker
from citations.lectures.speech import MAX_INTEGER, MAX_SAID, MAX_SEGMENTS, MAX_TEXT
from citations.lectures.windows import Utterance
from citations.schemas.requests import LectureIn
from transcripts.api.shapes import BIGGEST_ID, BodyIn, Language, PageIn, Track, Words
from transcripts.schemas import CollectionName, Filled, Id, Text
from transcripts.text.timecodes import milliseconds

MAX_LISTED = 10_000  # citations in one answer: those of seven hours of speech
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


class SessionIn(LectureIn, BodyIn):
    """A lecture to start."""

    language: Language = ""
    video_id: Annotated[Text, StringConstraints(max_length=2048)] = Field(
        "", description="The video to replay: its id, or its address on YouTube."
    )
    track: Track = ""


class SessionsIn(PageIn):
    """Filters and a page of sessions."""

    words: Words = Field("", description="Words of the title.")
    collection: CollectionName = ""


class SegmentIn(BodyIn):
    """A segment of speech, of any length."""

    number: Number = Field(
        description="Your number, from 0: it orders the segments; a repeated one is ignored."
    )
    text: Annotated[Text, StringConstraints(max_length=MAX_TEXT)]
    start: SecondsIn | None = None
    end: SecondsIn | None = None


class SegmentsIn(BodyIn):
    """Numbered segments, or the text that is said next."""

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


class PositionIn(BodyIn):
    """A position in the recording."""

    position: SecondsIn


class WindowIn(BodyIn):
    """A window of speech that the client made."""

    session_id: Id
    transcript_text: Annotated[Filled, StringConstraints(max_length=lecture_worker.MAX_TEXT)]
    window_index: int = Field(
        ge=0,
        le=lecture_worker.MAX_INDEX,
        description="The window's number in the session; citations are listed in this order.",
    )


class CitationsIn(Schema):
    """Which citations, and a page of them."""

    from_window: Number = Field(0, description="Only of windows from this index on.")
    offset: int = Field(0, ge=0, le=BIGGEST_ID)
    limit: int | None = Field(
        None,
        ge=1,
        le=100,
        description=f"Without it you get all, at most {MAX_LISTED:,} in one answer.",
    )


class EventsIn(Schema):
    """Where to continue."""

    after: Number = Field(
        0, description="The number of the last event seen; the header Last-Event-ID has precedence."
    )
