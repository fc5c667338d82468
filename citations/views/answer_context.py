"""Answers as pages show them: each claim beside the quotes that it stands on, whether they are just being told or were kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from citations.answers.answer import Claim, Quote
from citations.models import Note
from citations.notebook.answers import AnswerRecord

# How an answer's confidence is called, from which share on.
CONFIDENCES: Final = ((0.75, "high"), (0.45, "middling"), (0.0, "low"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimContext:
    """A claim and what it stands on; ``gone`` are numbers of sources that were deleted; ``language`` of one that is quoted word for word."""

    text: str
    label: str = ""
    quotes: tuple[Quote, ...] = ()
    gone: tuple[int, ...] = ()
    is_supported: bool = True
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An answer that was kept; ``confidence`` in a word, empty where none is known; ``note`` that it is saved as."""

    answer: AnswerRecord
    claims: tuple[ClaimContext, ...]
    confidence: str = ""
    note: Note | None = None


def shown(records: Iterable[AnswerRecord], *, notes: Mapping[UUID, Note]) -> list[Shown]:
    """Return answers as they are shown, with the ``notes`` that they are saved as, by their ids."""
    return [_shown(record, notes.get(record.id)) for record in records]


def said(
    claim: Claim, quotes: Mapping[int, Quote], *, gone: Sequence[int] = (), is_quoted: bool = False
) -> ClaimContext:
    """Return a claim with its quotes out of those that were told until now, by number; ``is_quoted`` says that answers are the sources' own sentences."""
    found = tuple(quotes[number] for number in claim.citations if number in quotes)
    language = found[0].origin.language if found and is_quoted else ""
    lost = tuple(number for number in claim.citations if number in gone)
    return ClaimContext(
        text=claim.text,
        label=claim.label,
        quotes=found,
        gone=lost,
        is_supported=claim.is_supported,
        language=language,
    )


def by_number(quotes: Sequence[Quote]) -> dict[int, Quote]:
    """Return quotes by their numbers."""
    return {one.number: one for one in quotes}


def _shown(record: AnswerRecord, note: Note | None) -> Shown:
    quotes = by_number(record.quotes)
    claims = tuple(
        said(claim, quotes, gone=record.gone, is_quoted=not record.model) for claim in record.claims
    )
    return Shown(answer=record, claims=claims, confidence=_named(record.confidence), note=note)


def _named(share: float | None) -> str:
    return "" if share is None else next(name for least, name in CONFIDENCES if share >= least)
