"""The tools: each makes one call and renders. Language models read their docstrings."""

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Final, TypeVar

from django.templatetags.static import static
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp_types import CallToolResult, Icon, ToolAnnotations

from citations.library import sources
from citations.library.filters import Filter
from citations.notebook import answers, conversations, questions
from citations.quotes import verification
from citations.schemas.answers import ReplyOut
from citations.schemas.filters import MAX_LIMIT
from citations.search import pipeline
from kbsite.callers import SignedInCaller
from kbsite.mcp import (
    connector,
    jobs,
    overviews,
    progress,
    render_answer,
    render_search,
    tool_inputs,
)
from kbsite.mcp import render_transcript as render
from kbsite.mcp.answer_text import CURSOR, MORE, answer, material
from kbsite.mcp.calls import caller, in_thread
from kbsite.middleware import replica_reads
from transcripts.conf import absolute
from transcripts.core.access import AccessLevel, needs
from transcripts.library import activity
from transcripts.library import reading as library
from transcripts.models import Job
from transcripts.text.reading import ReadingMode

T = TypeVar("T")
_READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_ASKS: Final = ToolAnnotations(  # the question is kept in the history
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
_ADDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


@needs(AccessLevel.READ)
async def fetch_transcript(by: SignedInCaller, arguments: tool_inputs.FetchTranscript) -> str:
    """Get the transcript of a YouTube video: at once if the library has it, else it is fetched.

    Fetching may take a while: after about 20 seconds you get the id of the job, for get_job. Of a
    long transcript you get a preview.
    """
    where = {
        "videoId": arguments.video_id,
        "language": arguments.language,
        "collection": arguments.collection,
    }
    reading = tool_inputs.GetTranscript.model_validate({**where, "maxTokens": arguments.max_tokens})
    result = await in_thread(
        jobs.find_or_request,
        by,
        arguments.video_id,
        language=arguments.language,
        collection=arguments.collection,
    )
    if isinstance(result, Job):
        job = await jobs.wait_for(by, result)
        if job.state != Job.State.DONE or job.video is None:
            return jobs.render_job(job, arguments)
    return await in_thread(_read, by, reading, more=render.MORE_OF_FETCHED)


@needs(AccessLevel.READ)
def get_transcript(by: SignedInCaller, arguments: tool_inputs.GetTranscript) -> str:
    """Read a transcript of the library with times: a time range, a time chunk, or all of it.

    Without them you get a short transcript whole, or a preview with chapters or outline. Times are
    seconds. startTime/endTime take precedence over chunkIndex, and that over
    includeFullTranscript.
    """
    return _read(by, arguments)


@needs(AccessLevel.READ)
def get_outline(by: SignedInCaller, arguments: tool_inputs.GetOutline) -> str:
    """Get the chapters of a source and a summary of each part, with times or pages.

    Use it for an overview, or to choose what to read of a long source.
    """
    return material(
        overviews.outline(by.scope, arguments.source_id, room=arguments.budget - CURSOR)
    )


@needs(AccessLevel.READ)
def get_guide(by: SignedInCaller, arguments: tool_inputs.GetGuide) -> str:
    """Get what a source is about in three sentences, its terms, names, numbers and questions.

    All are its own sentences, with times or pages. Ask it one of the questions with
    ask_knowledge_base.
    """
    return material(overviews.guide(by.scope, arguments.source_id, room=arguments.budget - CURSOR))


@needs(AccessLevel.READ)
def search_transcript(by: SignedInCaller, arguments: tool_inputs.SearchTranscript) -> str:
    """Find where in one recording something is said: segments of about 30 seconds ranked by BM25.

    Each has a link to its second.
    """
    video = library.find_video(by.scope, arguments.video_id, collection=arguments.collection)
    result = library.search(
        video, arguments.query, language=arguments.language, limit=library.MAX_HITS
    )
    return render.render_hits(result, arguments)


@needs(AccessLevel.READ)
def search_knowledge_base(by: SignedInCaller, arguments: tool_inputs.SearchKnowledgeBase) -> str:
    """Find the passages of the whole library that answer a question, by words and by meaning.

    Each has a link to its second or page. Start here when you do not know where something is
    said. All filters that you give must match.
    """
    offset, _ = arguments.position
    results = pipeline.search(
        by.scope,
        arguments.query,
        mode=arguments.mode,
        limit=MAX_LIMIT,  # pages are slices of one list, whatever the size of a page
        filter=arguments.filter,
        explain=arguments.explain,
        for_readers=True,
        shown=slice(offset, offset + arguments.limit),
    )
    return render_search.render_search(results, arguments)


@needs(AccessLevel.READ)
def search(by: SignedInCaller, arguments: tool_inputs.ConnectorSearch) -> str:
    """Find passages: search_knowledge_base for clients that can only search and fetch."""
    results = pipeline.search(by.scope, arguments.query, limit=connector.RESULTS, for_readers=True)
    return connector.render_results(results, arguments)


@needs(AccessLevel.READ)
def fetch(by: SignedInCaller, arguments: tool_inputs.ConnectorFetch) -> str:
    """Read the text at a result of search, with times or pages; metadata.next is the next id."""
    return connector.fetch(by.scope, arguments)


@needs(AccessLevel.READ)
def ask_knowledge_base(by: SignedInCaller, arguments: tool_inputs.AskKnowledgeBase) -> str:
    """Answer a question from the library, with citations found word for word in their sources.

    Each citation has a link to its second or page. What the sources do not say is not answered;
    you get the nearest passages instead. For a follow-up question give conversationId.
    """
    scope, user = by.scope, by.user
    if arguments.conversation_id:
        conversation = conversations.find(scope, user, arguments.conversation_id)
        answer = questions.ask(scope, user, conversation, arguments.question)
    else:
        about = arguments.model_dump(include={"collection", "sources"})
        answer = questions.ask_first(scope, user, arguments.question, **about)
    for event in questions.respond(scope, user, answer):  # the answer is read from its row
        progress.step(render_answer.render_step(event))
    record = answers.read(scope, [answers.find_answer(scope, user, answer.uuid)])[0]
    return render_answer.render_reply(ReplyOut.model_validate(record), arguments)


@needs(AccessLevel.READ)
def get_citation(by: SignedInCaller, arguments: tool_inputs.GetCitation) -> str:
    """Look up a citation of an answer: the quote, the text around it, and where it is."""
    citation = answers.find_citation(by.scope, arguments.citation_id)
    return render_answer.render_citation(citation, arguments)


@needs(AccessLevel.READ)
def verify_quote(by: SignedInCaller, arguments: tool_inputs.VerifyQuote) -> str:
    """Check a quote before you cite it: is it in a source word for word, and where exactly?

    If it is not, the answer says what differs.
    """
    filter = Filter.of(arguments)
    check = verification.verify(by.scope, arguments.quote, source=arguments.source, filter=filter)
    return render_answer.render_quote_check(check, arguments)


@needs(AccessLevel.READ)
def list_sources(by: SignedInCaller, arguments: tool_inputs.ListSources) -> str:
    """List the sources that can be searched and cited, newest first.

    Each has its id and how far it is indexed.
    """
    page = sources.list_sources(
        by.scope,
        Filter.of(arguments),
        words=arguments.query,
        state="" if arguments.state == tool_inputs.ANY else arguments.state,
        offset=arguments.position[0],
        limit=arguments.max_results,
    )
    return render_search.render_sources(page, arguments)


@needs(AccessLevel.READ)
def list_transcripts(by: SignedInCaller, arguments: tool_inputs.ListTranscripts) -> str:
    """List the recordings of the library, newest first, with the ids that the other tools take.

    Narrow the list by words, collection, channel, tag or language.
    """
    filter = library.VideoFilter(
        words=arguments.query,
        collection=arguments.collection,
        channel=arguments.channel,
        tag=arguments.tag,
        language=arguments.language,
    )
    page = library.list_videos(
        by.scope, filter, offset=arguments.position[0], limit=arguments.max_results
    )
    return render.render_videos(page, arguments)


@needs(AccessLevel.WRITE)
def add_source(by: SignedInCaller, arguments: tool_inputs.AddSource) -> str:
    """Queue a YouTube video, playlist or channel to be added to the library.

    You get a job at once, for get_job.
    """
    collection = jobs.target_collection(by, arguments.collection)
    job = jobs.request(
        by,
        collection,
        arguments.url,
        language=arguments.language,
        tags=arguments.tags,
        newest=arguments.newest,
    )
    return jobs.render_job(job, arguments)


@needs(AccessLevel.READ)
def get_job(by: SignedInCaller, arguments: tool_inputs.GetJob) -> str:
    """Follow a job of fetch_transcript or add_source: its progress and its problems.

    It also says whether search_knowledge_base finds what the job added.
    """
    job = activity.find_job(by.scope, arguments.job_id)
    added = sources.of_videos(by.scope, [job.video_id]) if job.video_id else {}
    return jobs.render_job(job, arguments, sources=added.get(job.video_id or 0, ()))


def all_tools() -> list[Tool]:
    """Return the tools, always in this order."""
    return [
        _tool(run, title=title, icon=icon, annotations=annotations)
        for run, title, icon, annotations in (
            (fetch_transcript, "Fetch a YouTube transcript", "add", _ADDS),
            (get_transcript, "Read a transcript", "read", _READS),
            (get_outline, "Outline of a source", "list", _READS),
            (get_guide, "Guide to a source", "list", _READS),
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


def _read(by: SignedInCaller, arguments: tool_inputs.GetTranscript, *, more: str = MORE) -> str:
    video = library.find_video(by.scope, arguments.video_id, collection=arguments.collection)
    result = library.read(
        video,
        language=arguments.language,
        start=arguments.start_time,
        end=arguments.end_time,
        chunk_index=arguments.chunk_index,
        chunk_size=arguments.chunk_size,
        include_full=arguments.include_full_transcript,
    )
    contents = ""
    if result.reading.mode == ReadingMode.PREVIEW and not arguments.cursor:
        contents = overviews.contents(by.scope, video, room=arguments.budget // 4)
    return render.render_transcript(result, arguments, contents=contents, more=more)


def _tool(run: Callable[..., Any], *, title: str, icon: str, annotations: ToolAnnotations) -> Tool:
    @wraps(run)
    async def called(arguments: tool_inputs.Arguments, ctx: Context[Any, Any]) -> CallToolResult:
        is_waiting = inspect.iscoroutinefunction(run)  # in the event loop, for a job
        work = run if is_waiting else partial(in_thread, partial(_read_at, run) if reads else run)
        result = await progress.followed(work(caller(), arguments), ctx)
        if not reads:
            await in_thread(replica_reads.remember_write, caller().user.pk)
        return answer(result)

    reads = bool(annotations.read_only_hint)
    inputs = inspect.get_annotations(run)["arguments"]
    return Tool(
        fn=called,
        name=run.__name__,
        title=title,
        description=inspect.getdoc(run) or "",
        parameters=_lean(inputs.model_json_schema(by_alias=True)),
        fn_metadata=FuncMetadata(arg_model=inputs),
        is_async=True,
        context_kwarg="ctx",
        annotations=annotations,
        icons=[svg_icon(f"tool-{icon}")],
    )


def _read_at(run: Callable[..., T], by: SignedInCaller, arguments: tool_inputs.Arguments) -> T:
    return replica_reads.read(by.user.pk, partial(run, by, arguments))


def _lean(schema: Any) -> Any:
    """Remove what tells a model nothing: titles, models' docstrings, "or null", empty defaults."""
    if isinstance(schema, list):
        return [_lean(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    lean = {
        name: part if name == "properties" else _lean(part)
        for name, part in schema.items()
        if not (name == "title" or (name == "default" and part in (None, "", [])))
    }
    if "properties" in lean:
        lean["properties"] = {name: _lean(part) for name, part in lean["properties"].items()}
        lean.pop("description", None)
    alternatives = [part for part in lean.get("anyOf", []) if part != {"type": "null"}]
    return lean | alternatives[0] if len(alternatives) == 1 and lean.pop("anyOf") else lean
