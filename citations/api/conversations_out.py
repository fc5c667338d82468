"""Outputs of the operations on conversations and notes; answers are in ``citations.schemas``."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field
from pydantic import AliasPath

from citations.models import Note
from citations.schemas.answers import ReplyOut
from transcripts.schemas import CollectionSlug, Shape


class ConversationOut(Shape):
    """A conversation, without its answers."""

    id: UUID = Field(validation_alias="uuid")
    title: str
    collection: str | None = Field(
        None,
        validation_alias=AliasPath("collection", "slug"),
        description="The collection that is asked; null: all you may read.",
    )
    sources: list[UUID] = Field(description="The sources that are asked; empty: all.")
    created_at: datetime
    updated_at: datetime


class ConversationSummaryOut(ConversationOut):
    """A conversation in a list."""

    answers: int = Field(validation_alias="answer_count", description="Number of questions.")


class ConversationsOut(Shape):
    """A page of conversations, latest first; ``next`` is the offset of the next page."""

    conversations: list[ConversationSummaryOut]
    total: int
    next: int | None


class ConversationRecordOut(Shape):
    """A conversation and its answers, in order."""

    conversation: ConversationOut
    answers: list[ReplyOut]


class FeedbackOut(Shape):
    """Your rating of an answer."""

    feedback: int | None


class NoteOut(Shape):
    """A note in a collection."""

    id: UUID = Field(validation_alias="uuid")
    collection: CollectionSlug
    title: str
    text: str = Field(description="Markdown.")
    author: str = Field(
        "",
        validation_alias=AliasPath("author", "username"),
        description="Empty: the account was deleted, or the note was written on the server.",
    )
    answer_id: UUID | None = Field(
        None,
        validation_alias=AliasPath("answer", "uuid"),
        description="The answer that the note was made from, if it is yours.",
    )
    created_at: datetime
    updated_at: datetime

    @classmethod
    def read(cls, note: Note, user: Any) -> "NoteOut":
        """Return a note as a user sees it: only the owner of its answer sees which it is."""
        shown = cls.model_validate(note)
        if note.answer is None or note.answer.conversation.owner_id != user.pk:
            shown.answer_id = None
        return shown


class NotesOut(Shape):
    """A page of notes, latest first; ``next`` is the offset of the next page."""

    notes: list[NoteOut]
    total: int
    next: int | None
