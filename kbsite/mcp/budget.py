"""Token budgets: how much text a language model is given at once.

No model's tokenizer is loaded. A quarter of a token is counted for each ASCII character and a whole one for each other, which fits English and
Chinese and errs on the large side elsewhere.
"""

import json
from collections.abc import Callable, Iterable

from pydantic import BaseModel

MIN_TOKENS, MAX_TOKENS = 500, 100_000


def tokens(text: str) -> int:
    """Estimate how many tokens a text has."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def longest(text: str, offset: int, *, room: int) -> int:
    """Return how many characters from ``offset`` on fit into ``room`` tokens, also when written as JSON; at least one."""
    low, high = 1, min(len(text) - offset, 4 * room)
    if high > 0 and _written(text[offset : offset + high]) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if _written(text[offset : offset + middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def fitting(costs: Iterable[int], *, room: int) -> int:
    """Return how many of the rows, in their order, fit into ``room`` tokens; at least one, so that paging always gets on."""
    spent = count = 0
    for cost in costs:
        spent += cost
        if spent > room and count:
            break
        count += 1
    return count


def costs(rows: Iterable[BaseModel], line: Callable[[int, BaseModel], str]) -> Iterable[int]:
    """Return what each row costs: as a line of text or as JSON, whichever is more, for nobody knows which of them a client shows its model."""
    for number, row in enumerate(rows):
        yield max(tokens(line(number, row)), tokens(as_json(row))) + 1


def as_json(data: BaseModel) -> str:
    """Write a value as it goes out, without what is unset."""
    return data.model_dump_json(exclude_none=True)


def _written(text: str) -> int:
    return tokens(json.dumps(text, ensure_ascii=False))
