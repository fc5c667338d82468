"""The values of answers: what a question becomes on its way, and what every door returns."""

import re
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias
from uuid import UUID

from citations.passages import Locator, PassageSource, Stage


class Breadth(StrEnum):
    SPECIFIC = "specific"
    BROAD = "broad"


class AnswerOutcome(StrEnum):
    ANSWERED = "answered"
    PARTIAL = "partial"
    REFUSED = "refused"
    HELP = "help"  # nothing was asked


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    """A question that is looked up by itself.

    ``own`` is the text without the earlier question that it refers to; empty if it is all of it.
    ``about`` is the subject of an overview, in the question's words; empty for the sources as a
    whole.
    """

    text: str
    own: str = ""
    breadth: Breadth = Breadth.SPECIFIC
    about: str = ""

    @property
    def is_of_the_whole(self) -> bool:
        return self.breadth == Breadth.BROAD and not self.about


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The parts that are looked up; ``by`` is "rules" or a language model's name."""

    parts: tuple[QuestionPart, ...]
    by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that an answer may use.

    ``spans`` are [first, last) characters of its sentences in the source's text, whose digest is
    ``digest``.
    """

    number: int  # from 1
    source: int  # primary key
    origin: PassageSource
    locator: Locator
    text: str  # verbatim; a summary's sentences are joined by spaces
    spans: tuple[tuple[int, int], ...]
    digest: str
    level: int  # 0 a chunk, 1 paragraphs, 2 a section, 3 a document
    score: float  # 0 to 1
    relevance: float | None = None  # how likely it is on the subject, 0 to 1; None: not known
    heading: str = ""
    link: str = ""
    part: int = 0  # index of the part that it was found for

    def as_json(self) -> dict[str, Any]:
        """Return the fields to store and show: the location and the first 300 characters."""
        at = asdict(self.locator)
        del at["span"]
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
            **at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSet:
    """Passages numbered from 1; ``is_fused``: scored by a hybrid search without a cross-encoder."""

    evidence: tuple[Evidence, ...]
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    is_fused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingTask:
    """A question, and the passages to answer it from. ``earlier_quotes`` are not repeated."""

    full_question: str
    parts: tuple[QuestionPart, ...]
    evidence: EvidenceSet
    earlier_quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote that stands word for word in its source, with up to 100 characters around it."""

    number: int  # from 1, in the answer
    source: int  # primary key
    origin: PassageSource
    locator: Locator  # exactly the quote: its characters, its milliseconds or pages
    text: str  # as it stands in the source
    prefix: str
    suffix: str
    digest: str
    heading: str = ""
    speaker: str = ""  # who says it, where captions name speakers
    link: str = ""  # the path of this site's page that opens exactly there
    id: UUID | None = None  # of the stored citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence or two of an answer, its quotes' numbers, and its heading in an overview.

    ``is_more``: another place of the sources, beside those that are shown at once. ``heading`` is
    the one of several questions that it answers; empty: there is one, or it is not known.
    ``answer`` is the sentence of the text that answers; empty: all of it does.
    """

    text: str
    label: str = ""
    citations: tuple[int, ...] = ()
    is_supported: bool = True
    is_more: bool = False
    heading: str = ""
    answer: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the fields to store, which every door returns, too."""
        return asdict(self) | {"citations": list(self.citations)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """One of several questions, as the heading of its claims; no claims: it is not answered.

    ``confidence`` is the calibrated probability that its first citation is right, 0 to 1.
    """

    heading: str
    is_answered: bool
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer as it was written.

    ``missing`` are the parts without an answer, ``is_cut_off`` tells that the language model broke
    off, and ``repeats`` that an earlier answer has some of the quotes. ``signs`` are those of each
    part. ``remarks`` stand with the answer, ``notes`` in its trace. ``confidences`` are those of
    several questions, by heading; ``confidence`` is that of a single one.
    """

    claims: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signs: tuple[Mapping[str, float], ...] = ()
    confidence: float | None = None
    confidences: Mapping[str, float] = field(default_factory=dict)
    is_cut_off: bool = False
    repeats: bool = False
    model: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)


class Preparation(StrEnum):
    """The work on a source that is left before a search finds all of it."""

    FETCHING = "fetching"
    READING = "reading"
    INDEXING = "indexing"
    EMBEDDING = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadySource:
    """A source that was not ready when an answer was given; ``source_id``: once it is stored."""

    title: str
    state: Preparation
    collection: int  # primary key
    source_id: UUID | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields to store."""
        return asdict(self) | {"source_id": str(self.source_id) if self.source_id else None}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuote:
    """The verdict on a quote that an answer wanted to cite."""

    quote: str
    verdict: str  # of ``quotes.matching.Verdict``
    evidence: int = 0  # number of the passage that was named, or 0
    number: int = 0  # of its citation, or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTrace:
    """How an answer was made.

    ``tokens`` are those of the language model by ``input``, ``cached``, ``stored`` and ``output``;
    ``signs`` are by part.
    """

    route: Route
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[CheckedQuote, ...] = ()
    stages: tuple[Stage, ...] = ()
    tokens: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signs: tuple[Mapping[str, float], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields to store and show."""
        return {
            "parts": [{"text": part.text, "breadth": part.breadth} for part in self.route.parts],
            "by": self.route.by,
            "evidence": [passage.as_json() for passage in self.evidence],
            "checks": [asdict(check) for check in self.checks],
            "stages": [
                asdict(stage) | {"milliseconds": round(stage.milliseconds, 2)}
                for stage in self.stages
            ],
            "tokens": dict(self.tokens),
            "notes": list(self.notes),
            "signs": [
                {name: round(value, 4) for name, value in signs.items()} for signs in self.signs
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer. A refusal has no claims, but a ``note`` and the ``nearest`` passages; help only a
    ``note``. Only where several questions were asked does it have ``parts``.
    """

    question: str
    full_question: str  # the question as it was looked up
    outcome: AnswerOutcome
    trace: AnswerTrace
    claims: tuple[Claim, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    quotes: tuple[Quote, ...] = ()
    nearest: tuple[Evidence, ...] = ()
    note: str = ""
    unready: tuple[UnreadySource, ...] = ()
    confidence: float | None = None  # 0 to 1, as calibrated; that of several questions is theirs
    model: str = ""  # empty: the answer is the sources' sentences
    milliseconds: float = 0.0


MORE: Final = "More from the sources"  # the heading of the claims that are folded


def answer_spans(text: str, answer: str) -> list[tuple[int, int]]:
    """Return the characters [first, last) of a claim's answer in its text or quote, if any."""
    words = r"\s+".join(map(re.escape, answer.split()))
    match = re.search(words, text) if words else None
    return [match.span()] if match else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A stage begins: "route", "retrieve", "rerank", "write", "ground"."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvent:
    """A checked claim, with those of its quotes that no earlier claim has."""

    claim: Claim
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalEvent:
    """The whole answer; ``answer`` is its id in a conversation."""

    reply: Reply
    answer: UUID | None = None


Event: TypeAlias = Progress | ClaimEvent | FinalEvent
"""The events of an answer, in this order."""

Writing: TypeAlias = Generator[Event, None, Draft]
GROUND: Final = "ground"  # the stage of writing
