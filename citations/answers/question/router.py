"""A question becomes the parts that are looked up, and how broad each is: a fact or an overview."""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.answers.answer import Breadth, QuestionPart, Route
from citations.answers.question.wording import any_of, content_words, is_question, separated, split
from citations.text.sentences import QUESTION_MARKS
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.sanitize import clean
from transcripts.text.queries import require_words

Embed: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
"""Embed texts as vectors of length 1, shape (n, dimensions)."""

_TEXT: Final = Path(__file__).with_name("examples.json").read_text(encoding="utf-8")
EXAMPLES: Final = {
    Breadth(breadth): tuple(questions) for breadth, questions in json.loads(_TEXT).items()
}
MAX_CHARACTERS: Final = 10_000  # of a question; the rest is ignored
RULES, MEANING = "rules", "meaning"
_SCANNED: Final = 1_000  # characters of a question that decide its breadth
_NEIGHBOURS: Final = 3
_MARGIN: Final = 0.13  # cosine that overviews must be nearer by: most questions want a fact
_MOST_WORDS: Final = 5  # content words; a question with more is about something particular

_OVERVIEW: Final = re.compile(rf"(?<!\w){any_of('overviews')}(?!\w)", re.IGNORECASE)
_OPEN: Final = re.compile(rf"(?:{any_of('question_words', 'orders')}|discuss)(?!\w)", re.IGNORECASE)
_GENERAL: Final = re.compile(any_of("general"), re.IGNORECASE)


def route(question: str, *, embed: Embed | None = None) -> Route:
    """Split a question into at most ``MAX_PARTS`` parts, and find out how broad each is.

    Word lists decide, and where these do not tell, likeness to example questions. These are
    embedded once for each ``embed``: pass the same callable each time.

    Raises ``EmptyQuery`` for a question without a letter or digit.
    """
    breadths = {text: _by_wording(separated(text)[0]) for text in split(checked(question))}
    unsure = [text for text, breadth in breadths.items() if breadth is None]
    likeness = _by_likeness(unsure, embed) if embed else {}
    parts = (
        question_part(text, breadth or likeness.get(text, Breadth.SPECIFIC))
        for text, breadth in breadths.items()
    )
    return Route(parts=tuple(parts), by=MEANING if likeness else RULES)


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
    """Tell whether a question asks for an overview by its wording."""
    return _by_wording(question) == Breadth.BROAD


def asks_for_the_whole(question: str) -> bool:
    """Tell whether a question asks for an overview of its sources, and of no subject in them."""
    return is_overview(question) and not subject(question)


def _by_wording(question: str) -> Breadth | None:
    """Return how broad a question is by its wording, or None where the wording does not tell.

    A heading asks for the place where its subject is explained: it is specific.
    """
    text = " ".join(question[:_SCANNED].split())
    if _OVERVIEW.search(text) or (_OPEN.match(text) and content_words(text) and not subject(text)):
        return Breadth.BROAD
    return None if is_question(text) else Breadth.SPECIFIC


def _by_likeness(questions: Sequence[str], embed: Embed) -> dict[str, Breadth]:
    """Return how broad short questions are by their nearest examples; empty if the model fails."""
    short = [text for text in questions if len(content_words(text)) <= _MOST_WORDS]
    if not short:
        return {}
    try:
        examples = _embedded_examples(embed)
        vectors = embed([text[:_SCANNED] for text in short])
    except KnowledgeBaseError:
        return {}
    broad, specific = (  # the mean cosine with the nearest examples
        np.sort(vectors @ examples[breadth].T, axis=1)[:, -_NEIGHBOURS:].mean(axis=1)
        for breadth in EXAMPLES
    )
    return {
        text: Breadth.BROAD if is_broad else Breadth.SPECIFIC
        for text, is_broad in zip(short, broad > specific + _MARGIN, strict=True)
    }


def subject(question: str) -> str:
    """Return the words that name what an overview is of; empty where it is of the sources.

    “Give me an overview of how computers keep time” becomes “computers keep time”: the other words
    are near any text that sums something up.
    """
    words = question[:_SCANNED].split()
    own = [word for word in words if not all(map(_GENERAL.fullmatch, content_words(word)))]
    return " ".join(own).strip(f" {QUESTION_MARKS}!.,;:")


@lru_cache(maxsize=4)
def _embedded_examples(embed: Embed) -> dict[Breadth, NDArray[np.float32]]:
    return {breadth: embed(list(questions)) for breadth, questions in EXAMPLES.items()}
