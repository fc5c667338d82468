"""Text from outside, made fit for a database."""

from uuid import UUID


def clean(value: object, limit: int) -> str:
    """Return at most ``limit`` characters, trimmed: no NUL and no lone surrogates, which PostgreSQL refuses, no control characters but line break and tab.

    What is no text at all becomes "".
    """
    text = value if isinstance(value, str) else ""
    return "".join(
        mark
        for mark in text[:limit]
        if mark in "\n\t" or not (ord(mark) < 32 or 0xD800 <= ord(mark) <= 0xDFFF)
    ).strip()


def uuid_of(reference: UUID | str) -> UUID:
    """Return an id that was typed; what is none becomes nobody's."""
    try:
        return reference if isinstance(reference, UUID) else UUID(clean(reference, 50))
    except ValueError:
        return UUID(int=0)


def is_uuid(text: str) -> bool:
    """Say whether a text is an id of this kind."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
