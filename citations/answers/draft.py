"""What an answer is written from, and the answer as it was written."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from citations.answers.answer import Claim, Event, QuestionPart
from citations.answers.evidence import EvidenceSet

GROUND: Final = "ground"  # the stage of writing


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingTask:
    """A question, and the passages to answer it from. ``earlier_quotes`` are not repeated."""

    full_question: str
    parts: tuple[QuestionPart, ...]
    evidence: EvidenceSet
    earlier_quotes: tuple[str, ...] = ()


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


Writing: TypeAlias = Generator[Event, None, Draft]
