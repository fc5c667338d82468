"""Inputs and outputs of the operations on questions and conversations."""

from typing import Annotated, Literal, Self
from uuid import UUID

from ninja import Field, Path, Schema
from pydantic import StringConstraints, WithJsonSchema, model_validator

from citations.notebook.export import ExportFormat
from citations.schemas.requests import QuestionIn
from transcripts.api.shapes import BodyIn, PageIn, Whole, Words
from transcripts.schemas import Filled, Shape, SlugOrName

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
    def check_keeping(self) -> Self:
        if self.conversation_id and not self.keep:
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
