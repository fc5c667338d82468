"""The text of an answer within a token budget; what sources say stands between marks.

No model's tokenizer is loaded. An ASCII character counts as a quarter of a token and any other as
a whole one, which fits English and Chinese and is too high elsewhere.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from django.conf import settings
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from citations.providers.prompts import marked
from kbsite.mcp.tool_inputs import Arguments, PagedInput

MIN_TEXT: Final = 32  # tokens of a text, however small the budget
CURSOR: Final = 90  # tokens reserved for a cursor, the sentence about it, and ``material``'s marks
MORE: Final = "More follows: repeat this call with the same arguments and cursor="
TITLE, NAME = 80, 60  # characters of titles and of other names
MAX_FIELD: Final = {  # characters of these fields
    "title": TITLE,
    "heading": TITLE,
    "channel": NAME,
    "speaker": NAME,
    "label": NAME,
    "model": NAME,
    "term": NAME,
    "name": 200,
    "message": 300,
    "note": 700,
    "full_question": 300,
    "error": 500,
    "hint": 300,
    "quoted": 120,
    "actual": 120,
}

Row = TypeVar("Row", bound=BaseModel)
Line = Callable[[int, Any], str]  # writes a row as text, by its index and itself


def tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def longest(text: str, offset: int, *, room: int) -> int:
    """Return how many characters from ``offset`` on fit into ``room`` tokens, at least one."""
    low, high = 1, min(len(text) - offset, 4 * room)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens(text[offset : offset + middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def shorten(text: str, *, room: int) -> str:
    """Return the beginning of a text that fits into ``room`` tokens."""
    return text[: longest(text, 0, room=max(room, MIN_TEXT))] if text else ""


def fitting(costs: Iterable[int], *, room: int) -> int:
    """Return how many rows fit into ``room`` tokens, at least one so that paging goes on."""
    spent = count = 0
    for cost in costs:
        spent += cost
        if spent > room and count:
            break
        count += 1
    return count


def costs(rows: Iterable[BaseModel], line: Line) -> Iterable[int]:
    """Yield the cost of each row in tokens."""
    return (tokens(line(number, row)) + 1 for number, row in enumerate(rows))


def clip(row: Row) -> Row:
    """Shorten the texts that name something, so that no row costs much more than another."""
    texts = {name: getattr(row, name, None) for name in MAX_FIELD}
    return row.model_copy(
        update={name: text[: MAX_FIELD[name]] for name, text in texts.items() if text}
    )


def answer(text: str, *, is_error: bool = False) -> CallToolResult:
    """Return a tool's answer: text alone.

    Several clients give a model only the structured content where there is any, others both: the
    text would be lost, or cost twice. Programs have the same as data over REST.
    """
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def joined(head: str, lines: Sequence[str], tail: str, cursor: str | None = None) -> str:
    """Join an answer: lines of sources between marks, and a cursor, if there is more."""
    more = f"{MORE}{cursor}" if cursor else ""
    return "\n".join(filter(None, (head, material("\n".join(lines)), more, tail)))


def page(
    head: str, rows: Sequence[Row], line: Line, arguments: Arguments, *, total: int, tail: str = ""
) -> str:
    """Join an answer of as many rows, from the position of a call on, as fit into its budget."""
    offset = arguments.position[0] if isinstance(arguments, PagedInput) else 0
    room = arguments.budget - CURSOR - tokens(head) - tokens(tail)
    shown = rows[: fitting(costs(rows, line), room=room)]
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
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return " ".join(part for part in sentences if not _for_operators().search(part))


@cache
def _for_operators() -> re.Pattern[str]:
    return re.compile(rf"`(?:kb|pip) |\b(?:{'|'.join(settings.OPTIONS)}|HF_\w+|HTTPS_PROXY)\b")
