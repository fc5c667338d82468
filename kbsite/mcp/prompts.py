"""Prompts, which tell a model what to use and how to cite, and completions of arguments."""
# ruff: noqa: N803  the arguments have the plugin's names

from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CompleteRequestParams, CompleteResult, Completion
from pydantic import Field

from citations.library import sources
from kbsite.callers import SignedInCaller
from kbsite.mcp.answer_text import material
from kbsite.mcp.calls import caller, in_thread
from kbsite.mcp.errors import explained
from kbsite.mcp.resources import read_outline
from transcripts.core.errors import KnowledgeBaseError, NotFound
from transcripts.library import reading as library
from transcripts.models import Transcript

MAX_VALUES = 100  # the protocol's limit
MAX_PREFIX = 200  # characters
VideoId = Annotated[
    str, Field(description="Id of the recording, or any YouTube address of it.", max_length=2048)
]
_CITING = (
    "Cite as [12:34](link): the time and the timestamp_link that the tool gave. Say so if the "
    "transcript does not answer."
)


def register(mcp: MCPServer[Any]) -> None:
    """Add the prompts, and the completions of their arguments and of those of resources."""

    @mcp.prompt(
        title="Summarise a source",
        description="A summary of a recording or document, from its outline, every claim checked.",
    )
    async def summarise_source(
        source: Annotated[
            str, Field(description="Id of the source, or of its video.", max_length=2048)
        ],
    ) -> str:
        try:
            text = await in_thread(read_outline, caller(), source)
        except KnowledgeBaseError as error:
            raise MCPError(code=INVALID_PARAMS, message=error.text) from error
        return (
            "Summarise this source in a few paragraphs, broad lines first, with the time or page "
            "of each point. Use only its outline; if that is not enough, call ask_knowledge_base "
            "with its id in sourceIds. Check every quote with verify_quote before you give it."
            f"\n\n{material(text)}"
        )

    @mcp.prompt(
        title="Summarise a recording", description="An outline of what is said, with times."
    )
    async def summarise_video(videoId: VideoId) -> str:
        name = await in_thread(_name, caller(), videoId)
        return (
            f"Summarise the video with {name}. Read it with get_transcript and videoId alone; if "
            "that gives only a preview, take get_outline, and read with startTime and endTime what "
            "it leaves open. Write three "
            "sentences on its subject, then an outline of its parts with the time each starts, "
            f"then the main claims. Use only what is said in it. {_CITING}"
        )

    @mcp.prompt(
        title="Find and cite",
        description="Answer a question from the library, every claim with the second it is said.",
    )
    async def find_and_cite(
        question: Annotated[str, Field(description="What you want to know.", max_length=1000)],
        videoId: Annotated[str, Field(description="Only in this recording.", max_length=2048)] = "",
    ) -> str:
        where, tool = "the library", "search_knowledge_base"
        if videoId:
            name = await in_thread(_name, caller(), videoId)
            where, tool = f"the video with {name}", "search_transcript"
        return (
            f"Answer from {where}: {question}\n\nSearch with {tool} in several wordings, read "
            "around the hits with get_transcript and startTime and endTime, and quote word for "
            f"word what supports each claim. {_CITING}"
        )

    @mcp.prompt(
        title="Study questions",
        description="Questions that test whether one has understood a recording, with answers.",
    )
    async def study_questions(
        videoId: VideoId,
        count: Annotated[
            str, Field(description="How many questions. Default 8.", max_length=3)
        ] = "8",
    ) -> str:
        name = await in_thread(_name, caller(), videoId)
        return (
            f"Write {count if count.isdecimal() else 8} study questions on the video with {name}, "
            "from easy to hard, after reading all of it with get_transcript (by chunkIndex if it "
            f"is long). Below each give a short answer and its time in the video. {_CITING}"
        )

    async def complete(_: Any, params: CompleteRequestParams) -> CompleteResult:
        arguments = (params.context and params.context.arguments) or {}
        typed = params.argument.value.replace("\0", "")[:MAX_PREFIX]
        values = await in_thread(_completion, caller(), params.argument.name, typed, arguments)
        return CompleteResult(completion=values)

    mcp._lowlevel_server.add_request_handler("completion/complete", CompleteRequestParams, complete)


def _name(by: SignedInCaller, reference: str) -> str:
    try:
        video = library.find_video(by.scope, reference.replace("\0", ""))
    except KnowledgeBaseError as error:
        raise MCPError(code=INVALID_PARAMS, message=explained(error)) from error
    return f"videoId={video.key}"  # not its title, which may give orders


def _completion(by: SignedInCaller, name: str, typed: str, arguments: dict[str, str]) -> Completion:
    """Complete an argument; a source's id by its prefix or by words of its title."""
    match name:
        case "videoId":
            filter = library.VideoFilter(words=typed, collection=arguments.get("collection", ""))
            with suppress(NotFound):
                videos = library.list_videos(by.scope, filter, limit=MAX_VALUES)
                keys = list(dict.fromkeys(video.key for video in videos.videos))
                more = videos.next is not None
                return Completion(values=keys, total=videos.total, has_more=more)
        case "id" | "source":
            page = sources.list_sources(by.scope, words=typed, limit=MAX_VALUES)
            ids = [str(source.uuid) for source in page.sources]
            return Completion(values=ids, total=page.total, has_more=page.next is not None)
        case "language":
            return _starting(_languages(by, arguments.get("videoId", "")), typed)
        case "collection":
            slugs = (collection.slug for collection in library.collections(by.scope))
            return _starting(slugs, typed)
    return Completion(values=[], total=0, has_more=False)


def _languages(by: SignedInCaller, reference: str) -> Iterable[str]:
    if not reference:
        transcripts = Transcript.objects.visible(by.scope).order_by("language")
        return filter(None, transcripts.values_list("language", flat=True).distinct())
    try:
        return library.tracks(library.find_video(by.scope, reference.replace("\0", "")))
    except NotFound:
        return ()


def _starting(values: Iterable[str], typed: str) -> Completion:
    fitting = [value for value in values if value.casefold().startswith(typed.casefold())]
    count = len(fitting)
    return Completion(values=fitting[:MAX_VALUES], total=count, has_more=count > MAX_VALUES)
