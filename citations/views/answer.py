"""Answers as pages show them: whole, each claim with its quotes, or streamed as events."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from citations.answers.answer import Claim, ClaimEvent, Event, FinalEvent, Progress, Quote
from citations.answers.library_notes import unready_note
from citations.answers.sections import Section, by_question
from citations.models import Note
from citations.notebook.answers import AnswerRecord
from citations.stages import stage_name
from transcripts.core.errors import KnowledgeBaseError, UnexpectedError
from transcripts.core.views import events
from transcripts.core.views.requests import Caller
from transcripts.text.tokenizer import tokenize

logger = logging.getLogger(__name__)


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
    heading: str = ""

    @property
    def quotation(self) -> Quote | None:
        """The only quote of a claim that is this quote, word for word."""
        if len(self.quotes) != 1 or self.gone or not self.is_supported:
            return None
        words, quoted = (tokenize(text, shortest=1) for text in (self.text, self.quotes[0].text))
        return self.quotes[0] if words == quoted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionContext:
    """One of several questions and its claims, of which ``more`` are folded; none: not answered.

    The heading is empty where one question was asked, or which one is answered is not known.
    """

    heading: str
    first: tuple[ClaimContext, ...] = ()
    more: tuple[ClaimContext, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """A stored answer; ``note`` is its saved note.

    ``unready`` says which sources were not ready when it was given.
    """

    answer: AnswerRecord
    sections: tuple[SectionContext, ...] = ()
    unready: str = ""
    note: Note | None = None

    @property
    def is_quoted(self) -> bool:
        """Whether each claim is a quotation, with its source beneath it."""
        claims = [claim for section in self.sections for claim in (*section.first, *section.more)]
        return bool(claims) and all(claim.quotation for claim in claims)


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
        heading=claim.heading,
    )


def by_number(quotes: Sequence[Quote]) -> dict[int, Quote]:
    return {quote.number: quote for quote in quotes}


def _context(record: AnswerRecord, note: Note | None) -> AnswerContext:
    quotes = by_number(record.quotes)
    claims = tuple(
        claim_context(claim, quotes, gone=record.gone, is_quoted=claim.is_more or not record.model)
        for claim in record.claims
    )
    return AnswerContext(
        answer=record,
        sections=tuple(map(_section, by_question(claims, record.parts))),
        unready=unready_note(record.unready),
        note=note,
    )


def _section(section: Section[ClaimContext]) -> SectionContext:
    return SectionContext(
        heading=section.heading,
        first=tuple(claim for claim in section.claims if not claim.is_more),
        more=tuple(claim for claim in section.claims if claim.is_more),
        confidence=section.confidence,
    )


def stream(
    steps: Iterator[Event], *, caller: Caller, address: str, render: Callable[[], str]
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
    headings: set[str] = set()
    try:
        for event_ in steps:
            yield from _encode_event(event_, quotes, headings)
        yield events.event("answer", render())
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("Answering failed")
        yield _failed(UnexpectedError())


def _encode_event(event_: Event, quotes: dict[int, Quote], headings: set[str]) -> Iterator[str]:
    """Encode an event, and note its quotes and heading: the first claim below a heading has it."""
    if isinstance(event_, Progress):
        yield events.event("stage", stage_name(event_.stage))
    elif isinstance(event_, ClaimEvent):
        quotes |= by_number(event_.quotes)
        own = event_.claim.heading
        context = {
            "claim": claim_context(event_.claim, quotes),
            "quotes": event_.quotes,
            "heading": "" if own in headings else own,
        }
        headings.add(own)
        yield events.event("claim", render_to_string("citations/_claim_event.html", context))
    elif isinstance(event_, FinalEvent):
        yield events.event("stage", _("Done"))


def _failed(error: KnowledgeBaseError) -> str:
    html = render_to_string("citations/_answer_error.html", {"error": error})
    return events.event("failed", html)
