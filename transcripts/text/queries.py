"""What a question and a query must be: not empty, and not too long."""

from typing import Final

from transcripts.core.errors import EmptyQuery, InvalidInput
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean

MAX_QUESTION: Final = MAX_QUERY_CHARACTERS


def read_question(text: str) -> str:
    """Return a question in one line.

    Raises ``EmptyQuery``, and ``InvalidInput`` above ``MAX_QUESTION`` characters.
    """
    if len(text) > MAX_QUESTION:
        raise InvalidInput(
            f"The question is longer than {MAX_QUESTION:,} characters.",
            hint="Shorten it, or ask for one thing at a time.",
        )
    return require_words(" ".join(clean(text, MAX_QUESTION).split()))


def require_words(question: str) -> str:
    """Return a question. Raises ``EmptyQuery`` if it has no letter and no digit."""
    if not any(mark.isalnum() for mark in question):
        raise EmptyQuery("The question is empty.", hint="Ask something in words.")
    return question


def empty_query() -> EmptyQuery:
    """Return the error of a search without words."""
    return EmptyQuery("There is nothing to search for.", hint="Give one or more words.")
