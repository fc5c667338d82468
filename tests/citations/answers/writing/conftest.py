"""Passages to make answers of."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.answers.writing.excerpts import Read
from citations.answers.writing.extractive import Extract, extract
from citations.answers.writing.sentence_ranking import Rate
from citations.passages import Locator, PassageSource


def passage(
    text: str,
    *,
    number: int = 1,
    source: int = 1,
    start: int = 0,
    score: float = 0.5,
    part: int = 0,
    spans: Sequence[tuple[int, int]] = (),
    level: int = 0,
    heading: str = "",
) -> Evidence:
    """Make a passage of a source's text."""
    origin = PassageSource(id=UUID(int=source), kind="text", title="Notes")
    places = tuple(spans) or ((start, start + len(text)),)
    locator = Locator(span=(places[0][0], places[-1][1]))
    return Evidence(
        number=number,
        source=source,
        origin=origin,
        locator=locator,
        text=text,
        spans=places,
        digest="d",
        level=level,
        heading=heading,
        score=score,
        part=part,
    )


def numbered(texts: Iterable[str]) -> list[Evidence]:
    """Make a passage of each text, each of another source."""
    return [passage(text, number=number, source=number) for number, text in enumerate(texts, 1)]


def extract_part(
    *evidence: Evidence,
    question: str = "What does entropy measure?",
    about: str | None = None,
    rate: Rate | None = None,
    read: Read | None = None,
    earlier_quotes: Sequence[str] = (),
) -> Extract:
    """Return the extracts of a question; with ``about``, even if empty, of an overview."""
    part = (
        QuestionPart(text=question)
        if about is None
        else QuestionPart(text=question, breadth=Breadth.BROAD, about=about)
    )
    (result,) = extract([part], evidence, rate=rate, read=read, earlier_quotes=earlier_quotes)
    return result


def pick_texts(
    *evidence: Evidence,
    question: str = "What does entropy measure?",
    about: str | None = None,
    read: Read | None = None,
) -> list[str]:
    """Return the texts of ``found``."""
    return [
        pick.text
        for pick in extract_part(*evidence, question=question, about=about, read=read).picks
    ]
