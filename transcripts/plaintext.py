"""Text from outside, made fit for a database."""


def clean(value: object, limit: int) -> str:
    """Return at most ``limit`` characters, trimmed: no NUL and no lone surrogates, which PostgreSQL refuses, no control characters but line break and tab.

    What is no text at all becomes "".
    """
    text = value if isinstance(value, str) else ""
    return "".join(mark for mark in text[:limit] if mark in "\n\t" or not (ord(mark) < 32 or 0xD800 <= ord(mark) <= 0xDFFF)).strip()
