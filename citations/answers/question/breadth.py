"""Whether a question wants one fact or an overview, and what the overview is of."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.answers.answer import Breadth
from citations.answers.question.words import any_of, content_words, is_question
from transcripts.errors import KnowledgeBaseError

Embed: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
"""Embed texts as vectors of length 1, shape (n, dimensions)."""

EXAMPLES: Final[dict[Breadth, tuple[str, ...]]] = {
    Breadth.BROAD: (
        "What is this about?",
        "Summarise what is said.",
        "What are the main ideas?",
        "Which topics come up?",
        "Give me an overview of the subject.",
        "What should I remember of it?",
        "How do the different speakers see it?",
        "Compare the approaches that are presented.",
        "What role does this subject play throughout?",
        "Describe the field and its most important questions.",
        "What are the challenges and opportunities?",
        "How has the thinking about it changed over time?",
    ),
    Breadth.SPECIFIC: (
        "What is the definition of this term?",
        "Why does this step work?",
        "What value does the parameter have?",
        "Which tool is used for it?",
        "What did he answer to that question?",
        "What causes this effect?",
        "What is the difference between these two?",
        "What example is given?",
        "How is this computed?",
        "What does the second step do?",
        "What was decided about the deadline?",
        "Which function is called first?",
    ),
}
MAX_CHARACTERS: Final = 1_000  # of a question, that are looked at
_NEIGHBOURS: Final = 3
_MARGIN: Final = 0.13  # cosine that overviews must be nearer by: most questions want a fact
_MOST_WORDS: Final = 5  # content words; a question with more is about something particular

_OVERVIEW: Final = re.compile(rf"(?<!\w){any_of('overviews')}(?!\w)", re.IGNORECASE)
_OPEN: Final = re.compile(rf"(?:{any_of('question_words', 'orders')}|discuss)(?!\w)", re.IGNORECASE)
_GENERAL: Final = re.compile(any_of("general"), re.IGNORECASE)


def by_wording(question: str) -> Breadth | None:
    """Return how broad a question is by its wording, or None where the wording does not tell.

    A heading asks for the place where its subject is explained: it is specific.
    """
    text = " ".join(question[:MAX_CHARACTERS].split())
    if _OVERVIEW.search(text) or (_OPEN.match(text) and content_words(text) and not subject(text)):
        return Breadth.BROAD
    return None if is_question(text) else Breadth.SPECIFIC


def by_likeness(questions: Sequence[str], embed: Embed) -> dict[str, Breadth]:
    """Return how broad short questions are by their nearest examples; empty if the model fails.

    The examples are embedded once for each ``embed``: pass the same callable each time.
    """
    short = [text for text in questions if len(content_words(text)) <= _MOST_WORDS]
    if not short:
        return {}
    try:
        examples = _embedded_examples(embed)
        vectors = embed([text[:MAX_CHARACTERS] for text in short])
    except KnowledgeBaseError:
        return {}
    broad, specific = (_likeness(vectors, examples[breadth]) for breadth in EXAMPLES)
    return {
        text: Breadth.BROAD if is_broad else Breadth.SPECIFIC
        for text, is_broad in zip(short, broad > specific + _MARGIN, strict=True)
    }


def subject(question: str) -> str:
    """Return the words that name what an overview is of; empty where it is of the sources.

    “Give me an overview of how computers keep time” becomes “computers keep time”: the other words
    are near any text that sums something up.
    """
    words = [word for word in question[:MAX_CHARACTERS].split() if _names(word)]
    return " ".join(words).strip(" ?？!.,;:")


def _names(word: str) -> bool:
    return any(not _GENERAL.fullmatch(token) for token in content_words(word))


def _likeness(vectors: NDArray[Any], examples: NDArray[Any]) -> NDArray[Any]:
    """Return the mean cosine of each vector with its nearest examples."""
    likeness: NDArray[Any] = np.sort(vectors @ examples.T, axis=1)[:, -_NEIGHBOURS:].mean(axis=1)
    return likeness


@lru_cache(maxsize=4)
def _embedded_examples(embed: Embed) -> dict[Breadth, NDArray[np.float32]]:
    return {breadth: embed(list(questions)) for breadth, questions in EXAMPLES.items()}
