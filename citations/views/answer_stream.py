"""Stream an answer as events with HTML fragments.

Answering finishes even if the client disconnects.
"""

import logging
from collections.abc import Callable, Iterator

from django.http import StreamingHttpResponse
from django.template.loader import render_to_string

from citations.answers.answer import STAGE_LABELS, ClaimEvent, Event, FinalEvent, Progress, Quote
from citations.views import answer_context
from transcripts.errors import KnowledgeBaseError, UnexpectedError
from transcripts.views import events

logger = logging.getLogger(__name__)


def stream(
    steps: Iterator[Event], *, address: str, render: Callable[[], str]
) -> StreamingHttpResponse:
    """Stream answer events; ``address`` is the conversation's.

    ``render_answer`` renders the stored answer.
    """
    return events.streamed(events.apart(encode(steps, address=address, render=render)))


def encode(steps: Iterator[Event], *, address: str, render: Callable[[], str]) -> Iterator[str]:
    """Encode events: ``begun``, ``stage`` and ``claim``, then ``answer`` or ``failed``."""
    yield events.event("begun", address)
    quotes: dict[int, Quote] = {}
    try:
        for event_ in steps:
            yield from _encode_event(event_, quotes)
        yield events.event("answer", render())
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("Answering failed")
        yield _failed(UnexpectedError())


def _encode_event(event_: Event, quotes: dict[int, Quote]) -> Iterator[str]:
    if isinstance(event_, Progress):
        yield events.event("stage", STAGE_LABELS.get(event_.stage, event_.stage))
    elif isinstance(event_, ClaimEvent):
        quotes |= answer_context.by_number(event_.quotes)
        yield events.event(
            "claim",
            render_to_string(
                "citations/_claim_event.html",
                {
                    "claim": answer_context.claim_context(event_.claim, quotes),
                    "quotes": event_.quotes,
                },
            ),
        )
    elif isinstance(event_, FinalEvent):
        yield events.event("stage", "Done")


def _failed(error: KnowledgeBaseError) -> str:
    html = render_to_string("citations/_answer_error.html", {"error": error})
    return events.event("failed", html)
