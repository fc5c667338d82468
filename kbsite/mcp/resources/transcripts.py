"""Resource transcript://{videoId}: a transcript as text with times."""
# ruff: noqa: N803  the template's variable has the plugin's name

from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
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

from kbsite.auth import Caller
from kbsite.errors import sentence
from kbsite.mcp import cursors
from kbsite.mcp.auth import caller
from kbsite.mcp.budget import MIN_TOKENS, fitting, tokens
from kbsite.mcp.threads import in_thread
from transcripts import library
from transcripts.cues import group_by_time
from transcripts.errors import InvalidCursor, KnowledgeBaseError, NotFound
from transcripts.models import Transcript, Video
from transcripts.timecodes import clock, seconds

TEMPLATE = "transcript://{videoId}{?collection,language}"
PAGE = 50
LINE_SECONDS = 30
_QUESTION = "resources"


def register(mcp: MCPServer[Any]) -> None:
    """Add the template and the list."""

    @mcp.resource(
        TEMPLATE,
        name="transcript",
        title="Transcript",
        description="What is said in a video, with times.",
        mime_type="text/plain",
    )
    async def transcript(videoId: str, collection: str = "", language: str = "") -> str:
        return await in_thread(_text, caller(), videoId, collection=collection, language=language)

    async def listed(_: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
        offset = _offset((params and params.cursor) or "")
        fixed = [] if offset else await mcp.list_resources()
        found = await in_thread(_page, caller(), offset)
        return found.model_copy(update={"resources": [*fixed, *found.resources]})

    # The SDK lists only registered resources; its example of a paged list replaces the handler.
    mcp._lowlevel_server.add_request_handler("resources/list", PaginatedRequestParams, listed)


def _text(by: Caller, reference: str, *, collection: str, language: str) -> str:
    try:
        video = library.find_video(
            by.scope, reference.replace("\0", ""), collection=collection.replace("\0", "")
        )
        return _stamped(video, library.find_transcript(video, language=language))
    except NotFound as error:
        raise ResourceNotFoundError(sentence(error)) from error
    except KnowledgeBaseError as error:
        raise ResourceError(sentence(error)) from error


def _stamped(video: Video, transcript: Transcript) -> str:
    groups = group_by_time(library.cues_of(transcript), LINE_SECONDS)
    lines = [f"[{clock(group.start)}] {group.text}" for group in groups]
    count = fitting(
        (tokens(line) + 1 for line in lines), room=max(settings.MCP_MAX_TOKENS, MIN_TOKENS) - 200
    )
    rest = (
        f"(… to read on: get_transcript with videoId={video.key} "
        f"and startTime={seconds(groups[count].start):g})"
        if count < len(lines)
        else ""
    )
    head = f"{video}\n{library.link_at(video, 0)}\n"
    return "\n".join(part for part in (head, *lines[:count], rest) if part)


def _page(by: Caller, offset: int) -> ListResourcesResult:
    found = library.list_videos(by.scope, offset=offset, limit=PAGE)
    following = None if found.next is None else cursors.write(_QUESTION, offset=found.next)
    return ListResourcesResult(
        resources=[_resource(video, several=len(by.scope.readable) > 1) for video in found.videos],
        next_cursor=following,
    )


def _resource(video: Video, *, several: bool) -> Resource:
    # A video may be in several collections: only with one is the address unambiguous.
    place = f"?{urlencode({'collection': video.collection.slug})}" if several else ""
    return Resource(
        uri=f"transcript://{quote(video.key, safe='')}{place}",
        name=video.key,
        title=str(video)[:200],
        description=" · ".join(part for part in (video.channel, clock(video.duration)) if part),
        mime_type="text/plain",
        annotations=Annotations(last_modified=video.updated_at.isoformat()),
    )


def _offset(cursor: str) -> int:
    try:
        return cursors.read(cursor, _QUESTION)[0] if cursor else 0
    except InvalidCursor as error:
        raise MCPError(code=INVALID_PARAMS, message=sentence(error)) from error
