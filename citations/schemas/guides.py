"""The guide to a source as every door shows it."""

from uuid import UUID

from pydantic import Field

from citations.schemas.search import Link, LocatedOut
from transcripts.schemas import Shape


class GuideItemOut(LocatedOut):
    """A piece of the source, verbatim."""

    label: str = Field(description="The term, the name or the question; empty: a sentence alone.")
    text: str = Field(description="Empty: a term without a definition, at its first place.")
    span: tuple[int, int] = Field(
        validation_alias="span", description="Characters [first, last) of the source's text."
    )
    link: Link = Field(description="Opens the source there.")


class GuideOut(Shape):
    """What a source is about, and what it answers, in its own sentences."""

    source_id: UUID
    is_ready: bool = Field(description="False: it is not made yet.")
    about: list[GuideItemOut] = []
    terms: list[GuideItemOut] = Field([], description="With the sentence that defines each.")
    names: list[GuideItemOut] = Field([], description="With a sentence that has each.")
    numbers: list[GuideItemOut] = []
    questions: list[GuideItemOut] = Field([], description="With the quote that answers each.")
