"""The operations that search the library, check quotes, index a source and mark hits."""

from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Path, Query, Router, Schema, Status
from pydantic import ConfigDict, StringConstraints

from citations.library.filters import Filter, find_source
from citations.models import Source
from citations.passages import Results
from citations.quotes import verification
from citations.quotes.verification import VerifiedQuote
from citations.schemas.answers import QuoteCheckOut
from citations.schemas.filters import Question, SearchIn
from citations.schemas.requests import QuoteIn
from citations.schemas.search import MarksOut, SearchOut, SourceOut
from citations.search import judgments
from citations.search import pipeline as search_pipeline
from citations.tasks import send
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BIGGEST_ID, BodyIn, PageIn, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import located
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.schemas import Shape, Text

SourceId = Annotated[UUID, Path(description="The source's id, from a search or list.")]


class LibrarySearchIn(SearchIn):
    """A query and filters. A repeated filter matches any of its values; all filters must match."""

    find: Annotated[Text, StringConstraints(max_length=MAX_QUERY_CHARACTERS)] = Field(
        "", description="Tell what becomes of one passage: its chunk, its link, or words of it."
    )
    rerank: bool = Field(
        True, description="Let the cross-encoder order the best candidates, if there is one."
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


class VerifyIn(QuoteIn, BodyIn):
    """A quote, the source it is attributed to, and where else to look."""


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
        query.query,
        filter=Filter.of(query),
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
    filter = Filter.of(body)
    return verification.verify(request.access, body.quote, source=body.source, filter=filter)
