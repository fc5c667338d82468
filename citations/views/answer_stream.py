"""An answer told while it is made: events that hold pieces of the page. What is begun is brought to its end, also when nobody listens any more."""

import logging
from collections.abc import Callable, Iterator

from django.http import StreamingHttpResponse
from django.template.loader import render_to_string

from citations.answers.answer import STAGE_LABELS, ClaimEvent, Event, FinalEvent, Progress, Quote
from citations.views import answer_context
from transcripts.errors import KnowledgeBaseError, UnexpectedError
from transcripts.views import events

logger = logging.getLogger(__name__)


def tell(told: Iterator[Event], *, address: str, whole: Callable[[], str]) -> StreamingHttpResponse:
    """Answer with what is told, as server-sent events; ``address`` is the conversation's, ``whole`` draws the answer once it was kept."""
    return events.streamed(events.apart(written(told, address=address, whole=whole)))


def written(told: Iterator[Event], *, address: str, whole: Callable[[], str]) -> Iterator[str]:
    """Write the events of an answer: ``begun``, ``stage`` and ``claim`` as they come, then ``answer`` or ``failed``."""
    yield events.event("begun", address)
    known: dict[int, Quote] = {}
    try:
        for one in told:
            yield from _piece(one, known)
        yield events.event("answer", whole())
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("A question was not answered")
        yield _failed(UnexpectedError())


def _piece(one: Event, known: dict[int, Quote]) -> Iterator[str]:
    if isinstance(one, Progress):
        yield events.event("stage", STAGE_LABELS.get(one.stage, one.stage))
    elif isinstance(one, ClaimEvent):
        known |= answer_context.by_number(one.quotes)
        yield events.event(
            "claim",
            render_to_string(
                "citations/_claim_told.html",
                {"said": answer_context.said(one.claim, known), "quotes": one.quotes},
            ),
        )
    elif isinstance(one, FinalEvent):
        yield events.event("stage", "Done")


def _failed(error: KnowledgeBaseError) -> str:
    return events.event(
        "failed", render_to_string("citations/_answer_failed.html", {"error": error})
    )
