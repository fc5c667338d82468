"""Answers as pages show them: whole, each claim with its quotes, or streamed as events."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from citations.answers.answer import Claim, ClaimEvent, Event, FinalEvent, Progress, Quote
from citations.answers.library_notes import unready_note
from citations.answers.sections import by_question
from citations.models import Note
from citations.notebook import notes
from citations.notebook.answers import AnswerRecord
from citations.stages import stage_name
from transcripts.core.errors import KnowledgeBaseError, UnexpectedError
from transcripts.core.scope import Scope
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
    answer: str = ""

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


def answer_contexts(scope: Scope, records: Sequence[AnswerRecord]) -> list[AnswerContext]:
    """Return answers as shown, with the notes that they are saved as."""
    saved = notes.saved(scope, [record.id for record in records])
    return [_context(record, saved.get(record.id)) for record in records]


def claim_context(
    claim: Claim, quotes: Mapping[int, Quote], *, gone: Sequence[int] = (), is_quoted: bool = False
) -> ClaimContext:
    """Return a claim with its quotes; ``is_quoted``: answers are extractive."""
    cited = tuple(quotes[number] for number in claim.citations if number in quotes)
    return ClaimContext(
        text=claim.text,
        label=claim.label,
        quotes=cited,
        gone=tuple(number for number in claim.citations if number in gone),
        is_supported=claim.is_supported,
        is_more=claim.is_more,
        language=cited[0].origin.language if cited and is_quoted else "",
        heading=claim.heading,
        answer=claim.answer,
    )


def _context(record: AnswerRecord, note: Note | None) -> AnswerContext:
    quotes = {quote.number: quote for quote in record.quotes}
    claims = tuple(
        claim_context(claim, quotes, gone=record.gone, is_quoted=claim.is_more or not record.model)
        for claim in record.claims
    )
    return AnswerContext(
        answer=record,
        sections=tuple(
            SectionContext(
                heading=section.heading,
                first=tuple(claim for claim in section.claims if not claim.is_more),
                more=tuple(claim for claim in section.claims if claim.is_more),
                confidence=section.confidence,
            )
            for section in by_question(claims, record.parts)
        ),
        unready=unready_note(record.unready),
        note=note,
    )


def stream(
    steps: Iterator[Event], *, caller: Caller, address: str, render: Callable[[], str]
) -> events.EventStream:
    """Stream answer events, even if the client disconnects; ``render`` the stored answer.

    ``address`` is the conversation's.
    """
    return events.EventStream(
        events.apart(encode(steps, address=address, render=render), caller=caller)
    )


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
        quotes |= {quote.number: quote for quote in event_.quotes}
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
