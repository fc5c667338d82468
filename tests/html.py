"""Read a page's HTML without regard to how its template is wrapped."""

import re
from typing import Any


def text_of(response: Any) -> str:
    """Return a page on one line: new lines beside tags go, other white space becomes one space."""
    text = response.content.decode()
    text = re.sub(r"<[a-z][^<>]*>", lambda tag: re.sub(r"\s+", " ", tag[0]), text)
    text = re.sub(r" (/?>)", r"\1", text)
    text = re.sub(r">\s*\n\s*", ">", text)
    text = re.sub(r"\s*\n\s*<", "<", text)
    return re.sub(r"\s*\n\s*", " ", text)
