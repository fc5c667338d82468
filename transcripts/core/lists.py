"""What every list does: keep the rows that have all words of a search, cut out a page, and find a
row by its id.
"""

import json
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from transcripts.core.errors import NotFound
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean, uuid_of

MAX_WORDS: Final = 10  # that count; each is a condition on every field
MAX_TAG: Final = 100  # characters

_Rows = TypeVar("_Rows", bound="QuerySet[Any, Any]")
_Row = TypeVar("_Row")


def words_of(text: str) -> list[str]:
    """Return the words of a search that count."""
    return clean(text, MAX_QUERY_CHARACTERS).split()[:MAX_WORDS]


def containing(
    rows: _Rows, text: str, *fields: str, otherwise: Callable[[str], Q] = lambda word: Q()
) -> _Rows:
    """Keep the rows that match every word of a search.

    A row matches a word if one of its fields contains it, or if it meets the condition that
    ``otherwise`` makes from the word, such as that the word is its id.
    """
    for word in words_of(text):
        has_word = (Q(**{f"{name}__icontains": word}) for name in fields)
        rows = rows.filter(reduce(or_, has_word, otherwise(word)))
    return rows


def tagged(tag: str) -> Q:
    """Return the condition of rows with a tag, in capitals or not."""
    return Q(tags__icontains=json.dumps(clean(tag, MAX_TAG), ensure_ascii=False))


def page_of(
    rows: "QuerySet[Any, _Row]", offset: int, limit: int
) -> tuple[tuple[_Row, ...], int | None]:
    """Return a page, and the offset of the next one; None: this is the last."""
    some = tuple(rows[offset : offset + limit + 1])  # one more tells whether others follow
    return some[:limit], offset + limit if len(some) > limit else None


def row_of(rows: "QuerySet[Any, _Row]", reference: UUID | str, missing: type[NotFound]) -> _Row:
    """Return the row of an id; raise ``missing`` if none of them has it."""
    row = rows.filter(uuid=uuid_of(reference)).first()
    if row is None:
        raise missing
    return row
