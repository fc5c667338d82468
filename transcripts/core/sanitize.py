"""Make text from outside fit for the database, and addresses fit to be shown."""

import re
from typing import Final
from uuid import UUID

MAX_QUERY_CHARACTERS: Final = 1_000  # of the longest query that is accepted
MASK: Final = "••••••"
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff]")
# A password that was not encoded may have a slash in it; a port with a path after it is none.
_USER: Final = re.compile(
    r"(?<=://)(?:[^\s/?#]{0,500}|[^\s:/?#@]{0,500}:(?!\d+[/?#])[^\s@]{0,500})@"
)
_PARAMETER: Final = re.compile(
    r"([?&;][\w.-]*(?:auth|code|credential|key|passw(?:or)?d|pwd|secret|session(?:_?id)?|sig"
    r"|signature|state|token)=)[^\s&;#\"'<>]+",
    re.IGNORECASE,
)


def clean(value: object, limit: int) -> str:
    """Return at most ``limit`` characters, trimmed; "" for anything but text.

    Remove NUL and lone surrogates, which PostgreSQL refuses, and control characters except line
    break and tab.
    """
    return _UNFIT.sub("", value[:limit]).strip() if isinstance(value, str) else ""


def uuid_of(reference: UUID | str) -> UUID:
    """Return an id that was typed, or the nil UUID, which nothing has."""
    try:
        return reference if isinstance(reference, UUID) else UUID(clean(reference, 50))
    except ValueError:
        return UUID(int=0)


def is_uuid(text: str) -> bool:
    try:
        return bool(UUID(text))
    except ValueError:
        return False


def redact(text: str) -> str:
    """Mask the secrets of all addresses in a text: names and passwords before the host, and
    parameters such as keys.
    """
    return _PARAMETER.sub(rf"\1{MASK}", _USER.sub(f"{MASK}@", text))
