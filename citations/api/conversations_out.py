"""What the operations on conversations answer. Times are seconds."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema

from citations.answers.answer import Reply
from citations.models import Answer, Conversation, Note
from citations.notebook.answers import AnswerRecord
from citations.notebook.export import as_json, citation, nearest


class ClaimOut(Schema):
    """A sentence or two of an answer, and the numbers of the citations that it stands on."""

    label: str = Field(
        description="In an overview, the heading or title that it tells of; empty where it is that of the claim before."
    )
    text: str
    citations: list[int]
    is_supported: bool


class QuotationOut(Schema):
    """A quote that was found word for word in its source, and where it stands."""

    id: UUID | None = Field(
        description="Of its permanent address; null where the answer is not kept."
    )
    number: int
    quote: str
    prefix: str = Field(description="What stands before it, at most 100 characters.")
    suffix: str
    source: UUID
    title: str
    kind: str
    author: str
    url: str
    heading: str
    start: float | None = Field(description="Seconds.")
    end: float | None = Field(description="Seconds.")
    page: int | None
    last_page: int | None
    place: str = Field(description="The same for people.")
    link: str = Field(description="Opens exactly there.")


class NearestOut(Schema):
    """A passage that comes near a question which is not answered; ``text`` is its beginning."""

    source: UUID
    title: str
    heading: str
    text: str
    score: float
    start: float | None = Field(description="Seconds.")
    page: int | None
    link: str


class ReplyOut(Schema):
    """An answer. ``withheld`` claims cite sources that you may not read any more."""

    id: UUID | None = Field(description="Null where it is not kept.")
    conversation: UUID | None
    question: str
    asked_as: str = Field(
        description="The question by itself, where it followed on what was said before."
    )
    state: str = Field(description="running, answered, partial, refused or failed.")
    claims: list[ClaimOut]
    citations: list[QuotationOut]
    gone: list[int] = Field(
        description="Numbers that claims cite of sources that were deleted: they are not among the citations."
    )
    nearest: list[NearestOut] = Field(description="Of a refusal: the passages that come nearest.")
    note: str
    error: str
    hint: str
    confidence: float | None = Field(
        description="How likely the first citation is right, 0 to 1, as calibrated."
    )
    model: str = Field(
        description="The language model; empty: the answer is made of the sources' own sentences."
    )
    feedback: int | None
    withheld: int
    milliseconds: float | None
    created_at: datetime | None


class RepliedOut(ReplyOut):
    """An answer, and how it was made."""

    trace: dict[str, Any] = Field(
        description="Questions, passages, verdicts, milliseconds and tokens."
    )


class ConversationOut(Schema):
    """A conversation, in short."""

    id: UUID
    title: str
    collection: str | None = Field(
        description="The notebook that is asked; null: all you may read."
    )
    sources: list[UUID] = Field(description="The sources that are asked; none: all.")
    created_at: datetime
    updated_at: datetime

    @staticmethod
    def resolve_id(conversation: Conversation) -> UUID:
        """Name it as addresses do."""
        return conversation.uuid

    @staticmethod
    def resolve_collection(conversation: Conversation) -> str | None:
        """Name it by its slug."""
        return conversation.collection.slug if conversation.collection else None


class ConversationSummaryOut(ConversationOut):
    """A conversation in the list."""

    answers: int = Field(description="How many questions were asked.")

    @staticmethod
    def resolve_answers(conversation: Any) -> int:
        """Give the count."""
        return int(conversation.answer_count)


class ConversationsOut(Schema):
    """A page of conversations, the latest first; ``next`` is the offset of the one after it."""

    conversations: list[ConversationSummaryOut]
    total: int
    next: int | None


class WholeOut(Schema):
    """A conversation with all that was asked and answered, in order."""

    conversation: ConversationOut
    answers: list[ReplyOut]


class FeedbackOut(Schema):
    """What you said of an answer."""

    feedback: int | None


class NoteOut(Schema):
    """A note beside the sources of a collection."""

    id: UUID
    collection: str
    title: str
    text: str = Field(description="Markdown.")
    author: str = Field(
        description="Empty: the account is gone, or it was written on the server itself."
    )
    answer: UUID | None = Field(description="The answer that it is from, if that is yours.")
    created_at: datetime
    updated_at: datetime


class NotesOut(Schema):
    """A page of notes, the latest first; ``next`` is the offset of the one after it."""

    notes: list[NoteOut]
    total: int
    next: int | None


def kept(record: AnswerRecord) -> dict[str, Any]:
    """Return an answer that is kept."""
    return {**as_json(record), "conversation": record.conversation, "trace": record.trace}


def forgotten(reply: Reply) -> dict[str, Any]:
    """Return an answer that is not kept, in the same form."""
    same = ("question", "asked_as", "note", "confidence", "model", "milliseconds")
    return {name: getattr(reply, name) for name in same} | {
        "id": None,
        "conversation": None,
        "state": reply.outcome.value,
        "claims": [one.as_json() for one in reply.claims],
        "citations": [citation(one) for one in reply.quotes],
        "gone": [],
        "nearest": [nearest(one.as_json()) for one in reply.nearest],
        "error": "",
        "hint": "",
        "feedback": None,
        "withheld": 0,
        "created_at": None,
        "trace": reply.trace.as_json(),
    }


def whole(conversation: Conversation, records: Sequence[AnswerRecord]) -> dict[str, Any]:
    """Return a conversation with its answers."""
    return {"conversation": conversation, "answers": [kept(one) for one in records]}


def noted(note: Note, user: Any) -> Mapping[str, Any]:
    """Return a note; the answer that it is from is named to its owner alone."""
    same = {name: getattr(note, name) for name in ("title", "text", "created_at", "updated_at")}
    return same | {
        "id": note.uuid,
        "collection": note.collection.slug,
        "author": note.author.get_username() if note.author else "",
        "answer": note.answer.uuid if _is_owned(note.answer, user) and note.answer else None,
    }


def _is_owned(answer: Answer | None, user: Any) -> bool:
    return answer is not None and answer.conversation.owner_id == user.pk
