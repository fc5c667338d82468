"""Server-sent events: a fragment is sent whenever it changes."""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Final

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections, connection
from django.http import StreamingHttpResponse

from transcripts.errors import NotFound

POLL_SECONDS: Final = 0.5
HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
LONGEST_SECONDS: Final = 120.0  # then the browser reconnects, and its rights are checked again

# The token differs in each rendering.
_TOKEN: Final = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')

_ended: Final = threading.Event()

Render = Callable[[], tuple[str, bool]]


def stream(name: str, render: Render, *, every: float = POLL_SECONDS) -> StreamingHttpResponse:
    """Stream HTML that changes; call ``render`` every so many seconds.

    ``render`` returns the HTML and whether it is final, after which ``finished`` is sent.
    """
    return streamed(_events(name, render, every))


def streamed(parts: AsyncIterator[str]) -> StreamingHttpResponse:
    """Return a response that streams events that are already written."""
    response = StreamingHttpResponse(parts, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def apart(texts: Iterator[str]) -> AsyncIterator[str]:
    """Yield texts that a thread of its own produces, and heartbeats while it produces none.

    The thread runs to the end even if the client disconnects.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def put(text: str | None) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(queue.put_nowait, text)

    threading.Thread(target=_write, args=(texts, put), name="event-texts", daemon=True).start()
    while not _ended.is_set():
        try:
            text = await asyncio.wait_for(queue.get(), HEARTBEAT_SECONDS)
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
        connection.close()  # of this thread


async def _events(name: str, render: Render, every: float) -> AsyncIterator[str]:
    ends = time.monotonic() + LONGEST_SECONDS
    sent, sent_at = "", 0.0
    while time.monotonic() < ends and not _ended.is_set():
        html, is_final = await sync_to_async(_without_connection)(render)
        content = _TOKEN.sub("", html)
        if html and content != sent:
            sent, sent_at = content, time.monotonic()
            yield event(name, html)
        elif time.monotonic() - sent_at > HEARTBEAT_SECONDS:
            sent_at = time.monotonic()
            yield ": still here\n\n"
        if is_final:
            yield event("finished", "finished")
            return
        await asyncio.sleep(every)


def end_all() -> None:
    """End every stream of this process, for which the web server would wait when it stops."""
    _ended.set()


def event(name: str, data: str) -> str:
    """Format an event. Each line of the data is a field, so that none starts another event."""
    fields = "".join(f"data: {line}\n" for line in data.splitlines())
    return f"event: {name}\n{fields}\n"


def _without_connection(render: Render) -> tuple[str, bool]:
    try:
        return render()
    except NotFound:
        return "", True  # deleted or no longer visible
    except (OperationalError, InterfaceError):
        return "", False  # the database is away for a moment
    finally:
        close_old_connections()  # a waiting stream needs no connection
