"""The operations that search the library, check quotes, index a source and mark hits."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Path, Query, Router, Schema, Status
from pydantic import ConfigDict, StringConstraints, WithJsonSchema

from citations.formats import KindName
from citations.library.filters import MAX_VALUES, Filter, find_source
from citations.models import Source
from citations.passages import Results, SearchMode
from citations.quotes import verification
from citations.quotes.verification import MAX_QUOTE, VerifiedQuote
from citations.schemas.answers import QuoteCheckOut
from citations.schemas.search import MarksOut, SearchOut, SourceOut
from citations.search import judgments
from citations.search import pipeline as search_pipeline
from citations.search.pipeline import MAX_LIMIT
from citations.tasks import send
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BIGGEST_ID, BodyIn, Filled, PageIn, SlugOrName, Text, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import located
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.schemas import Shape
from transcripts.text.timecodes import milliseconds

MAX_SECONDS = 1_000_000  # seconds, more than eleven days

# Inline: another component of the API has an enumeration of this name.
ModeOf = Annotated[
    SearchMode, WithJsonSchema({"type": "string", "enum": [mode.value for mode in SearchMode]})
]
Question = Annotated[Text, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)]
SourceId = Annotated[UUID, Path(description="The source's id, from a search or list.")]
Collections = Annotated[
    list[SlugOrName],
    Field(max_length=MAX_VALUES, description="Only in these collections: slugs or names."),
]


class LibrarySearchIn(Schema):
    """A query and filters. A repeated filter matches any of its values; all filters must match."""

    q: Question = Field(
        description='Words, "a phrase", -without; by meaning, or both, also a plain question.'
    )
    mode: ModeOf = Field(
        SearchMode.BOTH, description="By words and meaning, by words alone, or by meaning alone."
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT)
    collection: Collections = []
    source_id: list[Annotated[Text, StringConstraints(max_length=500)]] = Field(
        [], max_length=MAX_VALUES, description="Ids of sources or of videos."
    )
    kind: list[KindName] = Field([], max_length=MAX_VALUES)
    channel: list[Annotated[Text, StringConstraints(max_length=200)]] = Field(
        [], max_length=MAX_VALUES, description="Channels or authors."
    )
    tag: list[Annotated[Text, StringConstraints(max_length=100)]] = Field([], max_length=MAX_VALUES)
    language: list[Annotated[Text, StringConstraints(max_length=35)]] = Field(
        [], max_length=MAX_VALUES, description="Language codes or names; en includes en-GB."
    )
    since: date | None = Field(None, description="Published on this day or later.")
    until: date | None = Field(None, description="Published on this day or earlier.")
    start: Seconds | None = Field(None, description="Of recordings, only from this second on.")
    end: Seconds | None = Field(None, description="Of recordings, only up to this second.")
    explain: bool = Field(False, description="Explain each score, and why hits are not listed.")
    find: Annotated[Text, StringConstraints(max_length=MAX_QUERY_CHARACTERS)] = Field(
        "", description="Tell what becomes of one passage: its chunk, its link, or words of it."
    )
    rerank: bool = Field(
        True, description="Let the cross-encoder order the best candidates, if there is one."
    )

    @property
    def filter(self) -> Filter:
        return Filter(
            collections=tuple(self.collection),
            sources=tuple(self.source_id),
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


class MarkIn(MarkedIn, BodyIn):
    """A mark of a hit."""

    right: bool = Field(description="Whether it answers the query.")


class MarkOut(Shape):
    """A marked hit."""

    query: str
    chunk: int
    right: bool


class MarksIn(PageIn):
    """Filters and a page of marks."""

    query: Annotated[Text, StringConstraints(max_length=MAX_QUERY_CHARACTERS)] = Field(
        "", description="Only of this query."
    )
    right: bool | None = Field(None, description="Only those that answer their query, or not.")


class VerifyIn(BodyIn):
    """A quote, the source it is attributed to, and where else to look."""

    quote: Annotated[Filled, StringConstraints(max_length=MAX_QUOTE)]
    source_id: Annotated[Text, StringConstraints(max_length=500)] = Field(
        "", description="Id of the source or video that the quote is attributed to."
    )
    collection: Collections = []


router = Router(tags=["search"])


@router.get(
    "search", response=responses({200: SearchOut}, 404, 409, 503), summary="Search the library"
)
@needs(AccessLevel.READ)
def search(request: Request, query: Query[LibrarySearchIn]) -> Results:
    """Find the passages that answer a query best: by words, by meaning, or by both.

    To read around a passage, open its link or read its transcript.
    """
    options = query.model_dump(include={"mode", "limit", "explain", "find", "rerank"})
    return search_pipeline.search(
        request.access,
        query.q,
        filter=query.filter,
        user=request.caller.user,
        for_readers=True,
        **options,
    )


@router.post(
    "sources/{source_id}/index",
    response=responses({202: SourceOut}, 404),
    openapi_extra=located(202),
    tags=["sources"],
    summary="Index a source again",
)
@needs(AccessLevel.WRITE)
def index_source(request: Request, source_id: SourceId) -> Status[Source]:
    """Chunk, embed and index a source again. Searches find its old chunks until then.

    /api/content/sources/ shows the progress.
    """
    source = find_source(request.access, str(source_id), write=True)
    source.start_anew()
    send(source)
    request.answer["Location"] = f"/api/content/sources/{source.uuid}/"
    return Status(202, source)


@router.get("marks", response=responses({200: MarksOut}), summary="List marks")
@needs(AccessLevel.READ)
def list_marks(request: Request, query: Query[MarksIn]) -> judgments.MarkPage:
    """List your marks of passages that you may read, latest first."""
    return judgments.list_marks(request.access, request.caller.user, **query.model_dump())


@router.put("marks", response=responses({200: MarkOut}, 404), summary="Mark a hit")
@needs(AccessLevel.WRITE)
def put_mark(request: Request, body: MarkIn) -> dict[str, Any]:
    """Mark whether a hit answers the query. `kb eval` measures with your marks."""
    judgments.mark(request.access, request.caller.user, body.query, body.chunk, right=body.right)
    return {"query": judgments.normal(body.query), "chunk": body.chunk, "right": body.right}


@router.delete("marks", response=responses({204: None}, 404), summary="Take a mark back")
@needs(AccessLevel.WRITE)
def delete_mark(request: Request, query: Query[MarkedIn]) -> Status[Any]:
    """Delete your mark of a hit; without one, nothing changes."""
    judgments.mark(request.access, request.caller.user, query.query, query.chunk, right=None)
    return Status(204, None)


@router.post("verify", response=responses({200: QuoteCheckOut}, 404), summary="Check a quote")
@needs(AccessLevel.READ)
def verify_quote(request: Request, body: VerifyIn) -> VerifiedQuote:
    """Say whether a quote is in a source word for word, and at which second or page."""
    filter = Filter(collections=tuple(body.collection))
    return verification.verify(request.access, body.quote, source=body.source_id, filter=filter)
