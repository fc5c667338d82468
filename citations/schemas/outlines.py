"""Outlines and guides of sources, and topics of collections, as every door shows them."""

from uuid import UUID

from pydantic import Field

from citations.schemas.search import Link, LocatedOut
from transcripts.schemas import CollectionSlug, Shape


class NodeOut(LocatedOut):
    """A part of an outline; its chunks are ``first`` to ``last``."""

    level: int = Field(description="1 paragraphs, 2 a section, 3 the document.")
    ordinal: int = Field(description="Among the parts of its level.")
    title: str
    text: str = Field(description="The summary: sentences of the source.")
    spans: list[tuple[int, int]] = Field(
        description="Characters [first, last) of the source's text, of each sentence."
    )
    abstract: str = Field(description="The summary by a language model; empty: there is none.")
    first: int
    last: int


class OutlineOut(Shape):
    """The outline of a source: the document, its sections, their paragraphs, in reading order."""

    source_id: UUID
    title: str
    nodes: list[NodeOut]


class TopicOut(Shape):
    """What sections of a collection have in common, and how many sections and sources they are."""

    id: UUID = Field(validation_alias="uuid")
    label: str
    terms: list[str]
    sections: int
    sources: int
    collection: CollectionSlug


class TopicsOut(Shape):
    """The topics of collections, of each the largest first."""

    topics: list[TopicOut]


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
