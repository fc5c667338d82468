"""A question becomes the parts that are looked up, and how broad each is: a fact or an overview."""

import re
from typing import Final

from citations.answers.answer import Breadth, QuestionPart, Route
from citations.answers.question.wording import any_of, content_words, separated, split
from citations.text.sentences import QUESTION_MARKS
from transcripts.core.sanitize import clean
from transcripts.text.queries import require_words

MAX_CHARACTERS: Final = 10_000  # of a question; the rest is ignored
_SCANNED: Final = 1_000  # characters of a question that decide its breadth

_OVERVIEW: Final = re.compile(rf"(?<!\w){any_of('overviews')}(?!\w)", re.IGNORECASE)
_OPEN: Final = re.compile(rf"(?:{any_of('question_words', 'orders')}|discuss)(?!\w)", re.IGNORECASE)
_GENERAL: Final = re.compile(any_of("general"), re.IGNORECASE)


def route(question: str) -> Route:
    """Split a question into at most ``MAX_PARTS`` parts, and find out how broad each is.

    Raises ``EmptyQuery`` for a question without a letter or digit.
    """
    parts = split(checked(question))
    return Route(
        parts=tuple(
            question_part(
                text, Breadth.BROAD if is_overview(separated(text)[0]) else Breadth.SPECIFIC
            )
            for text in dict.fromkeys(parts)
        )
    )


def checked(question: str) -> str:
    """Return a question as it is read; raise ``EmptyQuery`` without a letter or digit."""
    return require_words(clean(question, MAX_CHARACTERS))


def question_part(text: str, breadth: Breadth) -> QuestionPart:
    """Return a part that names what it is of, if it is an overview."""
    about = subject(text) if breadth == Breadth.BROAD else ""
    own, context = separated(text)
    return QuestionPart(text=text, own=own if context else "", breadth=breadth, about=about)


# Breadth


def is_overview(question: str) -> bool:
    """Tell whether a question asks for an overview: by such a word, or of no subject.

    A heading asks for the place where its subject is explained, and most questions for a fact.
    """
    text = " ".join(question[:_SCANNED].split())
    is_open = _OPEN.match(text) and content_words(text) and not subject(text)
    return bool(_OVERVIEW.search(text) or is_open)


def asks_for_the_whole(question: str) -> bool:
    """Tell whether a question asks for an overview of its sources, and of no subject in them."""
    return is_overview(question) and not subject(question)


def subject(question: str) -> str:
    """Return the words that name what an overview is of; empty where it is of the sources.

    “Give me an overview of how computers keep time” becomes “computers keep time”: the other words
    are near any text that sums something up.
    """
    words = question[:_SCANNED].split()
    own = [word for word in words if not all(map(_GENERAL.fullmatch, content_words(word)))]
    return " ".join(own).strip(f" {QUESTION_MARKS}!.,;:")
