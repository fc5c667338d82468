"""A question becomes those that are looked up, and how broad each is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from citations.answers.answer import Breadth, QuestionPart, Route
from citations.answers.question.breadth_examples import Embed, by_meaning
from citations.answers.question.breadth_rules import by_rules
from citations.answers.question.decomposition import split
from citations.answers.question.llm_router import told
from citations.answers.question.subject import about
from transcripts.errors import EmptyQuery
from transcripts.sanitize import clean

MAX_CHARACTERS: Final = 10_000  # of a question; the rest is not looked at
RULES, MEANING = "rules", "meaning"


def route(
    question: str,
    *,
    embed: Embed | None = None,
    ask: Callable[[str], str] | None = None,
    model: str = "language model",
) -> Route:
    """Split a question into those that can be looked up by themselves, at most ``MAX_PARTS``, and say how broad each is.

    ``ask`` sends a prompt to the language model ``model``; what it answers is only taken where it asks what the question asks, in the question's own
    words. Else rules decide, and where these know nothing, the nearest of questions whose breadth is known, with ``embed``. Pass the same callable each
    time, as the method of a model is: the known questions are embedded once for each. A model that fails is done without.

    Raises ``EmptyQuery`` for a question without a letter or digit.
    """
    question = clean(question, MAX_CHARACTERS)
    if not any(mark.isalnum() for mark in question):
        raise EmptyQuery("There is nothing to look for.", hint="Ask a question.")
    asked = told(question, ask) if ask else ()
    if asked:
        return Route(parts=tuple(_with_subject(part) for part in asked), by=model)
    parts = split(question)
    breadths = [by_rules(part) for part in parts]
    unsure = [part for part, breadth in zip(parts, breadths, strict=True) if breadth is None]
    nearest = by_meaning(unsure, embed) if embed else {}
    routed = tuple(
        QuestionPart(text=part, breadth=breadth or nearest.get(part, Breadth.SPECIFIC))
        for part, breadth in zip(parts, breadths, strict=True)
    )
    return Route(
        parts=tuple(_with_subject(part) for part in routed), by=MEANING if nearest else RULES
    )


def _with_subject(part: QuestionPart) -> QuestionPart:
    return replace(part, about=about(part.text)) if part.breadth == Breadth.BROAD else part
