"""Conversations, notes, highlights, ZIPs and shared links as every door shows them."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Self
from uuid import UUID

from pydantic import AliasPath, Field

from citations.schemas.answers import ReplyOut
from citations.schemas.search import Link, LocatedOut
from transcripts.schemas import CollectionSlug, Count, Seconds, Shape

if TYPE_CHECKING:  # clients read these shapes without Django
    from django.contrib.auth.models import User


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
    def read(cls, note: Any, user: "User") -> Self:
        """Return a note as a user sees it: only the owner of its answer sees which it is."""
        result = cls.model_validate(note)
        if note.answer is None or note.answer.conversation.owner_id != user.pk:
            result.answer_id = None
        return result


class NotesOut(Shape):
    """A page of notes, latest first; ``next`` is the offset of the next page."""

    notes: list[NoteOut]
    total: Count
    next: Count | None


class ConversationOut(Shape):
    """A conversation, without its answers."""

    id: UUID = Field(validation_alias="uuid")
    title: str
    collection: str | None = Field(
        None,
        validation_alias=AliasPath("collection", "slug"),
        description="The collection that is asked; null: all you may read.",
    )
    sources: list[UUID] = Field(
        description="The sources that are asked, as far as you may read them; empty: all."
    )
    is_pinned: bool = Field(description="At the top of its owner's list.")
    shared_with: str | None = Field(
        None,
        validation_alias=AliasPath("shared_with", "slug"),
        description="The collection whose readers read it; null: it is its owner’s alone.",
    )
    created_at: datetime
    updated_at: datetime


class ConversationSummaryOut(ConversationOut):
    """A conversation in a list."""

    answers: int = Field(validation_alias="answer_count", description="Number of questions.")


class ConversationsOut(Shape):
    """A page of conversations, latest first; ``next`` is the offset of the next page."""

    conversations: list[ConversationSummaryOut]
    total: Count
    next: Count | None


class ConversationRecordOut(Shape):
    """A conversation and its answers, in order."""

    conversation: ConversationOut
    answers: list[ReplyOut]


class ArchiveOut(Shape):
    """A ZIP, and how far it is; it is kept for a day."""

    id: UUID = Field(validation_alias="uuid")
    state: Literal["queued", "running", "done", "failed"]
    done: Count
    total: Count
    size: Count = Field(description="Bytes, when it is done.")
    error: str
    hint: str
    created_at: datetime


class SharedLinkOut(Shape):
    """A link. Whoever has it reads what it shows, without an account."""

    id: UUID = Field(validation_alias="uuid")
    highlight_id: UUID | None = Field(None, validation_alias=AliasPath("highlight", "uuid"))
    answer_id: UUID | None = Field(None, validation_alias=AliasPath("answer", "uuid"))
    source_id: UUID | None = Field(None, validation_alias=AliasPath("source", "uuid"))
    page: int | None = None
    start: Seconds | None = None
    end: Seconds | None = None
    quote: str = Field(description="The words that are shown alone; empty: all of it.")
    plays_file: bool
    path: str = Field(description="On this server.")
    created_at: datetime
    expires_at: datetime


class SharedLinksOut(Shape):
    """Your links that have not expired, latest first."""

    links: list[SharedLinkOut]


Color = Literal["yellow", "green", "blue", "pink"]


def _row(*names: str) -> Any:
    return AliasPath("row", *names)


class HighlightOut(LocatedOut):
    """A passage that a reader keeps. Its place is empty if the source has lost its words."""

    id: UUID = Field(validation_alias=_row("uuid"))
    source_id: UUID = Field(validation_alias=_row("source", "uuid"))
    title: str = Field(validation_alias=_row("source", "title"))
    collection: str = Field(validation_alias=_row("source", "collection", "slug"))
    quote: str = Field(validation_alias=_row("quote"), description="The words of the source.")
    prefix: str = Field(validation_alias=_row("prefix"))
    suffix: str = Field(validation_alias=_row("suffix"))
    heading: str = Field(validation_alias=_row("section_heading"))
    speaker: str = Field(
        validation_alias=_row("speaker"),
        description="Who says it, where captions name speakers; else empty.",
    )
    color: Color = Field(validation_alias=_row("color"))
    note: str = Field(validation_alias=_row("note"), description="Markdown.")
    tags: list[str] = Field(validation_alias=_row("tags"))
    shared: bool = Field(validation_alias=_row("is_shared"))
    card: bool = Field(validation_alias=_row("is_card"))
    hidden_words: str = Field(
        validation_alias=_row("hidden_words"),
        description="Words that its card hides; empty: they are chosen automatically.",
    )
    author: str = Field(
        "",
        validation_alias=_row("author", "username"),
        description="Empty: it was made on the server.",
    )
    lost: bool = Field(
        validation_alias="is_lost", description="The source has changed and lost these words."
    )
    link: Link = Field(description="The page that opens there.")
    created_at: datetime = Field(validation_alias=_row("created_at"))
    updated_at: datetime = Field(validation_alias=_row("updated_at"))


class HighlightsOut(Shape):
    """A page of highlights, latest first; ``next`` is the offset of the next page."""

    highlights: list[HighlightOut]
    total: Count
    next: Count | None


class NotPlacedOut(Shape):
    """An annotation that was not imported, by its number in the file, from 1.

    If it is waiting, its source is being indexed: send it again once that is ready.
    """

    number: int
    quote: str
    reason: str
    is_waiting: bool


class ImportOut(Shape):
    """How many highlights were made and changed; ``ignored`` annotations quote no text."""

    made: int
    changed: int
    unchanged: int = Field(description="There already, as they are in the file.")
    ignored: int
    not_placed: list[NotPlacedOut]
