"""Inputs of searches, marks and quote checks."""

from datetime import date
from typing import Annotated
from uuid import UUID

from ninja import Field, Path, Schema
from pydantic import ConfigDict, StringConstraints, WithJsonSchema

from citations.library.filters import MAX_VALUES, Filter
from citations.models import SourceKind
from citations.passages import SearchMode
from citations.search.pipeline import MAX_LIMIT
from transcripts.api.in_ import BIGGEST_ID, Text
from transcripts.timecodes import milliseconds
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

LATEST = 1_000_000  # seconds, more than eleven days

# Inline: another component of the API has an enumeration of this name.
ModeOf = Annotated[
    SearchMode, WithJsonSchema({"type": "string", "enum": [mode.value for mode in SearchMode]})
]
Question = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
Seconds = Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)]
SourceId = Annotated[UUID, Path(description="The source's id, from a search or list.")]
Collections = Annotated[
    list[Annotated[Text, StringConstraints(max_length=120)]],
    Field(max_length=MAX_VALUES, description="Only in these collections: slugs or names."),
]


class LibrarySearchIn(Schema):
    """A query and filters. A repeated filter matches any of its values; all filters must match."""

    q: Question = Field(
        description='Words, "a phrase", -without; in hybrid and vector mode also a plain question.'
    )
    mode: ModeOf = Field(
        SearchMode.HYBRID, description="By words and meaning, by words alone, or by meaning alone."
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    collection: Collections = []
    source: list[Annotated[Text, StringConstraints(max_length=500)]] = Field(
        [], max_length=MAX_VALUES, description="Ids of sources or of videos."
    )
    kind: list[SourceKind] = Field([], max_length=MAX_VALUES)
    channel: list[Annotated[Text, StringConstraints(max_length=200)]] = Field(
        [], max_length=MAX_VALUES, description="Channels or authors."
    )
    tag: list[Annotated[Text, StringConstraints(max_length=100)]] = Field([], max_length=MAX_VALUES)
    language: list[Annotated[Text, StringConstraints(max_length=35)]] = Field(
        [], max_length=MAX_VALUES, description="Language codes; en includes en-GB."
    )
    since: date | None = Field(None, description="Published on this day or later.")
    until: date | None = Field(None, description="Published on this day or earlier.")
    start: Seconds | None = Field(None, description="Of recordings, only from this second on.")
    end: Seconds | None = Field(None, description="Of recordings, only up to this second.")
    explain: bool = Field(False, description="Explain each score.")
    rerank: bool = Field(
        True, description="Let the cross-encoder order the best candidates, if there is one."
    )

    @property
    def filter(self) -> Filter:
        return Filter(
            collections=tuple(self.collection),
            sources=tuple(self.source),
            kinds=tuple(self.kind),
            channels=tuple(self.channel),
            tags=tuple(self.tag),
            languages=tuple(self.language),
            since=self.since,
            until=self.until,
            start=milliseconds(self.start),
            end=milliseconds(self.end),
        )


class MarkedIn(Schema):
    """A hit of a query."""

    model_config = ConfigDict(extra="forbid")

    query: Question
    chunk: int = Field(ge=1, le=BIGGEST_ID, description="The passage's chunk, from the search.")


class MarkIn(MarkedIn):
    """A mark of a hit."""

    right: bool = Field(description="Whether it answers the query.")
