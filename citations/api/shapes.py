"""Inputs of the operations on conversations and lectures, and the events that both stream.

Times are seconds from the lecture's start.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from ninja import Field, Header, Path, Schema
from pydantic import StringConstraints, WithJsonSchema, model_validator
from pydantic.json_schema import models_json_schema

from citations.lectures import worker as lecture_worker
from citations.lectures.speech import MAX_INTEGER, MAX_SAID, MAX_SEGMENTS, MAX_TEXT
from citations.lectures.windows import Utterance
from citations.notebook.export import ExportFormat
from citations.schemas.answers import AskedEventOut, ClaimEventOut, TracedReplyOut
from citations.schemas.lectures import CitationsEventOut, EndedEventOut, SegmentEventOut, WindowOut
from citations.schemas.requests import LectureIn, QuestionIn
from transcripts.api.shapes import BIGGEST_ID, BodyIn, Language, PageIn, Track, Whole, Words
from transcripts.schemas import CollectionName, Filled, Id, Shape, SlugOrName, Text
from transcripts.text.timecodes import milliseconds

# Of an answer


class StageEventOut(Shape):
    """The current stage."""

    stage: str


class FailedEventOut(Shape):
    """Why there is no answer."""

    code: str
    detail: str
    hint: str


ANSWER: Final[Mapping[str, type[Shape]]] = {
    "asked": AskedEventOut,
    "stage": StageEventOut,
    "claim": ClaimEventOut,
    "answer": TracedReplyOut,
    "failed": FailedEventOut,
}


# Of a lecture


LECTURE: Final[Mapping[str, type[Shape]]] = {
    "segment": SegmentEventOut,
    "window": WindowOut,
    "citations": CitationsEventOut,
    "ended": EndedEventOut,
}


# Their description


def described(events: Mapping[str, type[Shape]]) -> dict[str, Any]:
    """Return the schema of a stream: a text, whose content is one of these events at a time."""
    return {
        "type": "string",
        "contentMediaType": "text/event-stream",
        "contentSchema": {"oneOf": [_event(*event) for event in events.items()]},
    }


def components() -> dict[str, Any]:
    """Return the components that the descriptions refer to, by name."""
    shapes = dict.fromkeys((*ANSWER.values(), *LECTURE.values()))
    _, definitions = models_json_schema(
        [(shape, "serialization") for shape in shapes], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas


def _event(name: str, shape: type[Shape]) -> dict[str, Any]:
    data = {"$ref": f"#/components/schemas/{shape.__name__}"}
    properties = {"event": {"const": name}, "data": data}
    return {"type": "object", "required": ["event", "data"], "properties": properties}


ConversationId = Annotated[UUID, Path(description="The conversation's id.")]
AnswerId = Annotated[UUID, Path(description="The answer's id.")]
QuotationId = Annotated[UUID, Path(description="The citation's id.")]
# Inline: another component of the API has an enumeration of this name.
FormOf = Annotated[
    ExportFormat, WithJsonSchema({"type": "string", "enum": [form.value for form in ExportFormat]})
]


class AskIn(QuestionIn, BodyIn):
    """A question: in a conversation, in a new one, or without one."""

    keep: bool = Field(True, description="Keep the answer among your conversations.")

    @model_validator(mode="after")
    def check_alternatives(self) -> Self:
        if self.conversation_id and (self.collection or not self.keep):
            raise ValueError("a conversation has its own collection and keeps its questions")
        return self


class StreamIn(Schema):
    """How the answer is returned."""

    stream: bool = Field(
        True, description="As server-sent events while it is made; false: as JSON when complete."
    )


class ConversationsIn(PageIn):
    """Filters and a page of conversations."""

    words: Words = Field("", description="Words of the title.")
    collection: SlugOrName = Field("", description="Only those of this collection: slug or name.")
    own: bool = Field(False, description="Only yours, latest first, pinned or not.")


class ConversationChangeIn(BodyIn):
    """What to change; fields that are left out, or null, stay."""

    title: Annotated[Filled, StringConstraints(max_length=300)] | None = None
    is_pinned: bool | None = Field(None, description="At the top of your list.")
    shared_with: SlugOrName | None = Field(
        None,
        description="Slug or name of the collection whose readers read it; empty: nobody’s. A"
        " conversation about one collection is shared with the readers of that.",
    )


class FeedbackIn(BodyIn):
    """Your rating of an answer."""

    feedback: Annotated[Literal[1, -1], Whole] | None = Field(
        description="1: helpful, -1: not, null: nothing."
    )


class ExportIn(Schema):
    """The format of an export."""

    format: FormOf = Field(
        ExportFormat.MARKDOWN,
        description="Markdown, a page to print, JSON; or CSL-JSON, BibTeX of the cited sources.",
    )


class FeedbackOut(Shape):
    """Your rating of an answer."""

    feedback: int | None


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
