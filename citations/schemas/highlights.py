"""Highlights as every door shows them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import AliasPath, Field

from citations.schemas.search import Link, LocatedOut
from transcripts.schemas import Count, Shape

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
