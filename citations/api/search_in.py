"""What is sent to the operations, checked for its form."""

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
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

LATEST = 1_000_000  # seconds; no recording is eleven days long

# Described where it stands: another part of the API has an enumeration of this name.
ModeOf = Annotated[
    SearchMode, WithJsonSchema({"type": "string", "enum": [mode.value for mode in SearchMode]})
]
Question = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
Seconds = Annotated[float, Field(ge=0, le=LATEST, allow_inf_nan=False)]
SourceId = Annotated[UUID, Path(description="The source's id, as searches and lists give it.")]


class LibrarySearchIn(Schema):
    """What to look for, and where. Whatever can be given several times is met by any of its values; all that is given must be met."""

    q: Question = Field(
        description='Words, "a phrase", -without. In hybrid and vector mode a question in plain language does as well.'
    )
    mode: ModeOf = Field(
        SearchMode.HYBRID, description="By words and meaning, by words alone, or by meaning alone."
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    collection: list[Annotated[Text, StringConstraints(max_length=120)]] = Field(
        [], max_length=MAX_VALUES, description="Slugs or names."
    )
    source: list[Annotated[Text, StringConstraints(max_length=500)]] = Field(
        [], max_length=MAX_VALUES, description="Ids of sources or of videos."
    )
    kind: list[SourceKind] = Field([], max_length=MAX_VALUES)
    channel: list[Annotated[Text, StringConstraints(max_length=200)]] = Field(
        [], max_length=MAX_VALUES, description="Channels or authors."
    )
    tag: list[Annotated[Text, StringConstraints(max_length=100)]] = Field([], max_length=MAX_VALUES)
    language: list[Annotated[Text, StringConstraints(max_length=35)]] = Field(
        [], max_length=MAX_VALUES, description="Codes; en is en-GB as well."
    )
    since: date | None = Field(None, description="Published on this day or later.")
    until: date | None = Field(None, description="Published on this day or earlier.")
    start: Seconds | None = Field(
        None, description="Of recordings, only what is said from this second on."
    )
    end: Seconds | None = Field(
        None, description="Of recordings, only what is said up to this second."
    )
    explain: bool = Field(False, description="Say how each score came about.")
    rerank: bool = Field(
        True, description="Let the cross-encoder order the best candidates, where there is one."
    )

    @property
    def filter(self) -> Filter:
        """Which part of the library is meant."""
        return Filter(
            collections=tuple(self.collection),
            sources=tuple(self.source),
            kinds=tuple(self.kind),
            channels=tuple(self.channel),
            tags=tuple(self.tag),
            languages=tuple(self.language),
            since=self.since,
            until=self.until,
            start=_milliseconds(self.start),
            end=_milliseconds(self.end),
        )


class MarkedIn(Schema):
    """Which hit of which question."""

    model_config = ConfigDict(extra="forbid")

    query: Question
    chunk: int = Field(
        ge=1, le=BIGGEST_ID, description="The passage's chunk, as the search gave it."
    )


class MarkIn(MarkedIn):
    """What somebody says of a hit."""

    right: bool = Field(description="Whether it answers the question.")


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)
