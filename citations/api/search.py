"""The operations that search the library, index a source and mark hits."""

from typing import Any

from ninja import Query, Router, Status

from citations.api.search_in import LibrarySearchIn, MarkedIn, MarkIn, SourceId
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import find_source
from citations.models import Source
from citations.passages import Results
from citations.schemas.search import SearchOut, SourceOut
from citations.search import judgments
from citations.search import pipeline as search_pipeline
from citations.tasks import send
from transcripts.api.endpoints import Request
from transcripts.api.out import responses
from transcripts.schemas import Shape

router = Router()


class MarkOut(Shape):
    """A marked hit."""

    query: str
    chunk: int
    right: bool


@router.get(
    "search", response=responses({200: SearchOut}, 404, 409, 503), summary="Search the library"
)
def search(request: Request, wanted: Query[LibrarySearchIn]) -> Results:
    """Find the passages that answer a query best: by words, by meaning, or by both.

    To read around a passage, open its link or read its transcript.
    """
    return search_pipeline.search(
        request.access,
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
    response=responses({202: SourceOut}, 404),
    summary="Index a source again",
)
def index_source(request: Request, source_id: SourceId) -> Status[Source]:
    """Chunk, embed and index a source again. Searches find its old chunks until then.

    /api/content/sources/ shows the progress.
    """
    request.caller.require_write()
    source = find_source(request.access, str(source_id))
    request.access.require_write(source.collection_id)
    ingest_pipeline.start_anew(source)
    send(source)
    return Status(202, source)


@router.put("marks", response=responses({200: MarkOut}, 404), summary="Mark a hit")
def put_mark(request: Request, sent: MarkIn) -> dict[str, Any]:
    """Mark whether a hit answers the query. `kb eval` measures with your marks."""
    request.caller.require_write()
    judgments.mark(request.access, request.caller.user, sent.query, sent.chunk, right=sent.right)
    return {"query": judgments.normal(sent.query), "chunk": sent.chunk, "right": sent.right}


@router.delete("marks", response=responses({204: None}, 404), summary="Take a mark back")
def delete_mark(request: Request, sent: Query[MarkedIn]) -> Status[Any]:
    """Delete your mark of a hit; without one, nothing changes."""
    request.caller.require_write()
    judgments.mark(request.access, request.caller.user, sent.query, sent.chunk, right=None)
    return Status(204, None)
