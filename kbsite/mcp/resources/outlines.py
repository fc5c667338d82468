"""Resource outline://{id}: a source's outline, and a prompt that gives it to a model."""

from typing import Annotated, Any

from django.conf import settings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

from citations.library.filters import find_source
from citations.models import Node, Source
from citations.outline import storage as outline_storage
from citations.passages import place
from kbsite.auth import Caller
from kbsite.errors import sentence
from kbsite.mcp.auth import caller
from kbsite.mcp.budget import MIN_TOKENS, fitting, tokens
from kbsite.mcp.render_transcript import CURSOR
from kbsite.mcp.threads import in_thread
from kbsite.mcp.tool_outputs import NAME, TITLE
from transcripts.errors import KnowledgeBaseError, NotFound

TEMPLATE = "outline://{source}"
PART = 1_500  # characters of one section's summary

_VERBATIM = "The sentences are the source's own; abstracts are a language model's."


def register(mcp: MCPServer[Any]) -> None:
    """Add the template and the prompt."""

    @mcp.resource(
        TEMPLATE,
        name="outline",
        title="Outline",
        description="A source's summary, section by section.",
        mime_type="text/plain",
    )
    async def outline(source: str) -> str:
        return await in_thread(_resource, caller(), source)

    @mcp.prompt(
        title="Summarise a source",
        description="A summary of a video or document, from its outline, every claim checked.",
    )
    async def summarise_source(
        source: Annotated[
            str, Field(description="Id of the source, or of its video.", max_length=2048)
        ],
    ) -> str:
        return (
            "Summarise this source in a few paragraphs, broad lines first, with the time or page "
            "of each point. Use only its outline; if that is not enough, call ask_knowledge_base "
            "with its id in sourceIds. Check every quote with verify_quote before you give it.\n\n"
            f"{await in_thread(_given, caller(), source)}"
        )


def _resource(by: Caller, reference: str) -> str:
    try:
        return _text(by, reference)
    except NotFound as error:
        raise ResourceNotFoundError(sentence(error)) from error
    except KnowledgeBaseError as error:
        raise ResourceError(sentence(error)) from error


def _given(by: Caller, reference: str) -> str:
    try:
        return _text(by, reference)
    except KnowledgeBaseError as error:
        raise MCPError(code=INVALID_PARAMS, message=sentence(error)) from error


def _text(by: Caller, reference: str) -> str:
    source = find_source(by.scope, reference.replace("\0", ""))
    found = outline_storage.outline(source)
    if found.whole is None:
        return (
            f"{_head(source)}\n\n(It has no outline yet: it is still being indexed. "
            f"source://{source.uuid} has its text.)"
        )
    parts = [_part(node) for node in (found.whole, *found.parts)]
    room = (
        max(settings.MCP_MAX_TOKENS, MIN_TOKENS)
        - tokens(_head(source))
        - tokens(_VERBATIM)
        - CURSOR
    )
    count = fitting((tokens(part) + 1 for part in parts), room=room)
    left = found.more + len(parts) - count
    rest = f"(… {left} parts more; source://{source.uuid} has the whole text.)" if left else ""
    return "\n\n".join(
        part for part in (f"{_head(source)}\n{_VERBATIM}", *parts[:count], rest) if part
    )


def _head(source: Source) -> str:
    return "\n".join(
        part
        for part in (source.title[:TITLE], source.author[:NAME], f"sourceId={source.uuid}")
        if part
    )


def _part(node: Node) -> str:
    where = place(node)
    title = f"## {node.title[:TITLE] or node.get_level_display()}{f' [{where}]' if where else ''}"
    return "\n".join(part for part in (title, node.abstract[:PART], node.text[:PART]) if part)
