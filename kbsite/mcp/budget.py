"""Token budgets: how much text a language model is given at once.

No model's tokenizer is loaded. An ASCII character counts as a quarter of a token and any other as
a whole one, which fits English and Chinese and is too high elsewhere.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel

MIN_TOKENS, MAX_TOKENS = 500, 100_000
MIN_TEXT = 32  # tokens of a text, however small the budget
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
    for number, row in enumerate(rows):
        yield tokens(line(number, row)) + 1


def take(rows: Sequence[Row], line: Line, *, room: int) -> list[Row]:
    """Return the first rows that fit into ``room`` tokens, at least one."""
    return list(rows[: fitting(costs(rows, line), room=room)])


def clip(row: Row) -> Row:
    """Shorten the texts that name something, so that no row costs much more than another."""
    texts = {name: getattr(row, name, None) for name in MAX_FIELD}
    return row.model_copy(
        update={name: text[: MAX_FIELD[name]] for name, text in texts.items() if text}
    )
