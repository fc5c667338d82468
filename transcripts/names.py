"""Titles of what has none of its own, from the names of files."""

import re
from typing import Final

_HYPHEN: Final = re.compile(r"(?<![A-Z\d])-|-(?!\d)")


def readable(name: str) -> str:
    """Put blanks for underscores, and for hyphens where these stand for blanks.

    They do where a name has no blanks: ``calculus-1`` becomes "calculus 1". Those of "COVID-19" and
    "2024-05-01" stay.
    """
    text = name.replace("_", " ").strip()
    words = text if " " in text else " ".join(_HYPHEN.sub(" ", text).split())
    return words or name
