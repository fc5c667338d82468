"""Answers as values: what a question becomes on its way, and what travels to every door. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias
from uuid import UUID

from citations.passages import Locator, PassageSource, Stage


class Breadth(StrEnum):
    """What kind of answer a question wants: one fact, or an overview."""

    SPECIFIC = "specific"
    BROAD = "broad"


class AnswerOutcome(StrEnum):
    """What became of a question."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    """A question that is looked up by itself. ``about``: what an overview is wanted of, in the question's words; empty where it is the sources as a whole."""

    text: str
    breadth: Breadth = Breadth.SPECIFIC
    about: str = ""

    @property
    def is_of_the_whole(self) -> bool:
        """Whether an overview of the sources as a whole is wanted."""
        return self.breadth == Breadth.BROAD and not self.about


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Which questions are looked up, and by what that was decided: "rules", "meaning" or a language model's name."""

    parts: tuple[QuestionPart, ...]
    by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that an answer may be made from. ``spans`` are [first, last) characters of its sentences in the source's text, whose digest is ``digest``."""

    number: int  # from 1, as a language model is told it
    source: int  # primary key
    origin: PassageSource
    locator: Locator
    text: str  # verbatim; a summary's sentences are joined by blanks
    spans: tuple[tuple[int, int], ...]
    digest: str
    level: int  # 0 a chunk, 1 paragraphs, 2 a section, 3 a document
    score: float  # 0 to 1
    heading: str = ""
    link: str = ""
    part: int = 0  # the question that it was found for, among the route's parts

    def as_json(self) -> dict[str, Any]:
        """Return it to be stored and shown: by its place and beginning, not in full."""
        return {
            "number": self.number,
            "source": str(self.origin.id),
            "title": self.origin.title,
            "level": self.level,
            "score": round(self.score, 4),
            "heading": self.heading,
            "text": self.text[:300],
            "link": self.link,
            "part": self.part,
            "start": self.locator.start,
            "page": self.locator.page,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote that was found word for word in its source. ``before`` and ``behind`` are the characters around it, at most 100 each."""

    number: int  # from 1, in the answer
    source: int  # primary key
    origin: PassageSource
    locator: Locator  # exactly the quote: its characters, its milliseconds or pages
    text: str  # as it stands in the source
    prefix: str
    suffix: str
    digest: str
    heading: str = ""
    link: str = ""  # the path of this site's page that opens exactly there
    id: UUID | None = None  # of the quotation that is stored of it; None: none is


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence or two of an answer, and the numbers of the quotes that it stands on. ``label``: the heading or title that it tells of, in an overview."""

    text: str
    label: str = ""
    citations: tuple[int, ...] = ()
    is_supported: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return it to be stored, and as every door gives it."""
        return {
            "label": self.label,
            "text": self.text,
            "citations": list(self.citations),
            "is_supported": self.is_supported,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuote:
    """What became of one quote that an answer wanted to cite."""

    quote: str
    verdict: str  # of ``grounding.Verdict``
    evidence: int = 0  # the number of the passage that was named; 0: none
    number: int = 0  # of the citation that it became; 0: none


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTrace:
    """How an answer was made. ``tokens``: asked, cached, stored, answered. ``signs``: of each part, what speaks for an answer being there, by name."""

    route: Route
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[CheckedQuote, ...] = ()
    stages: tuple[Stage, ...] = ()
    tokens: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signs: tuple[Mapping[str, float], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return it to be stored and shown; passages by their place and beginning, not in full."""
        return {
            "parts": [{"text": part.text, "breadth": part.breadth} for part in self.route.parts],
            "by": self.route.by,
            "evidence": [one.as_json() for one in self.evidence],
            "checks": [
                {
                    "quote": one.quote,
                    "verdict": one.verdict,
                    "evidence": one.evidence,
                    "number": one.number,
                }
                for one in self.checks
            ],
            "stages": [
                {
                    "name": one.name,
                    "milliseconds": round(one.milliseconds, 2),
                    "count": one.count,
                    "note": one.note,
                }
                for one in self.stages
            ],
            "tokens": dict(self.tokens),
            "notes": list(self.notes),
            "signs": [{name: round(value, 4) for name, value in one.items()} for one in self.signs],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer. A refusal has no claims; its ``note`` says what was not found, and ``nearest`` has the passages that come nearest."""

    question: str
    asked_as: str  # the question by itself
    outcome: AnswerOutcome
    trace: AnswerTrace
    claims: tuple[Claim, ...] = ()
    quotes: tuple[Quote, ...] = ()
    nearest: tuple[Evidence, ...] = ()
    note: str = ""
    confidence: float | None = None  # 0 to 1, as calibrated
    model: str = ""  # empty: made of the sources' own sentences
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A stage has begun: "route", "retrieve", "rerank", "write", "ground"."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvent:
    """A claim of the answer, checked, with those of its quotes that were not told before."""

    claim: Claim
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalEvent:
    """The whole answer. ``answer`` is its id where it is kept in a conversation."""

    reply: Reply
    answer: UUID | None = None


Event: TypeAlias = Progress | ClaimEvent | FinalEvent
"""What is told while a question is answered, in this order; nothing is told that was not checked."""
