"""An answer told while it is made: events that hold pieces of the page. What is begun is brought to its end, also when nobody listens any more."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Final

from django.db import connection
from django.http import StreamingHttpResponse
from django.template.loader import render_to_string

from citations.replies import Claimed, Event, Finished, Progress, Quote
from citations.views import answered
from transcripts.errors import KnowledgeBaseError
from transcripts.views import events

HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
STAGES: Final = {
    "route": "Reading the question",
    "retrieve": "Looking for passages",
    "rerank": "Reading the best passages again",
    "write": "Writing",
    "ground": "Checking every quote",
}
UNEXPECTED: Final = KnowledgeBaseError("Something unexpected went wrong.", hint="Ask again; the server's log says what it was.")

logger = logging.getLogger(__name__)


def tell(told: Iterator[Event], *, address: str, whole: Callable[[], str]) -> StreamingHttpResponse:
    """Answer with what is told, as server-sent events; ``address`` is the conversation's, ``whole`` draws the answer once it was kept."""
    return events.streamed(_heard(written(told, address=address, whole=whole)))


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
        yield _failed(UNEXPECTED)


def _piece(one: Event, known: dict[int, Quote]) -> Iterator[str]:
    if isinstance(one, Progress):
        yield events.event("stage", STAGES.get(one.stage, one.stage))
    elif isinstance(one, Claimed):
        known |= answered.by_number(one.quotes)
        yield events.event("claim", render_to_string("citations/_claim_told.html", {"said": answered.said(one.claim, known), "quotes": one.quotes}))
    elif isinstance(one, Finished):
        yield events.event("stage", "Done")


def _failed(error: KnowledgeBaseError) -> str:
    return events.event("failed", render_to_string("citations/_answer_failed.html", {"error": error}))


async def _heard(texts: Iterator[str]) -> AsyncIterator[str]:
    """Yield what a thread of its own writes: it goes on to the end when whoever listens has gone."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[str | None] = asyncio.Queue()

    def put(text: str | None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody listens
            loop.call_soon_threadsafe(heard.put_nowait, text)

    threading.Thread(target=_write, args=(texts, put), name="answer", daemon=True).start()
    while True:
        try:
            text = await asyncio.wait_for(heard.get(), HEARTBEAT_SECONDS)
        except TimeoutError:
            text = ": still here\n\n"
        if text is None:
            return
        yield text


def _write(texts: Iterator[str], put: Callable[[str | None], None]) -> None:
    try:
        for text in texts:
            put(text)
    finally:
        put(None)
        connection.close()
