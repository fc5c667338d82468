"""The word lists of each language that questions come in, and what they say about a question.

A file lists one language's words by their role. An entry is a regular expression; "_" stands for
white space.
"""

import re
from pathlib import Path
from typing import Final

from transcripts.tokenizer import tokenize


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    sections = path.read_text(encoding="utf-8").split("\n[")[1:]
    pairs = (section.split("]\n", 1) for section in sections)
    return {role: tuple(entries.split()) for role, entries in pairs}


LISTS: Final = {
    path.stem: _read(path) for path in sorted(Path(__file__).with_name("words").glob("*.txt"))
}


def any_of(*roles: str, language: str = "") -> str:
    """Return a regular expression for the entries of some roles, in one language or in all."""
    languages = [LISTS[language]] if language else LISTS.values()
    entries = [entry for lists in languages for role in roles for entry in lists.get(role, ())]
    longest_first = sorted(entries, key=len, reverse=True)
    return f"(?:{'|'.join(longest_first)})".replace("_", r"\s+")


_STOP_WORDS: Final = frozenset(word for lists in LISTS.values() for word in lists["empty"])
_QUESTION: Final = re.compile(
    rf"(?<!\w)(?:{any_of('question_words')}|me|i\s+(?:want|need|would|am|have)|i['’]d)(?!\w)",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    rf"\W*(?:(?:please|now|also)\s+)*{any_of('orders', 'verbs', 'requests')}(?!\w)", re.IGNORECASE
)


def content_words(text: str) -> list[str]:
    """Return the words that say what a text is about."""
    words = tokenize(text, shortest=1)
    return [word for word in words if word not in _STOP_WORDS and (len(word) > 1 or word.isdigit())]


def is_question(text: str) -> bool:
    """Tell a question or an order from a heading or a few words that name a subject."""
    return "?" in text or "？" in text or bool(_QUESTION.search(text) or _REQUEST.match(text))
