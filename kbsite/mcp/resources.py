"""Resources: transcripts, sources and outlines as text, within the token budget."""
# ruff: noqa: N803  the template's variable has the plugin's name

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    ListResourcesResult,
    PaginatedRequestParams,
    Resource,
)

from citations.library.filters import find_source
from citations.models import Source
from kbsite.callers import SignedInCaller
from kbsite.mcp import overviews, source_text
from kbsite.mcp.answer_text import CURSOR, fitting, tokens
from kbsite.mcp.calls import caller, in_thread
from kbsite.mcp.source_text import LINE_SECONDS, position_in
from kbsite.mcp.tool_inputs import Arguments, read_cursor, write_cursor
from transcripts.core.errors import InvalidCursor, KnowledgeBaseError, NotFound
from transcripts.library import reading as library
from transcripts.models import Video
from transcripts.text.cues import group_by_time
from transcripts.text.timecodes import clock, seconds

TRANSCRIPT = "transcript://{videoId}{?collection,language}"
SOURCE = "source://{id}{?offset}"
OUTLINE = "outline://{source}"
PAGE_SIZE = 50  # videos
_QUESTION = "resources"


def register(mcp: MCPServer[Any]) -> None:
    """Add the templates and the list.

    Ids come from list_transcripts, list_sources, searches and completions.
    """

    def template(uri: str, title: str, description: str) -> Callable[[Any], Any]:
        return mcp.resource(
            uri, name=title.lower(), title=title, description=description, mime_type="text/plain"
        )

    @template(TRANSCRIPT, "Transcript", "What is said in a recording, with times.")
    async def transcript(videoId: str, collection: str = "", language: str = "") -> str:
        return await _read(lambda by: _transcript(by, videoId, collection, language))

    @template(SOURCE, "Source", "The text of a source, with times or pages.")
    async def source(id: str, offset: str = "") -> str:
        return await _read(lambda by: _text(find_source(by.scope, id), position_in(offset)))

    @template(OUTLINE, "Outline", "A source's summary, section by section.")
    async def outline(source: str) -> str:
        return await _read(lambda by: read_outline(by, source))

    async def listed(_: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
        try:
            offset = read_cursor(params.cursor, _QUESTION)[0] if params and params.cursor else 0
        except InvalidCursor as error:
            raise MCPError(code=INVALID_PARAMS, message=error.text) from error
        fixed = [] if offset else await mcp.list_resources()
        page = await in_thread(_page, caller(), offset)
        return page.model_copy(update={"resources": [*fixed, *page.resources]})

    # The SDK lists only registered resources; its example of a paged list replaces the handler.
    mcp._lowlevel_server.add_request_handler("resources/list", PaginatedRequestParams, listed)


async def _read(text: Callable[[SignedInCaller], str]) -> str:
    try:
        return await in_thread(text, caller())
    except NotFound as error:
        raise ResourceNotFoundError(error.text) from error
    except KnowledgeBaseError as error:
        raise ResourceError(error.text) from error


def _room(*texts: str) -> int:
    return Arguments().budget - sum(map(tokens, texts))


# Transcripts


def _transcript(by: SignedInCaller, reference: str, collection: str, language: str) -> str:
    video = library.find_video(
        by.scope, reference.replace("\0", ""), collection=collection.replace("\0", "")
    )
    cues = library.cues_of(library.find_transcript(video, language=language))
    groups = group_by_time(cues, LINE_SECONDS)
    lines = [f"[{clock(group.start)}] {group.text}" for group in groups]
    count = fitting((tokens(line) + 1 for line in lines), room=_room() - 200)
    rest = (
        f"(… to read on: get_transcript with videoId={video.key} "
        f"and startTime={seconds(groups[count].start):g})"
        if count < len(lines)
        else ""
    )
    head = f"{video}\n{library.link_at(video, 0)}\n"
    return "\n".join(filter(None, (head, *lines[:count], rest)))


def _page(by: SignedInCaller, offset: int) -> ListResourcesResult:
    page = library.list_videos(by.scope, offset=offset, limit=PAGE_SIZE)
    following = None if page.next is None else write_cursor(_QUESTION, offset=page.next)
    return ListResourcesResult(
        resources=[_resource(video, several=len(by.scope.readable) > 1) for video in page.videos],
        next_cursor=following,
    )


def _resource(video: Video, *, several: bool) -> Resource:
    # A video may be in several collections: only with one is the address unambiguous.
    query = f"?{urlencode({'collection': video.collection.slug})}" if several else ""
    return Resource(
        uri=f"transcript://{quote(video.key, safe='')}{query}",
        name=video.key,
        title=str(video)[:200],
        description=" · ".join(filter(None, (video.channel, clock(video.duration)))),
        mime_type="text/plain",
        annotations=Annotations(last_modified=video.updated_at.isoformat()),
    )


# Sources


def _text(source: Source, position: int) -> str:
    head = source_text.head(source)
    text, following = source_text.read(source, position, room=_room(head) - CURSOR)
    if not text:
        return f"{head}\n\n(Its text is not there.)"
    rest = f"(… the text goes on: source://{source.uuid}?offset={following})"
    return "\n\n".join(filter(None, (head, text, "" if following is None else rest)))


def read_outline(by: SignedInCaller, reference: str) -> str:
    """Return the outline of a source or video. Raises ``SourceNotFound``, ``VideoNotFound``."""
    return overviews.outline(by.scope, reference.replace("\0", ""), room=_room() - CURSOR)
