"""Compounds: words that hold others, in the languages that write these in one. Pure.

Which words there are is known from a query and a text alone: what is typed is a word. So a stem of
``MIN_PART`` letters is a part at the beginning or end of a longer one, and a long stem within it,
too, where what remains has the length of a word. “Versicherung” holds no “Sicherung”.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

LANGUAGES: Final = ("da", "de", "fi", "nl", "no", "sv")
MIN_PART: Final = 4  # letters of a stem
MIN_INNER: Final = 6  # of a stem that is neither first nor last
MIN_BEFORE, MIN_AFTER = 4, 3  # letters of what remains
MIN_COMPOUND: Final = MIN_PART + MIN_AFTER


def parts(part: str, lines: str) -> Iterator[str]:
    """Yield the terms that hold a part, a term, too, of those that stand between line breaks."""
    stem, _, code = part.partition("/")
    if code in LANGUAGES and len(stem) >= MIN_PART and stem.isalpha() and stem in lines:
        yield from (match[1] for match in _pattern(stem, code).finditer(lines))


@lru_cache(maxsize=1 << 10)
def _pattern(stem: str, code: str) -> re.Pattern[str]:
    inner = rf"|\w{{{MIN_AFTER},}}{stem}\w{{{MIN_AFTER},}}" if len(stem) >= MIN_INNER else ""
    return re.compile(
        rf"\n((?:{stem}\w{{{MIN_AFTER},}}|\w{{{MIN_BEFORE},}}{stem}{inner})/{code})\n"
    )
