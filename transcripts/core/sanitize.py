"""Make text from outside fit for the database."""

import re
from typing import Final
from uuid import UUID

MAX_QUERY_CHARACTERS: Final = 1_000  # of the longest query that is accepted


def clean(value: object, limit: int) -> str:
    """Return at most ``limit`` characters, trimmed; "" for anything but text.

    Remove NUL and lone surrogates, which PostgreSQL refuses, and control characters except line
    break and tab.
    """
    text = value if isinstance(value, str) else ""
    return _UNFIT.sub("", text[:limit]).strip()


_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff]")


def uuid_of(reference: UUID | str) -> UUID:
    """Return an id that was typed, or the nil UUID, which nothing has."""
    try:
        return reference if isinstance(reference, UUID) else UUID(clean(reference, 50))
    except ValueError:
        return UUID(int=0)


def is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
