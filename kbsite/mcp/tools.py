"""The tools: each parses, makes one call, renders. What a model reads about a tool is its function's docstring."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BaseModel

from citations.library import sources
from citations.passages import Results, SearchMode
from citations.quotes import verification as quote_verification
from citations.search import pipeline as search_pipeline
from kbsite.auth import Caller
from kbsite.mcp import render_answer, transcript_request
from kbsite.mcp.auth import caller
from kbsite.mcp.render_answer import AskKnowledgeBase, CitationAnswer, GetCitation, ReplyAnswer
from kbsite.mcp.render_quote import verified_answer
from kbsite.mcp.render_search import knowledge_answer, sources_answer
from kbsite.mcp.render_transcript import (
    answer,
    fetched_answer,
    job_answer,
    list_answer,
    search_answer,
    transcript_answer,
    waiting_answer,
)
from kbsite.mcp.threads import in_thread
from kbsite.mcp.tool_inputs import (
    AddSource,
    Arguments,
    FetchTranscript,
    GetJob,
    GetTranscript,
    ListSources,
    ListTranscripts,
    SearchKnowledgeBase,
    SearchTranscript,
    VerifyQuote,
)
from kbsite.mcp.tool_outputs import (
    FetchAnswer,
    JobAnswer,
    KnowledgeAnswer,
    ListAnswer,
    SearchAnswer,
    SourcesAnswer,
    TranscriptAnswer,
    VerifiedAnswer,
)
from transcripts import activity, library
from transcripts.models import Job

_READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ASKS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)  # the question is kept in the history
_ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


def all_tools() -> list[Tool]:
    """Return the tools, always in this order."""
    return [
        _tool(
            fetch_transcript,
            FetchTranscript,
            FetchAnswer,
            title="Fetch a YouTube transcript",
            annotations=_ADDS,
        ),
        _tool(
            get_transcript,
            GetTranscript,
            TranscriptAnswer,
            title="Read a transcript",
            annotations=_READS,
        ),
        _tool(
            search_transcript,
            SearchTranscript,
            SearchAnswer,
            title="Search within a transcript",
            annotations=_READS,
        ),
        _tool(
            search_knowledge_base,
            SearchKnowledgeBase,
            KnowledgeAnswer,
            title="Search the library",
            annotations=_READS,
        ),
        _tool(
            ask_knowledge_base,
            AskKnowledgeBase,
            ReplyAnswer,
            title="Ask the library",
            annotations=_ASKS,
        ),
        _tool(
            get_citation,
            GetCitation,
            CitationAnswer,
            title="Look a citation up",
            annotations=_READS,
        ),
        _tool(verify_quote, VerifyQuote, VerifiedAnswer, title="Check a quote", annotations=_READS),
        _tool(
            list_sources,
            ListSources,
            SourcesAnswer,
            title="List what can be searched and cited",
            annotations=_READS,
        ),
        _tool(
            list_transcripts,
            ListTranscripts,
            ListAnswer,
            title="List transcripts",
            annotations=_READS,
        ),
        _tool(
            add_source,
            AddSource,
            JobAnswer,
            title="Add a video, playlist or channel",
            annotations=_ADDS,
        ),
        _tool(get_job, GetJob, JobAnswer, title="See how far a job is", annotations=_READS),
    ]


async def fetch_transcript(asked: FetchTranscript, ctx: Context[Any, Any]) -> CallToolResult:
    """Get the transcript of a YouTube video: at once if the library has it, otherwise it is fetched, which may take a while.

    After about 20 seconds the answer is the id of the job that goes on; ask get_job about it. A long transcript is answered with a preview.
    """
    by = caller()
    where = {"videoId": asked.video_id, "language": asked.language, "collection": asked.collection}
    wanted = GetTranscript.model_validate({**where, "maxTokens": asked.max_tokens})
    found = await in_thread(
        transcript_request.find_or_request,
        by,
        asked.video_id,
        language=asked.language,
        collection=asked.collection,
    )
    if isinstance(found, Job):
        job = await transcript_request.wait_for(by, found, report=ctx.report_progress)
        if job.state != Job.State.DONE or job.video is None:
            return answer(*waiting_answer(job, asked))
    return answer(*await in_thread(lambda: fetched_answer(_read(by, wanted), wanted)))


async def get_transcript(asked: GetTranscript, ctx: Context[Any, Any]) -> CallToolResult:
    """Read a transcript of the library: a time range, a time chunk, all of it when short or asked for, otherwise a preview that says how to go on.

    Times are seconds. Where several are given, startTime/endTime goes before chunkIndex, and that before includeFullTranscript.
    """
    by = caller()
    return answer(*await in_thread(lambda: transcript_answer(_read(by, asked), asked)))


async def search_transcript(asked: SearchTranscript, ctx: Context[Any, Any]) -> CallToolResult:
    """Find where in one video something is said: segments of about 30 seconds ranked by their words (BM25), each with a link to its second."""
    by = caller()
    return answer(*await in_thread(lambda: search_answer(_search(by, asked), asked)))


async def search_knowledge_base(
    asked: SearchKnowledgeBase, ctx: Context[Any, Any]
) -> CallToolResult:
    """Find the passages of the whole library that answer a question, by words and by meaning, each with a link to the second or page it is from.

    Begin here when it is not known where something is said. Filters narrow it; all that are given must be met.
    """
    by = caller()
    return answer(*await in_thread(lambda: knowledge_answer(_find(by, asked), asked)))


async def ask_knowledge_base(asked: AskKnowledgeBase, ctx: Context[Any, Any]) -> CallToolResult:
    """Answer a question out of the library: every citation of the answer was found word for word in its source, with the link to its second or page.

    What the sources do not say is not answered; the passages that come nearest are given instead. Ask what follows on with conversationId.
    """
    by = caller()
    return await in_thread(render_answer.ask, by, asked)


async def get_citation(asked: GetCitation, ctx: Context[Any, Any]) -> CallToolResult:
    """Look a citation of an answer up: the quote, what stands before and behind it, and where."""
    by = caller()
    return await in_thread(render_answer.citation, by, asked)


async def verify_quote(asked: VerifyQuote, ctx: Context[Any, Any]) -> CallToolResult:
    """Check a quote before it is cited: does it stand in a source word for word, and where exactly? Says what differs if it does not."""
    by = caller()
    return answer(*await in_thread(lambda: verified_answer(_verify(by, asked), asked)))


async def list_sources(asked: ListSources, ctx: Context[Any, Any]) -> CallToolResult:
    """List the sources that can be searched and cited, newest first, with their ids and how far each is indexed."""
    by = caller()
    return answer(*await in_thread(lambda: sources_answer(_sources(by, asked), asked)))


async def list_transcripts(asked: ListTranscripts, ctx: Context[Any, Any]) -> CallToolResult:
    """List the videos of the library, newest first, with the ids that the other tools take; narrow it by words, collection, channel, tag or language."""
    by = caller()
    return answer(*await in_thread(lambda: list_answer(_list(by, asked), asked)))


async def add_source(asked: AddSource, ctx: Context[Any, Any]) -> CallToolResult:
    """Queue a YouTube video, playlist or channel to be added to the library; answers at once with a job for get_job."""
    by = caller()
    return answer(*await in_thread(lambda: job_answer(_add(by, asked), asked)))


async def get_job(asked: GetJob, ctx: Context[Any, Any]) -> CallToolResult:
    """Say how far a job of fetch_transcript or add_source is, whether search_knowledge_base finds what it brought yet, and what went wrong."""
    by = caller()
    return answer(*await in_thread(_job_answer, by, asked))


def _read(by: Caller, asked: GetTranscript) -> library.VideoReading:
    return library.read(
        library.find_video(by.scope, asked.video_id, collection=asked.collection),
        language=asked.language,
        start=asked.start_time,
        end=asked.end_time,
        chunk_index=asked.chunk_index,
        chunk_size=asked.chunk_size,
        include_full=asked.include_full_transcript,
    )


def _search(by: Caller, asked: SearchTranscript) -> library.VideoSearch:
    video = library.find_video(by.scope, asked.video_id, collection=asked.collection)
    return library.search(video, asked.query, language=asked.language, limit=library.MAX_HITS)


def _find(by: Caller, asked: SearchKnowledgeBase) -> Results:
    # All pages are cut from one and the same list, whatever the length of a page.
    return search_pipeline.search(
        by.scope,
        asked.query,
        mode=SearchMode(asked.mode),
        limit=search_pipeline.MAX_LIMIT,
        filter=asked.filter,
        explain=asked.explain,
    )


def _verify(by: Caller, asked: VerifyQuote) -> quote_verification.VerifiedQuote:
    return quote_verification.verify(
        by.scope, asked.quote, source=asked.source_id, filter=asked.filter
    )


def _sources(by: Caller, asked: ListSources) -> sources.SourcePage:
    offset, _ = asked.place
    return sources.list_sources(
        by.scope,
        asked.filter,
        words=asked.query,
        state=asked.state or "",
        offset=offset,
        limit=asked.max_results,
    )


def _job_answer(by: Caller, asked: GetJob) -> tuple[str, JobAnswer]:
    job = activity.find_job(by.scope, asked.job_id)
    brought = sources.of_videos(by.scope, [job.video_id]) if job.video_id else {}
    return job_answer(job, asked, sources=brought.get(job.video_id or 0, ()))


def _list(by: Caller, asked: ListTranscripts) -> library.VideoPage:
    filter = library.VideoFilter(
        words=asked.query,
        collection=asked.collection,
        channel=asked.channel,
        tag=asked.tag,
        language=asked.language,
    )
    return library.list_videos(by.scope, filter, offset=asked.place[0], limit=asked.max_results)


def _add(by: Caller, asked: AddSource) -> Job:
    shelf = transcript_request.shelf(by, asked.collection)
    return transcript_request.request(
        by, shelf, asked.url, language=asked.language, tags=asked.tags, newest=asked.newest
    )


def _tool(
    run: Callable[..., Awaitable[CallToolResult]],
    asks: type[Arguments],
    answers: type[BaseModel],
    *,
    title: str,
    annotations: ToolAnnotations,
) -> Tool:
    return Tool(
        fn=run,
        name=run.__name__,
        title=title,
        description=inspect.getdoc(run) or "",
        parameters=_lean(asks.model_json_schema(by_alias=True)),
        fn_metadata=FuncMetadata(
            arg_model=asks,
            output_model=answers,
            output_schema=_lean(answers.model_json_schema(mode="serialization")),
        ),
        is_async=True,
        context_kwarg="ctx",
        annotations=annotations,
    )


def _lean(schema: Any) -> Any:
    """Leave out of a schema what costs a model tokens and tells it nothing: titles, docstrings of models, "or null", empty defaults."""
    if isinstance(schema, list):
        return [_lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: part if name == "properties" else _lean(part)
        for name, part in schema.items()
        if not _is_idle(name, part)
    }
    if "properties" in kept:
        kept["properties"] = {name: _lean(part) for name, part in kept["properties"].items()}
        kept.pop("description", None)
    given = [part for part in kept.get("anyOf", []) if part != {"type": "null"}]
    return kept | given[0] if len(given) == 1 and kept.pop("anyOf") else kept


def _is_idle(name: str, part: Any) -> bool:
    return name == "title" or (name == "default" and part in (None, "", []))
