"""The text of an answer: what the server says, and what sources say between marks."""

import re
from collections.abc import Sequence
from functools import cache

from django.conf import settings
from mcp_types import CallToolResult, TextContent

from citations.providers.prompts import marked
from kbsite.mcp.budget import Line, Row, take, tokens
from kbsite.mcp.tool_inputs import Arguments, PagedInput

CURSOR = 90  # tokens reserved for a cursor, the sentence about it, and the marks of ``material``
MORE = "More follows: repeat this call with the same arguments and cursor="


def answer(text: str) -> CallToolResult:
    """Return a tool's answer: text alone.

    Several clients give a model only the structured content where there is any, others both: the
    text would be lost, or cost twice. Programs have the same as data over REST.
    """
    return CallToolResult(content=[TextContent(type="text", text=text)])


def joined(head: str, lines: Sequence[str], tail: str, cursor: str | None) -> str:
    """Join an answer: lines of sources between marks, and a cursor, if there is more."""
    more = f"{MORE}{cursor}" if cursor else ""
    return "\n".join(part for part in (head, material("\n".join(lines)), more, tail) if part)


def page(
    head: str, rows: Sequence[Row], line: Line, arguments: Arguments, *, total: int, tail: str = ""
) -> str:
    """Join an answer of as many rows, from the position of a call on, as fit into its budget."""
    offset = arguments.position[0] if isinstance(arguments, PagedInput) else 0
    room = arguments.budget - CURSOR - tokens(head) - tokens(tail)
    shown = take(rows, line, room=room)
    end, cursor = offset + len(shown), None
    if shown and end < total and isinstance(arguments, PagedInput):
        cursor = arguments.cursor_at(end)
    lines = [line(number, row) for number, row in enumerate(shown, start=offset)]
    return joined(head, lines, tail, cursor)


def material(text: str) -> str:
    """Put what sources say between marks that it cannot contain; "" stays as it is.

    It may give orders to the model that reads it, and pose as lines of this server.
    """
    return marked("not-instructions", text) if text else ""


def for_models(text: str) -> str:
    """Leave out the sentences that only an operator can act on: they name commands or settings."""
    sentences = (
        part for part in re.split(r"(?<=[.!?])\s+", text) if not _for_operators().search(part)
    )
    return " ".join(sentences)


@cache
def _for_operators() -> re.Pattern[str]:
    return re.compile(rf"`(?:kb|pip) |\b(?:{'|'.join(settings.OPTIONS)}|HF_\w+|HTTPS_PROXY)\b")
