"""Completes arguments of resource templates and prompts from what the caller may see."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CompleteRequestParams, CompleteResult, Completion

from citations.library import sources
from kbsite.callers import SignedInCaller
from kbsite.mcp.calls import caller, in_thread
from transcripts.core.errors import NotFound
from transcripts.library import reading as library
from transcripts.models import Transcript

MAX_VALUES = 100  # the protocol's limit
MAX_PREFIX = 200  # characters


def register(mcp: MCPServer[Any]) -> None:
    """Add the handler."""

    async def complete(_: Any, params: CompleteRequestParams) -> CompleteResult:
        arguments = (params.context and params.context.arguments) or {}
        typed = params.argument.value.replace("\0", "")[:MAX_PREFIX]
        return CompleteResult(
            completion=await in_thread(_complete, caller(), params.argument.name, typed, arguments)
        )

    mcp._lowlevel_server.add_request_handler("completion/complete", CompleteRequestParams, complete)


def _complete(by: SignedInCaller, name: str, typed: str, arguments: dict[str, str]) -> Completion:
    """Complete an argument; a source's id by its prefix or by words of its title."""
    match name:
        case "videoId":
            filter = library.VideoFilter(words=typed, collection=arguments.get("collection", ""))
            with suppress(NotFound):
                videos = library.list_videos(by.scope, filter, limit=MAX_VALUES)
                keys = dict.fromkeys(video.key for video in videos.videos)
                return _completion(keys, videos.total, has_more=videos.next is not None)
        case "id" | "source":
            page = sources.list_sources(by.scope, words=typed, limit=MAX_VALUES)
            ids = (str(source.uuid) for source in page.sources)
            return _completion(ids, page.total, has_more=page.next is not None)
        case "language":
            return _starting(_languages(by, arguments.get("videoId", "")), typed)
        case "collection":
            slugs = [collection.slug for collection in library.collections(by.scope)]
            return _starting(slugs, typed)
    return _completion((), 0)


def _completion(values: Iterable[str], total: int, *, has_more: bool = False) -> Completion:
    return Completion(values=[*values], total=total, has_more=has_more)


def _languages(by: SignedInCaller, reference: str) -> list[str]:
    if not reference:
        transcripts = Transcript.objects.visible(by.scope).order_by("language")
        languages = transcripts.values_list("language", flat=True).distinct()
        return [language for language in languages if language]
    try:
        return library.tracks(library.find_video(by.scope, reference.replace("\0", "")))
    except NotFound:
        return []


def _starting(values: list[str], typed: str) -> Completion:
    fitting = [value for value in values if value.casefold().startswith(typed.casefold())]
    count = len(fitting)
    return _completion(fitting[:MAX_VALUES], count, has_more=count > MAX_VALUES)
