"""Read a page's HTML without regard to how its template is wrapped."""

import re
from collections.abc import Sequence
from typing import Any


def text_of(response: Any) -> str:
    """Return a page on one line: new lines beside tags go, other white space becomes one space."""
    text = response.content.decode()
    text = re.sub(r"<[a-z][^<>]*>", lambda tag: re.sub(r"\s+", " ", tag[0]), text)
    text = re.sub(r" (/?>)", r"\1", text)
    text = re.sub(r">\s*\n\s*", ">", text)
    text = re.sub(r"\s*\n\s*<", "<", text)
    return re.sub(r"\s*\n\s*", " ", text)


def assert_shows(shown: Any, *texts: object, without: Sequence[object] = ()) -> None:
    """Assert that a page, or its text, has all of the texts, and none of those ``without``."""
    text = shown if isinstance(shown, str) else text_of(shown)
    missing = [each for each in map(str, texts) if each not in text]
    present = [each for each in map(str, without) if each in text]
    assert (missing, present) == ([], []), text
