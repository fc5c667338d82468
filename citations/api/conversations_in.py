"""What is sent to the operations on conversations, checked for its form."""

from typing import Annotated, Literal, Self
from uuid import UUID

from ninja import Field, Path, Schema
from pydantic import ConfigDict, StringConstraints, WithJsonSchema, model_validator

from citations.notebook.conversations import MAX_SOURCES
from citations.notebook.export import ExportFormat
from citations.notebook.notes import MAX_TEXT
from citations.notebook.questions import MAX_QUESTION
from transcripts.api.in_ import BIGGEST_ID, Shelf, Text

ConversationId = Annotated[UUID, Path(description="The conversation's id.")]
AnswerId = Annotated[UUID, Path(description="The answer's id.")]
QuotationId = Annotated[UUID, Path(description="The citation's id.")]
NoteId = Annotated[UUID, Path(description="The note's id.")]
Title = Annotated[Text, StringConstraints(max_length=300)]
# Described where it stands: another part of the API has an enumeration of this name.
FormOf = Annotated[
    ExportFormat, WithJsonSchema({"type": "string", "enum": [form.value for form in ExportFormat]})
]


class AskIn(Schema):
    """A question: in a conversation that is there, in a new one, or in none."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUESTION)]
    conversation: UUID | None = Field(None, description="To ask on in it; none: a new one begins.")
    collection: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Of a new conversation: its slug or name; empty: all you may read."
    )
    sources: list[Annotated[Text, StringConstraints(min_length=1, max_length=500)]] = Field(
        [],
        max_length=MAX_SOURCES,
        description="Ids of the sources that are asked; none: all, or those that the conversation is about already.",
    )
    keep: bool = Field(
        True, description="Among your conversations; false: the answer is given and forgotten."
    )

    @model_validator(mode="after")
    def one_of_two(self) -> Self:
        """Refuse what contradicts itself."""
        if self.conversation and (self.collection or not self.keep):
            raise ValueError(
                "a conversation has its collection already, and keeps what is asked in it"
            )
        return self


class StreamIn(Schema):
    """How the answer is given."""

    stream: bool = Field(
        True, description="As server-sent events while it is made; false: as JSON when it is whole."
    )


class ConversationsIn(Schema):
    """Which conversations, and which page of them."""

    words: Annotated[Text, StringConstraints(max_length=200)] = Field(
        "", description="Words of the title."
    )
    collection: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="Only those about this collection, by slug or name."
    )
    offset: int = Field(0, ge=0, le=BIGGEST_ID)
    limit: int = Field(25, ge=1, le=100)


class TitleIn(Schema):
    """Another title."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[Title, StringConstraints(min_length=1)]


class FeedbackIn(Schema):
    """What you say of an answer."""

    model_config = ConfigDict(extra="forbid")

    feedback: Literal[1, -1] | None = Field(description="1: helpful, -1: not, null: nothing.")


class ExportIn(Schema):
    """What a conversation is written as."""

    format: FormOf = Field(
        ExportFormat.MARKDOWN,
        description="Markdown, a page to print, JSON, CSL-JSON or BibTeX of the sources that are cited.",
    )


class NotesIn(Schema):
    """Which notes, and which page of them."""

    collection: Annotated[Text, StringConstraints(max_length=120)] = Field(
        "", description="By slug or name; empty: of all your collections."
    )
    words: Annotated[Text, StringConstraints(max_length=200)] = Field(
        "", description="Words of title or text."
    )
    offset: int = Field(0, ge=0, le=BIGGEST_ID)
    limit: int = Field(25, ge=1, le=100)


class NoteText(Schema):
    """What a note says."""

    model_config = ConfigDict(extra="forbid")

    title: Title = Field("", description="Empty: the first line, or the question.")
    text: Annotated[Text, StringConstraints(max_length=MAX_TEXT)] = Field(
        "", description="Markdown."
    )

    @model_validator(mode="after")
    def something(self) -> Self:
        """Refuse nothing at all."""
        if not (self.title.strip() or self.text.strip() or getattr(self, "answer", None)):
            raise ValueError("a note has a title or a text")
        return self


class NoteIn(NoteText):
    """A note, in one's own words or as an answer with its citations."""

    collection: Shelf = ""
    answer: UUID | None = Field(None, description="Keep this answer of yours, instead of a text.")

    @model_validator(mode="after")
    def one_of_two(self) -> Self:
        """Refuse both."""
        if self.answer and self.text.strip():
            raise ValueError("give either a text or an answer")
        return self


__all__ = [
    "AnswerId",
    "AskIn",
    "ConversationId",
    "ConversationsIn",
    "ExportIn",
    "FeedbackIn",
    "NoteId",
    "NoteIn",
    "NoteText",
    "NotesIn",
    "QuotationId",
    "StreamIn",
    "TitleIn",
]
