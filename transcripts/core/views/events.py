"""Server-sent events: a fragment is sent whenever it changes.

A stream that waits costs no thread and no query. What streams read, they read one after another in
one thread of the process: ``kbsite.middleware.event_streams`` runs them outside the thread of their
request.
"""

import asyncio
import re
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import StreamingHttpResponse
from django.utils import translation

from transcripts.core import announcements, locks
from transcripts.core.announcements import ACCESS, HEARTBEAT_SECONDS
from transcripts.core.errors import NotFound, Throttled
from transcripts.core.scope import Scope
from transcripts.core.views.requests import Caller

IDLE_SECONDS: Final = 300.0  # between two renderings without news: times are relative
BUSY_SECONDS: Final = 15.0  # and while work is under way
RETRY_SECONDS: Final = 15  # for a user with too many streams
POLL_SECONDS: Final = 2.0  # and while no news can be heard
SHARE: Final = 0.2  # of the time of a thread, in which all streams of a process render
HEARTBEAT: Final = ": still here\n\n"
DATABASE_ERRORS: Final = (OperationalError, InterfaceError)
TEXT: Final = "text"  # the topic of a thread that writes texts

# The token differs in each rendering.
_TOKEN: Final = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')

_open: Counter[int] = Counter()  # streams, by user


@dataclass(frozen=True, slots=True)
class Fragment:
    """HTML as it is now. ``is_final``: it changes no more; ``is_busy``: work is under way."""

    html: str = ""
    is_final: bool = False
    is_busy: bool = False


Render = Callable[[Scope], Fragment]


class EventStream(StreamingHttpResponse):
    """A response of events that are already written."""

    def __init__(self, parts: AsyncIterator[str]) -> None:
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(parts, content_type="text/event-stream", headers=headers)


def event(name: str, data: str) -> str:
    """Format an event. Each line of the data is a field, so that none starts another event."""
    fields = "".join(f"data: {line}\n" for line in data.splitlines())
    return f"event: {name}\n{fields}\n"


# How many streams a user has


def require_free(caller: Caller) -> None:
    """Raise ``Throttled`` if a user has as many streams in this process as one may have."""
    count = _open[caller.user.pk]  # reads a lazy caller, which the event loop must not
    most = int(settings.STREAMS_AT_ONCE)  # 0: any number
    if most and count >= most:
        raise Throttled(
            f"You already follow {most} pages or lectures.",
            hint="Close some of the pages or programs that do.",
            retry_after=RETRY_SECONDS,
        )


@contextmanager
def counted(caller: Caller) -> Iterator[None]:
    """Count a stream of a user during the block."""
    user = caller.user.pk
    _open[user] += 1
    try:
        yield
    finally:
        _open[user] -= 1
        if not _open[user]:
            del _open[user]


# Fragments


def stream(
    name: str, render: Render, *, caller: Caller, topics: Sequence[str], pause: float = 0.5
) -> EventStream:
    """Stream HTML as one of the topics is announced, at most once in ``pause`` seconds.

    ``render`` receives what the caller may read by then. ``finished`` follows the final fragment.
    The stream ends when the caller is signed out. Raises ``Throttled``.
    """
    require_free(caller)
    render = translation.override(translation.get_language())(render)  # in another thread
    return EventStream(_fragments(name, render, caller, topics, pause))


async def _fragments(
    name: str, render: Render, caller: Caller, topics: Sequence[str], pause: float
) -> AsyncIterator[str]:
    previous, now = "", Fragment()

    def every() -> float:
        return BUSY_SECONDS if now.is_busy else IDLE_SECONDS

    news = announcements.news(*topics, ACCESS, every=every, poll=POLL_SECONDS)
    with counted(caller):
        async with aclosing(news):
            async for heard in news:
                now = await _rendered(render, caller) if heard else now
                content = _TOKEN.sub("", now.html)
                if content and content != previous:
                    previous = content
                    yield event(name, now.html)
                elif not heard:
                    yield HEARTBEAT
                if now.is_final:
                    yield event("finished", "finished")
                    return
                await asyncio.sleep(pause)


async def _rendered(render: Render, caller: Caller) -> Fragment:
    """Render when it is this stream's turn; leave the others' requests their time."""

    def render_now() -> Fragment:
        try:
            fresh = caller.renewed()
            return render(fresh.scope) if fresh else Fragment(is_final=True)
        except NotFound:
            return Fragment(is_final=True)  # deleted or no longer visible
        except DATABASE_ERRORS:
            return Fragment(is_busy=True)  # the database is away for a moment
        finally:
            locks.release_connection()

    turn, loop = announcements.current_listener().turn, asyncio.get_running_loop()
    await turn.acquire()
    started = loop.time()
    try:
        return await sync_to_async(render_now)()
    finally:
        loop.call_later((loop.time() - started) * (1 / SHARE - 1), turn.release)


# Texts that a thread writes


def apart(texts: Iterator[str], *, caller: Caller) -> AsyncIterator[str]:
    """Yield texts that a thread of its own produces, and heartbeats while it produces none.

    The thread runs to the end even if the client disconnects. The stream ends when the caller is
    signed out or may read less than before.
    """
    # Threads begin without a language.
    write = translation.override(translation.get_language())(_write)
    return _apart(partial(write, texts), caller)


async def _apart(
    write: Callable[[Callable[[str | None], None]], None], caller: Caller
) -> AsyncIterator[str]:
    loop, written = asyncio.get_running_loop(), deque[str | None]()
    listener, is_allowed = announcements.current_listener(), None
    with listener.waiting(ACCESS) as waiter, counted(caller):

        def put(text: str | None) -> None:
            written.append(text)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(waiter.tell, TEXT)

        threading.Thread(target=write, args=(put,), name="event-texts", daemon=True).start()
        while not listener.is_closed:
            heard = await waiter.wait(HEARTBEAT_SECONDS if listener.is_listening else POLL_SECONDS)
            if is_allowed is None or heard != {TEXT}:
                is_allowed = await sync_to_async(_keeps_access)(caller)
            if is_allowed is False:
                return
            text = written.popleft() if written and is_allowed else HEARTBEAT
            if text is None:
                return
            if written and is_allowed:
                waiter.tell(TEXT)
            yield text


def _keeps_access(caller: Caller) -> bool | None:
    """Return whether a caller may read all that they could; None: it cannot be known now."""
    try:
        fresh = caller.renewed()
        return fresh is not None and fresh.scope.readable >= caller.scope.readable
    except DATABASE_ERRORS:
        return None
    finally:
        locks.release_connection()


def _write(texts: Iterator[str], put: Callable[[str | None], None]) -> None:
    try:
        for text in texts:
            put(text)
    finally:
        put(None)
        connection.close()  # of this thread
