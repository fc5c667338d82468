"""Answers as pages show them: whole, each claim with its quotes, or streamed as events."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from citations.answers.answer import (
    STAGE_LABELS,
    Breadth,
    Claim,
    ClaimEvent,
    Event,
    FinalEvent,
    Progress,
    Quote,
)
from citations.answers.question.wording import named, separated
from citations.models import Note
from citations.notebook.answers import AnswerRecord
from transcripts.errors import KnowledgeBaseError, UnexpectedError
from transcripts.translation import translated
from transcripts.views import events

logger = logging.getLogger(__name__)

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
    is_more: bool = False
    language: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartContext:
    """One of several questions and its claims, of which ``more`` are folded; none: not answered.

    An empty question has the claims whose question is not known.
    """

    question: str
    first: tuple[ClaimContext, ...] = ()
    more: tuple[ClaimContext, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """A stored answer; ``confidence`` as a word or empty; ``note`` is its saved note.

    Claims of ``more`` are folded beneath the others, and of several questions, each has its own
    claims in ``parts``.
    """

    answer: AnswerRecord
    claims: tuple[ClaimContext, ...]
    parts: tuple[PartContext, ...] = ()
    confidence: str = ""
    note: Note | None = None

    @property
    def first(self) -> list[ClaimContext]:
        return [claim for claim in self.claims if not claim.is_more]

    @property
    def more(self) -> list[ClaimContext]:
        return [claim for claim in self.claims if claim.is_more]


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
        is_more=claim.is_more,
        language=language,
        part=claim.part,
    )


def by_number(quotes: Sequence[Quote]) -> dict[int, Quote]:
    return {quote.number: quote for quote in quotes}


def _context(record: AnswerRecord, note: Note | None) -> AnswerContext:
    quotes = by_number(record.quotes)
    claims = tuple(
        claim_context(claim, quotes, gone=record.gone, is_quoted=not record.model)
        for claim in record.claims
    )
    share, confidence = record.confidence, ""
    if share is not None:
        confidence = next(name for minimum, name in CONFIDENCES if share >= minimum)
    return AnswerContext(
        answer=record, claims=claims, parts=_parts(record, claims), confidence=confidence, note=note
    )


def _parts(record: AnswerRecord, claims: Sequence[ClaimContext]) -> tuple[PartContext, ...]:
    """Return the claims by their questions; nothing where one was asked, or none is known.

    A question without claims is among them only where the note says that it has no answer: its
    claims may be withheld, or stand with another question.
    """
    parts = {part["text"]: part for part in record.trace.get("parts", ())}
    if len(parts) < 2 or not any(claim.part in parts for claim in claims):
        return ()
    contexts = [
        _part(record, claims, part)
        for text, part in parts.items()
        if any(claim.part == text for claim in claims) or named(text) in record.note
    ]
    unknown = tuple(claim for claim in claims if claim.part not in parts)
    rest = [PartContext(question="", first=unknown)] if unknown else []
    return (*rest, *contexts)


def _part(
    record: AnswerRecord, claims: Sequence[ClaimContext], part: Mapping[str, Any]
) -> PartContext:
    own = tuple(claim for claim in claims if claim.part == part["text"])
    # A language model's sentences are one text, and an overview is a list.
    is_whole = record.model or part["breadth"] == Breadth.BROAD
    count = len(own) if is_whole else 1
    return PartContext(question=separated(part["text"])[0], first=own[:count], more=own[count:])


def stream(
    steps: Iterator[Event], *, caller: Any, address: str, render: Callable[[], str]
) -> events.EventStream:
    """Stream answer events, even if the client disconnects; ``render`` the stored answer.

    ``address`` is the conversation's.
    """
    texts = encode(steps, address=address, render=render)
    return events.EventStream(events.apart(texts, caller=caller))


def encode(steps: Iterator[Event], *, address: str, render: Callable[[], str]) -> Iterator[str]:
    """Encode events: ``begun``, ``stage`` and ``claim``, then ``answer`` or ``failed``."""
    yield events.event("begun", address)
    quotes: dict[int, Quote] = {}
    part = ""
    try:
        for event_ in steps:
            yield from _encode_event(event_, quotes, part)
            part = event_.claim.part if isinstance(event_, ClaimEvent) else part
        yield events.event("answer", render())
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("Answering failed")
        yield _failed(UnexpectedError())


def _encode_event(event_: Event, quotes: dict[int, Quote], part: str) -> Iterator[str]:
    """Encode an event; a claim has its question as heading, unless ``part`` is the same one."""
    if isinstance(event_, Progress):
        label = STAGE_LABELS.get(event_.stage, event_.stage)
        yield events.event("stage", translated(label))
    elif isinstance(event_, ClaimEvent):
        quotes |= by_number(event_.quotes)
        own = event_.claim.part
        context = {
            "claim": claim_context(event_.claim, quotes),
            "quotes": event_.quotes,
            "heading": separated(own)[0] if own != part else "",
        }
        yield events.event("claim", render_to_string("citations/_claim_event.html", context))
    elif isinstance(event_, FinalEvent):
        yield events.event("stage", _("Done"))


def _failed(error: KnowledgeBaseError) -> str:
    html = render_to_string("citations/_answer_error.html", {"error": error})
    return events.event("failed", html)
