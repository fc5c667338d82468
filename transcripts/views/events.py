"""Server-sent events: a fragment is sent again whenever it has changed."""

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Final

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from django.http import StreamingHttpResponse

from transcripts.errors import NotFound

POLL_SECONDS: Final = 0.5
HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
LONGEST_SECONDS: Final = 120.0  # then the browser connects anew, and its rights are looked at again

_TOKEN: Final = re.compile(
    r'name="csrfmiddlewaretoken" value="[^"]*"'
)  # is written differently each time

_ended: Final = threading.Event()

Render = Callable[[], tuple[str, bool]]


def stream(name: str, render: Render, *, every: float = POLL_SECONDS) -> StreamingHttpResponse:
    """Stream what ``render`` returns (the HTML, and whether it is final) as events; a final one is followed by the event ``finished``.

    It is asked ``every`` so many seconds.
    """
    return streamed(_events(name, render, every))


def streamed(parts: AsyncIterator[str]) -> StreamingHttpResponse:
    """Answer with events that are written already."""
    response = StreamingHttpResponse(parts, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def apart(texts: Iterator[str]) -> AsyncIterator[str]:
    """Yield what a thread of its own writes: it goes on to the end when whoever listens has gone. A sign of life comes when nothing has come for a while."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[str | None] = asyncio.Queue()

    def put(text: str | None) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody listens
            loop.call_soon_threadsafe(heard.put_nowait, text)

    threading.Thread(target=_write, args=(texts, put), name="telling", daemon=True).start()
    while not _ended.is_set():
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
        connection.close()  # which is this thread's own


async def _events(name: str, render: Render, every: float) -> AsyncIterator[str]:
    ends = time.monotonic() + LONGEST_SECONDS
    sent, sent_at = "", 0.0
    while time.monotonic() < ends and not _ended.is_set():
        html, is_final = await sync_to_async(_without_connection)(render)
        said = _TOKEN.sub("", html)
        if html and said != sent:
            sent, sent_at = said, time.monotonic()
            yield event(name, html)
        elif time.monotonic() - sent_at > HEARTBEAT_SECONDS:
            sent_at = time.monotonic()
            yield ": still here\n\n"
        if is_final:
            yield event("finished", "finished")
            return
        await asyncio.sleep(every)


def end_all() -> None:
    """Let every stream of this process end within half a second or so: the web server ends, and would wait for them."""
    _ended.set()


def event(name: str, data: str) -> str:
    """Write one event; every line of the data becomes a field of its own, so that none can start another event."""
    fields = "".join(f"data: {line}\n" for line in data.splitlines())
    return f"event: {name}\n{fields}\n"


def _without_connection(render: Render) -> tuple[str, bool]:
    try:
        return render()
    except NotFound:
        return "", True  # deleted, or out of reach, since the stream began
    finally:
        close_old_connections()  # a stream that waits must not keep a connection from others
