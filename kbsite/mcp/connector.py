"""Search and fetch as ChatGPT's connectors call them: an answer is one text, which is JSON.

The id of a result is that of its source and the character at which its text begins.
"""

import json
from typing import Any, Final

from citations.library.filters import find_source
from citations.passages import Results, place
from citations.quotes import source_texts
from kbsite.mcp import source_text
from kbsite.mcp.answer_text import CURSOR, TITLE, fitting, material, tokens
from kbsite.mcp.source_text import position_in
from kbsite.mcp.tool_inputs import ConnectorFetch, ConnectorSearch
from transcripts.conf import absolute
from transcripts.core.scope import Scope
from transcripts.text.timecodes import watch_url

RESULTS: Final = 10
DEFAULT_TOKENS: Final = 4_000  # tokens of a fetched text: a model reads on by ``metadata.next``


def render_results(results: Results, arguments: ConnectorSearch) -> str:
    """Return id, title and address of each passage, best first."""
    rows = [
        {
            "id": f"{passage.origin.id}:{passage.locator.span[0]}",
            "title": _titled(passage.origin.title, passage.shown_place),
            "url": absolute(passage.timestamp_link),
        }
        for passage in results.passages[:RESULTS]
    ]
    sizes = (tokens(_json(row)) + 1 for row in rows)
    return _json({"results": rows[: fitting(sizes, room=arguments.budget - CURSOR)]})


def fetch(scope: Scope, arguments: ConnectorFetch) -> str:
    """Return the text at an id. Raises ``SourceNotFound``, ``InvalidInput``."""
    reference, _, digits = arguments.id.partition(":")
    source, position = find_source(scope, reference), position_in(digits)
    room = min(arguments.budget, arguments.max_tokens or DEFAULT_TOKENS) - 2 * CURSOR - TITLE
    text, following = source_text.read(source, position, room=room * 9 // 10)  # JSON escapes
    locator = source_texts.of(source).locate((position, position + 1))
    youtube_id = source.video and source.video.youtube_id
    link = source.path_to(locator)
    read_on = "" if following is None else f"{source.uuid}:{following}"
    about = {"kind": source.kind, "author": source.author[:TITLE], "next": read_on}
    document = {
        "id": arguments.id,
        "title": _titled(source.title, place(locator)),
        "text": material(text),
        "url": watch_url(youtube_id, at_ms=locator.start or 0) if youtube_id else absolute(link),
        "metadata": {name: value for name, value in about.items() if value},
    }
    return _json(document)


def _titled(title: str, where: str) -> str:
    return ", ".join(filter(None, (title[:TITLE], where)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
