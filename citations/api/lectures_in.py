"""What is sent to the operations on lectures, checked for its form. Times are milliseconds from the lecture's start."""

from typing import Annotated, Self
from uuid import UUID

from ninja import Field, Header, Path, Schema
from pydantic import ConfigDict, StringConstraints, model_validator

from citations.lectures import worker as lecture_worker
from citations.lectures.sessions import GREATEST, MAX_AT_ONCE, MAX_SAID, MAX_TEXT
from citations.lectures.windows import Utterance
from citations.library.filters import MAX_VALUES
from transcripts.api.in_ import BIGGEST_ID, Language, Shelf, Text, Track

SessionId = Annotated[UUID, Path(description="The session's id.")]
CitationId = Annotated[UUID, Path(description="The citation's id.")]
Number = Annotated[int, Field(ge=0, le=GREATEST)]
LastEventId = Annotated[
    Number | None,
    Header(
        alias="Last-Event-ID", description="What a browser sends when it connects again by itself."
    ),
]
Milliseconds = Annotated[
    int, Field(ge=0, le=GREATEST, description="Milliseconds from the lecture's start.")
]


class SessionIn(Schema):
    """A lecture that begins."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[Text, StringConstraints(max_length=300)] = Field(
        "", description="Empty: the title of what is replayed, or the day and time."
    )
    collection: Shelf = ""
    sources: list[Annotated[Text, StringConstraints(min_length=1, max_length=500)]] = Field(
        [],
        max_length=MAX_VALUES,
        description="Ids of the sources of the collection that it cites; none: all of them, also those that are added later.",
    )
    language: Language = ""
    video: Annotated[Text, StringConstraints(max_length=2048)] = Field(
        "", description="What is to be replayed: a video's id, or its address on YouTube."
    )
    track: Track = ""


class SessionsIn(Schema):
    """Which sessions, and which page of them."""

    words: Annotated[Text, StringConstraints(max_length=200)] = Field(
        "", description="Words of the title."
    )
    collection: Shelf = ""
    offset: int = Field(0, ge=0, le=BIGGEST_ID)
    limit: int = Field(25, ge=1, le=100)


class SegmentIn(Schema):
    """A piece of speech, of any length."""

    model_config = ConfigDict(extra="forbid")

    number: Number = Field(
        description="Yours, from 0 on: it orders the segments, and one that is sent twice counts once."
    )
    text: Annotated[Text, StringConstraints(max_length=MAX_TEXT)]
    start: Milliseconds | None = None
    end: Milliseconds | None = None


class SegmentsIn(Schema):
    """Numbered segments, or a text that is said next."""

    model_config = ConfigDict(extra="forbid")

    segments: list[SegmentIn] = Field([], max_length=MAX_AT_ONCE)
    text: Annotated[Text, StringConstraints(max_length=MAX_SAID)] = Field(
        "", description="Instead of segments: what is said next, numbered here."
    )

    @model_validator(mode="after")
    def one_of_two(self) -> Self:
        """Refuse both, and neither."""
        if bool(self.segments) == bool(self.text.strip()):
            raise ValueError("give either segments or text")
        return self

    @property
    def utterances(self) -> list[Utterance]:
        """The segments as they are taken."""
        return [Utterance(one.number, one.text, one.start, one.end) for one in self.segments]


class PositionIn(Schema):
    """How far the recording has been played."""

    model_config = ConfigDict(extra="forbid")

    position: Milliseconds


class WindowIn(Schema):
    """A window of speech that somebody else cut."""

    model_config = ConfigDict(extra="forbid")

    session_id: UUID
    transcript_text: Annotated[
        Text, StringConstraints(min_length=1, max_length=lecture_worker.MAX_TEXT)
    ]
    window_index: int = Field(
        ge=0,
        le=lecture_worker.MAX_INDEX,
        description="Which window of the session it is: citations are listed in this order.",
    )


class CitationsIn(Schema):
    """Which citations."""

    from_window: Number = Field(0, description="Only of windows from this index on.")


class EventsIn(Schema):
    """Where to go on."""

    after: Number = Field(
        0,
        description="The number of the event that was seen last; the header Last-Event-ID counts for more.",
    )


__all__ = [
    "CitationId",
    "CitationsIn",
    "EventsIn",
    "LastEventId",
    "PositionIn",
    "SegmentsIn",
    "SessionId",
    "SessionIn",
    "SessionsIn",
    "WindowIn",
]
