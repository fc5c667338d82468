"""What is asked, checked, noted and begun: declared once, and read by every door.

REST takes these models as bodies and MCP as arguments of tools; the pages' forms have their bounds,
and a library in this process or on a server is given them as values.
"""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, Strict, StringConstraints

from citations.schemas.filters import MAX_VALUES, Reference
from transcripts.schemas import CollectionName, Filled, Id, SlugOrName, Text, Title
from transcripts.text.queries import MAX_QUESTION

MAX_ASKED: Final = 1_000  # sources of a conversation
MAX_QUOTE: Final = 100_000  # characters of a quote that is checked
MAX_NOTE: Final = 50_000  # characters

Named = Annotated[Filled, StringConstraints(max_length=500)]  # a source, by its id or a video's
CollectionNames = Annotated[
    tuple[SlugOrName, ...],
    Strict(False),  # JSON has lists
    Field(max_length=MAX_VALUES, description="Only in these collections: slugs or names."),
]


class QuestionIn(BaseModel):
    """A question: in a conversation, in a new one, or without one."""

    model_config = ConfigDict(frozen=True)

    question: Annotated[Filled, StringConstraints(max_length=MAX_QUESTION)] = Field(
        description="What you want to know; each of several questions is answered."
    )
    conversation_id: Id | None = Field(
        None, description="Ask in this conversation, about its sources; null: start a new one."
    )
    collection: SlugOrName = Field(
        "", description="Of a new conversation: slug or name; empty: all you may read."
    )
    sources: list[Named] = Field(
        [],
        max_length=MAX_ASKED,
        description="Ids of sources or videos to ask; empty: all, or those of the conversation.",
    )


class QuoteIn(BaseModel):
    """A quote, the source it is attributed to, and where else to look."""

    model_config = ConfigDict(frozen=True)

    quote: Annotated[Filled, StringConstraints(max_length=MAX_QUOTE)] = Field(
        description="The quote, word for word as you would cite it."
    )
    source: Reference = Field(
        "",
        alias="source_id",
        alias_priority=1,  # MCP has names of its own
        description="Id of the source or video that the quote is attributed to.",
    )
    collections: CollectionNames = Field((), alias="collection", alias_priority=1)


class WordsIn(BaseModel):
    """The words of a note."""

    title: Title = Field("", description="Empty: the first line, or the question.")
    text: Annotated[Text, StringConstraints(max_length=MAX_NOTE)] = Field(
        "", description="Markdown."
    )


class LectureIn(BaseModel):
    """A lecture to start."""

    title: Title = Field("", description="Empty: the video's title, or the date and time.")
    collection: CollectionName = ""
    sources: list[Named] = Field(
        [],
        max_length=MAX_VALUES,
        description="Ids of the sources to cite; empty: all of the collection, also later ones.",
    )
