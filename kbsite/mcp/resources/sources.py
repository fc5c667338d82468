"""Resource source://{id}: a source's text with times or pages, within the token budget."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from django.conf import settings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from citations.library.filters import find_source
from citations.models import Source
from citations.readers import source_blocks
from citations.text.blocks import Block
from kbsite.auth import Caller
from kbsite.errors import sentence
from kbsite.mcp.auth import caller
from kbsite.mcp.budget import MIN_TOKENS, longest, tokens
from kbsite.mcp.render_transcript import CURSOR
from kbsite.mcp.threads import in_thread
from kbsite.mcp.tool_outputs import NAME, TITLE
from transcripts.errors import InvalidInput, KnowledgeBaseError, NotFound
from transcripts.reading import page_text
from transcripts.timecodes import clock

TEMPLATE = "source://{id}{?offset}"
LINE_MS = 30_000
ADDRESS = 300  # characters of an address
MAX_DIGITS = 9


def register(mcp: MCPServer[Any]) -> None:
    """Add the template. Ids come from list_sources, search_knowledge_base and completions."""

    @mcp.resource(
        TEMPLATE,
        name="source",
        title="Source",
        description="The text of a source, with times or pages.",
        mime_type="text/plain",
    )
    async def source(id: str, offset: str = "") -> str:
        return await in_thread(_text, caller(), id, offset)


def _text(by: Caller, reference: str, offset: str) -> str:
    try:
        return _page(find_source(by.scope, reference), _number(offset))
    except NotFound as error:
        raise ResourceNotFoundError(sentence(error)) from error
    except KnowledgeBaseError as error:
        raise ResourceError(sentence(error)) from error


def _page(source: Source, offset: int) -> str:
    text = "\n".join(_lines(source_blocks.read(source)))
    head = "\n".join(
        part for part in (source.title[:TITLE], source.author[:NAME], source.url[:ADDRESS]) if part
    )
    if not text:
        return f"{head}\n\n(Its text is not there.)"
    if offset >= len(text):
        raise InvalidInput(f"The text ends at {len(text)}.", hint="Begin anew without offset.")
    room = max(settings.MCP_MAX_TOKENS, MIN_TOKENS) - tokens(head) - CURSOR
    shown, following = page_text(text, offset, longest(text, offset, room=room))
    rest = (
        ""
        if following is None
        else f"(… the text goes on: source://{source.uuid}?offset={following})"
    )
    return "\n\n".join(part for part in (head, shown, rest) if part)


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield a line for each half minute or page, and for each heading."""
    heading = ""
    for (_, page, title), inside in groupby(blocks, _place):
        together = list(inside)
        if title != heading:
            heading = title
            yield f"# {title}" if title else ""
        start = together[0].start
        mark = (
            f"[{clock(start)}] "
            if start is not None
            else f"[page {page}] "
            if page is not None
            else ""
        )
        yield mark + " ".join(block.text for block in together)


def _place(block: Block) -> tuple[int | None, int | None, str]:
    return (None if block.start is None else block.start // LINE_MS, block.page, block.heading)


def _number(offset: str) -> int:
    if not offset:
        return 0
    if not (offset.isascii() and offset.isdigit() and len(offset) <= MAX_DIGITS):
        raise InvalidInput(
            "offset is a number of characters.",
            hint="Copy it from the page before, or leave it out.",
        )
    return int(offset)
