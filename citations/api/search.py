"""The operations: each parses, makes one call, renders."""

from typing import Any

from ninja import Query, Router, Status

from citations.api.search_in import LibrarySearchIn, MarkedIn, MarkIn, SourceId
from citations.api.search_out import MarkOut, SearchOut, SourceOut
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import find_source
from citations.models import Source
from citations.passages import Results
from citations.search import judgments
from citations.search import pipeline as search_pipeline
from citations.tasks import send
from transcripts.api.endpoints import Request
from transcripts.api.out import answers

router = Router()


@router.get(
    "search", response=answers({200: SearchOut}, 404, 409, 503), summary="Search the library"
)
def search(request: Request, wanted: Query[LibrarySearchIn]) -> Results:
    """Find the passages of all sources that answer best: by words, by meaning, or by both. Reading them whole is another operation, or the link."""
    return search_pipeline.search(
        request.reach,
        wanted.q,
        mode=wanted.mode,
        limit=wanted.limit,
        filter=wanted.filter,
        explain=wanted.explain,
        rerank=wanted.rerank,
        user=request.caller.user,
    )


@router.post(
    "sources/{source_id}/index",
    response=answers({202: SourceOut}, 404),
    summary="Index a source again",
)
def index_source(request: Request, source_id: SourceId) -> Status[Source]:
    """Cut, embed and index a source anew. What is indexed of it is found until it is replaced; /api/content/sources/ says how far it is."""
    request.caller.require_write()
    source = find_source(request.reach, str(source_id))
    request.reach.require_write(source.collection_id)
    ingest_pipeline.start_anew(source)
    send(source)
    return Status(202, source)


@router.put("marks", response=answers({200: MarkOut}, 404), summary="Mark a hit")
def put_mark(request: Request, sent: MarkIn) -> dict[str, Any]:
    """Say whether a hit answers the question: your own marks are what `kb eval` measures with, and searches give them back."""
    request.caller.require_write()
    judgments.mark(request.reach, request.caller.user, sent.query, sent.chunk, right=sent.right)
    return {"query": judgments.normal(sent.query), "chunk": sent.chunk, "right": sent.right}


@router.delete("marks", response=answers({204: None}, 404), summary="Take a mark back")
def delete_mark(request: Request, sent: Query[MarkedIn]) -> Status[Any]:
    """Forget what you marked a hit as; where it is not marked, nothing changes."""
    request.caller.require_write()
    judgments.mark(request.reach, request.caller.user, sent.query, sent.chunk, right=None)
    return Status(204, None)
