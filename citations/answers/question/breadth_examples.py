"""How broad a question is by those of known breadth that are nearest to it."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.answers.answer import Breadth
from citations.answers.question.words import MAX_RULED, content
from transcripts.errors import KnowledgeBaseError

Embed: TypeAlias = Callable[[list[str]], NDArray[np.float32]]
"""Texts become vectors of length 1, shape (n, dimensions)."""

KNOWN: Final[dict[Breadth, tuple[str, ...]]] = {
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
_NEIGHBOURS: Final = 3
_MARGIN: Final = 0.13  # by which the broad ones have to be nearer: a subject brings a question near them, too, and most questions want a fact
_MOST_WORDS: Final = 5  # a question with more that say something is about something particular


def by_meaning(parts: Sequence[str], embed: Embed) -> dict[str, Breadth]:
    """Say how broad questions are by the known ones that are nearest to them; nothing of long ones, nor where the model fails."""
    parts = [part for part in parts if len(content(part)) <= _MOST_WORDS]
    if not parts:
        return {}
    try:
        known = _known(embed)
        vectors = embed([part[:MAX_RULED] for part in parts])
    except KnowledgeBaseError:
        return {}
    broad, specific = (
        _nearness(vectors, known[breadth]) for breadth in (Breadth.BROAD, Breadth.SPECIFIC)
    )
    wide = broad > specific + _MARGIN
    return {
        part: Breadth.BROAD if is_broad else Breadth.SPECIFIC
        for part, is_broad in zip(parts, wide, strict=True)
    }


def _nearness(vectors: NDArray[Any], known: NDArray[Any]) -> NDArray[Any]:
    """Return the mean cosine of each vector and its nearest known ones."""
    nearest: NDArray[Any] = np.sort(vectors @ known.T, axis=1)[:, -_NEIGHBOURS:].mean(axis=1)
    return nearest


@lru_cache(maxsize=4)
def _known(embed: Embed) -> dict[Breadth, NDArray[np.float32]]:
    return {breadth: embed(list(questions)) for breadth, questions in KNOWN.items()}
