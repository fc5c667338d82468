"""Addresses that are secrets: whoever has a sign-in link or a shared link needs nothing else.

This is the one place that knows them; a test compares it with the routes.
"""

import re
from typing import Final

from transcripts.core import sanitize

_SLASH: Final = r"(?:/|%2F)"  # an address may stand in the query of another
_STEPS: Final = rf"(?:code|team)(?:{_SLASH}|$)"  # of a sign-in: their forms say where they are from
_SECRET: Final = re.compile(
    rf"({_SLASH}(?:sign-in|shared){_SLASH})(?!{_STEPS})(?:(?!%2F)[^\s/?#&\"'<])+", re.IGNORECASE
)


def is_secret(path: str) -> bool:
    """Return whether the path of an address has a secret in it."""
    return bool(_SECRET.search(path))


def redact(text: str) -> str:
    """Mask these secrets, and those of any other address, in a text."""
    return sanitize.redact(_SECRET.sub(rf"\1{sanitize.MASK}", text))
