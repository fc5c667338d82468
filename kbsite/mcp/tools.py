"""The tools: each makes one call and renders. Language models read their docstrings."""

import inspect
from collections.abc import Callable
from typing import Any, Final

from django.templatetags.static import static
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolResult, Icon, ToolAnnotations

from citations.library import sources
from citations.library.filters import Filter
from citations.notebook import answers, conversations, questions
from citations.passages import SearchMode
from citations.quotes import verification
from citations.schemas.answers import ReplyOut
from citations.search import pipeline
from kbsite.auth import Caller
from kbsite.mcp import (
    connector,
    outlines,
    render_answer,
    render_job,
    render_search,
    tool_inputs,
    transcript_request,
)
from kbsite.mcp import render_transcript as render
from kbsite.mcp.calls import caller, in_thread
from kbsite.mcp.material import CURSOR, MORE, answer, material
from transcripts import activity, library
from transcripts.conf import absolute
from transcripts.models import Job
from transcripts.reading import ReadingMode

Reporting = Context[Any, Any]

_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ASKS: Final = ToolAnnotations(  # the question is kept in the history
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


async def fetch_transcript(by: Caller, asked: tool_inputs.FetchTranscript, ctx: Reporting) -> str:
    """Get the transcript of a YouTube video: at once if the library has it, else it is fetched.

    Fetching may take a while: after about 20 seconds you get the id of the job, for get_job. Of a
    long transcript you get a preview.
    """
    where = {"videoId": asked.video_id, "language": asked.language, "collection": asked.collection}
    reading = tool_inputs.GetTranscript.model_validate({**where, "maxTokens": asked.max_tokens})
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
            return render_job.render_job(job, asked)
    return await in_thread(_read, by, reading, more=render.MORE_OF_FETCHED)


def get_transcript(by: Caller, asked: tool_inputs.GetTranscript) -> str:
    """Read a transcript of the library with times: a time range, a time chunk, or all of it.

    Without them you get a short transcript whole, or a preview with chapters or outline. Times are
    seconds. startTime/endTime take precedence over chunkIndex, and that over
    includeFullTranscript.
    """
    return _read(by, asked)


def get_outline(by: Caller, asked: tool_inputs.GetOutline) -> str:
    """Get the chapters of a source and a summary of each part, with times or pages.

    Use it for an overview, or to choose what to read of a long source.
    """
    return material(outlines.write(by.scope, asked.source_id, room=asked.budget - CURSOR))


def search_transcript(by: Caller, asked: tool_inputs.SearchTranscript) -> str:
    """Find where in one video something is said: segments of about 30 seconds ranked by BM25.

    Each has a link to its second.
    """
    video = library.find_video(by.scope, asked.video_id, collection=asked.collection)
    found = library.search(video, asked.query, language=asked.language, limit=library.MAX_HITS)
    return render.render_hits(found, asked)


def search_knowledge_base(by: Caller, asked: tool_inputs.SearchKnowledgeBase) -> str:
    """Find the passages of the whole library that answer a question, by words and by meaning.

    Each has a link to its second or page. Start here when you do not know where something is
    said. All filters that you give must match.
    """
    results = pipeline.search(
        by.scope,
        asked.query,
        mode=SearchMode(asked.mode),
        limit=pipeline.MAX_LIMIT,  # pages are slices of one list, whatever the size of a page
        filter=asked.filter,
        explain=asked.explain,
        for_readers=True,
    )
    return render_search.render_search(results, asked)


def search(by: Caller, asked: tool_inputs.ConnectorSearch) -> str:
    """Find passages: search_knowledge_base for clients that can only search and fetch."""
    results = pipeline.search(by.scope, asked.query, limit=connector.RESULTS, for_readers=True)
    return connector.render_results(results, asked)


def fetch(by: Caller, asked: tool_inputs.ConnectorFetch) -> str:
    """Read the text at a result of search, with times or pages; metadata.next is the next id."""
    return connector.fetch(by.scope, asked)


def ask_knowledge_base(by: Caller, asked: tool_inputs.AskKnowledgeBase) -> str:
    """Answer a question from the library, with citations found word for word in their sources.

    Each citation has a link to its second or page. What the sources do not say is not answered;
    you get the nearest passages instead. For a follow-up question give conversationId.
    """
    scope, user = by.scope, by.user
    if asked.conversation_id:
        conversation = conversations.find(scope, user, asked.conversation_id)
        answer = questions.ask(scope, user, conversation, asked.text)
    else:
        answer = questions.ask_first(
            scope, user, asked.text, collection=asked.collection, sources=asked.source_ids
        )
    for _ in questions.respond(scope, user, answer):
        pass  # the answer is read from its row, as every door does
    record = answers.read(scope, [answers.find_answer(scope, user, answer.uuid)])[0]
    return render_answer.render_reply(ReplyOut.model_validate(record), asked)


def get_citation(by: Caller, asked: tool_inputs.GetCitation) -> str:
    """Look up a citation of an answer: the quote, the text around it, and where it is."""
    citation = answers.find_citation(by.scope, asked.citation_id)
    return render_answer.render_citation(citation, asked)


def verify_quote(by: Caller, asked: tool_inputs.VerifyQuote) -> str:
    """Check a quote before you cite it: is it in a source word for word, and where exactly?

    If it is not, the answer says what differs.
    """
    filter = Filter(collections=(asked.collection,) if asked.collection else ())
    check = verification.verify(by.scope, asked.quote, source=asked.source_id, filter=filter)
    return render_answer.render_quote_check(check, asked)


def list_sources(by: Caller, asked: tool_inputs.ListSources) -> str:
    """List the sources that can be searched and cited, newest first.

    Each has its id and how far it is indexed.
    """
    page = sources.list_sources(
        by.scope,
        asked.filter,
        words=asked.query,
        state="" if asked.state == tool_inputs.ANY else asked.state,
        offset=asked.position[0],
        limit=asked.max_results,
    )
    return render_search.render_sources(page, asked)


def list_transcripts(by: Caller, asked: tool_inputs.ListTranscripts) -> str:
    """List the videos of the library, newest first, with the ids that the other tools take.

    Narrow the list by words, collection, channel, tag or language.
    """
    filter = library.VideoFilter(
        words=asked.query,
        collection=asked.collection,
        channel=asked.channel,
        tag=asked.tag,
        language=asked.language,
    )
    page = library.list_videos(by.scope, filter, offset=asked.position[0], limit=asked.max_results)
    return render.render_videos(page, asked)


def add_source(by: Caller, asked: tool_inputs.AddSource) -> str:
    """Queue a YouTube video, playlist or channel to be added to the library.

    You get a job at once, for get_job.
    """
    collection = transcript_request.target_collection(by, asked.collection)
    job = transcript_request.request(
        by, collection, asked.url, language=asked.language, tags=asked.tags, newest=asked.newest
    )
    return render_job.render_job(job, asked)


def get_job(by: Caller, asked: tool_inputs.GetJob) -> str:
    """Follow a job of fetch_transcript or add_source: its progress and its problems.

    It also says whether search_knowledge_base finds what the job added.
    """
    job = activity.find_job(by.scope, asked.job_id)
    added = sources.of_videos(by.scope, [job.video_id]) if job.video_id else {}
    return render_job.render_job(job, asked, sources=added.get(job.video_id or 0, ()))


def all_tools() -> list[Tool]:
    """Return the tools, always in this order."""
    return [
        _tool(run, title=title, icon=icon, annotations=annotations)
        for run, title, icon, annotations in (
            (fetch_transcript, "Fetch a YouTube transcript", "add", _ADDS),
            (get_transcript, "Read a transcript", "read", _READS),
            (get_outline, "Outline of a source", "list", _READS),
            (search_transcript, "Search within a transcript", "search", _READS),
            (search_knowledge_base, "Search the library", "search", _READS),
            (search, "Search", "search", _READS),
            (fetch, "Fetch", "read", _READS),
            (ask_knowledge_base, "Ask the library", "ask", _ASKS),
            (get_citation, "Look up a citation", "quote", _READS),
            (verify_quote, "Check a quote", "quote", _READS),
            (list_sources, "List sources to search and cite", "list", _READS),
            (list_transcripts, "List transcripts", "list", _READS),
            (add_source, "Add a video, playlist or channel", "add", _ADDS),
            (get_job, "Follow a job", "list", _READS),
        )
    ]


def svg_icon(name: str) -> Icon:
    """Return an icon of this site for clients that show one."""
    address = absolute(static(f"cuebase/{name}.svg"))
    return Icon(src=address, mime_type="image/svg+xml", sizes=["any"])


def _read(by: Caller, asked: tool_inputs.GetTranscript, *, more: str = MORE) -> str:
    video = library.find_video(by.scope, asked.video_id, collection=asked.collection)
    found = library.read(
        video,
        language=asked.language,
        start=asked.start_time,
        end=asked.end_time,
        chunk_index=asked.chunk_index,
        chunk_size=asked.chunk_size,
        include_full=asked.include_full_transcript,
    )
    contents = ""
    if found.reading.mode == ReadingMode.PREVIEW and not asked.cursor:
        contents = outlines.contents(by.scope, video, room=asked.budget // 4)
    return render.render_transcript(found, asked, contents=contents, more=more)


def _tool(run: Callable[..., Any], *, title: str, icon: str, annotations: ToolAnnotations) -> Tool:
    async def called(asked: tool_inputs.Arguments, ctx: Reporting) -> CallToolResult:
        by = caller()
        if inspect.iscoroutinefunction(run):
            return answer(await run(by, asked, ctx))
        return answer(await in_thread(run, by, asked))

    arguments = inspect.get_annotations(run)["asked"]
    return Tool(
        fn=called,
        name=run.__name__,
        title=title,
        description=inspect.getdoc(run) or "",
        parameters=_lean(arguments.model_json_schema(by_alias=True)),
        fn_metadata=FuncMetadata(arg_model=arguments),
        is_async=True,
        context_kwarg="ctx",
        annotations=annotations,
        icons=[svg_icon(f"tool-{icon}")],
    )


def _lean(schema: Any) -> Any:
    """Remove what tells a model nothing: titles, models' docstrings, "or null", empty defaults."""
    if isinstance(schema, list):
        return [_lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: part if name == "properties" else _lean(part)
        for name, part in schema.items()
        if not (name == "title" or (name == "default" and part in (None, "", [])))
    }
    if "properties" in kept:
        kept["properties"] = {name: _lean(part) for name, part in kept["properties"].items()}
        kept.pop("description", None)
    given = [part for part in kept.get("anyOf", []) if part != {"type": "null"}]
    return kept | given[0] if len(given) == 1 and kept.pop("anyOf") else kept
