"""Answers as pages show them: each claim with its quotes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from citations.answers.answer import Claim, Quote
from citations.models import Note
from citations.notebook.answers import AnswerRecord

# The least share for each name of a confidence.
CONFIDENCES: Final = ((0.75, "high"), (0.45, "middling"), (0.0, "low"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """A claim with its quotes.

    ``gone`` are numbers whose sources were deleted; ``language`` is set for verbatim claims.
    """

    text: str
    label: str = ""
    quotes: tuple[Quote, ...] = ()
    gone: tuple[int, ...] = ()
    is_supported: bool = True
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """A stored answer; ``confidence`` as a word or empty; ``note`` is its saved note."""

    answer: AnswerRecord
    claims: tuple[ClaimContext, ...]
    confidence: str = ""
    note: Note | None = None


def answer_contexts(
    records: Iterable[AnswerRecord], *, notes: Mapping[UUID, Note]
) -> list[AnswerContext]:
    """Return answers as shown, with their saved ``notes`` by answer id."""
    return [_context(record, notes.get(record.id)) for record in records]


def claim_context(
    claim: Claim, quotes: Mapping[int, Quote], *, gone: Sequence[int] = (), is_quoted: bool = False
) -> ClaimContext:
    """Return a claim with its quotes; ``is_quoted``: answers are extractive."""
    cited = tuple(quotes[number] for number in claim.citations if number in quotes)
    language = cited[0].origin.language if cited and is_quoted else ""
    deleted = tuple(number for number in claim.citations if number in gone)
    return ClaimContext(
        text=claim.text,
        label=claim.label,
        quotes=cited,
        gone=deleted,
        is_supported=claim.is_supported,
        language=language,
    )


def by_number(quotes: Sequence[Quote]) -> dict[int, Quote]:
    return {quote.number: quote for quote in quotes}


def _context(record: AnswerRecord, note: Note | None) -> AnswerContext:
    quotes = by_number(record.quotes)
    claims = tuple(
        claim_context(claim, quotes, gone=record.gone, is_quoted=not record.model)
        for claim in record.claims
    )
    confidence = _confidence(record.confidence)
    return AnswerContext(answer=record, claims=claims, confidence=confidence, note=note)


def _confidence(share: float | None) -> str:
    return "" if share is None else next(name for minimum, name in CONFIDENCES if share >= minimum)
