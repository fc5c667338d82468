"""Token budgets: how much text a language model is given at once.

No model's tokenizer is loaded. An ASCII character counts as a quarter of a token and any other as
a whole one, which fits English and Chinese and is too high elsewhere.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from kbsite.mcp.tool_outputs import dump

MIN_TOKENS, MAX_TOKENS = 500, 100_000
LEAST = 32  # tokens of a text, however small the budget

Row = TypeVar("Row", bound=BaseModel)
Line = Callable[[int, Any], str]  # writes a row as text, by its index and itself


def tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def longest(text: str, offset: int, *, room: int) -> int:
    """Return how many characters from ``offset`` on fit into ``room`` tokens, at least one.

    They fit as plain text and as JSON.
    """
    low, high = 1, min(len(text) - offset, 4 * room)
    if high > 0 and _json_tokens(text[offset : offset + high]) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if _json_tokens(text[offset : offset + middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def shorten(text: str, *, room: int) -> str:
    """Return the beginning of a text that fits into ``room`` tokens."""
    return text[: longest(text, 0, room=max(room, LEAST))] if text else ""


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
    """Yield the cost of each row as text or as JSON, whichever is more.

    Clients differ in which of them they show the model.
    """
    for number, row in enumerate(rows):
        yield max(tokens(line(number, row)), size(row)) + 1


def take(rows: Sequence[Row], line: Line, *, room: int) -> list[Row]:
    """Return the first rows that fit into ``room`` tokens, at least one."""
    return list(rows[: fitting(costs(rows, line), room=room)])


def size(data: BaseModel) -> int:
    """Estimate how many tokens a shape has as structured content."""
    return tokens(json.dumps(dump(data), ensure_ascii=False, separators=(",", ":")))


def _json_tokens(text: str) -> int:
    return tokens(json.dumps(text, ensure_ascii=False))
