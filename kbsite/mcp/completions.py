"""Completes arguments of resource templates and prompts from what the caller may see."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CompleteRequestParams, CompleteResult, Completion

from citations.library import sources
from kbsite.auth import Caller
from kbsite.mcp.calls import caller, in_thread
from transcripts import library
from transcripts.errors import NotFound
from transcripts.models import Transcript

MAX_VALUES = 100  # the protocol's limit
MAX_PREFIX = 200  # characters


def register(mcp: MCPServer[Any]) -> None:
    """Add the handler."""

    async def complete(_: Any, params: CompleteRequestParams) -> CompleteResult:
        given = (params.context and params.context.arguments) or {}
        typed = params.argument.value.replace("\0", "")[:MAX_PREFIX]
        return CompleteResult(
            completion=await in_thread(_complete, caller(), params.argument.name, typed, given)
        )

    mcp._lowlevel_server.add_request_handler("completion/complete", CompleteRequestParams, complete)


def _complete(by: Caller, name: str, typed: str, given: dict[str, str]) -> Completion:
    match name:
        case "videoId":
            return _videos(by, typed, given.get("collection", ""))
        case "id" | "source":
            return _sources(by, typed)
        case "language":
            return _starting(_languages(by, given.get("videoId", "")), typed)
        case "collection":
            return _starting(
                [collection.slug for collection in library.collections(by.scope)], typed
            )
    return Completion(values=[], total=0, has_more=False)


def _videos(by: Caller, typed: str, collection: str) -> Completion:
    try:
        found = library.list_videos(
            by.scope, library.VideoFilter(words=typed, collection=collection), limit=MAX_VALUES
        )
    except NotFound:
        return Completion(values=[], total=0, has_more=False)
    return Completion(
        values=list(dict.fromkeys(video.key for video in found.videos)),
        total=found.total,
        has_more=found.next is not None,
    )


def _sources(by: Caller, typed: str) -> Completion:
    """Complete a source's id by its prefix or by words of its title."""
    found = sources.list_sources(by.scope, words=typed, limit=MAX_VALUES)
    return Completion(
        values=[str(source.uuid) for source in found.sources],
        total=found.total,
        has_more=found.next is not None,
    )


def _languages(by: Caller, reference: str) -> list[str]:
    if not reference:
        found = (
            Transcript.objects.visible(by.scope)
            .order_by("language")
            .values_list("language", flat=True)
        )
        return [language for language in found.distinct() if language]
    try:
        return library.tracks(library.find_video(by.scope, reference.replace("\0", "")))
    except NotFound:
        return []


def _starting(values: list[str], typed: str) -> Completion:
    fitting = [value for value in values if value.casefold().startswith(typed.casefold())]
    return Completion(
        values=fitting[:MAX_VALUES], total=len(fitting), has_more=len(fitting) > MAX_VALUES
    )
