"""Secrets inside addresses: names and passwords before the host, and parameters such as keys."""

import re
from typing import Final

MASK: Final = "••••••"
# A password that was not encoded may have a slash in it; a port with a path after it is none.
_USER: Final = re.compile(
    r"(?<=://)(?:[^\s/?#]{0,500}|[^\s:/?#@]{0,500}:(?!\d+[/?#])[^\s@]{0,500})@"
)
_PARAMETER: Final = re.compile(
    r"([?&;][\w.-]*(?:auth|code|credential|key|passw(?:or)?d|pwd|secret|session(?:_?id)?|sig"
    r"|signature|state|token)=)[^\s&;#\"'<>]+",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Mask the secrets of all addresses in a text."""
    return _PARAMETER.sub(rf"\1{MASK}", _USER.sub(f"{MASK}@", text))
