"""Outlines of sources and topics of collections as every door shows them."""

from uuid import UUID

from pydantic import Field

from citations.schemas.search import LocatedOut
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
