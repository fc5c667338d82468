"""The ASGI application: Django, and the MCP endpoint beside it."""

import asyncio
import contextlib
import signal
import threading
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

from kbsite import boot

boot.boot(migrate=False)

from citations.lectures import event_stream
from citations.providers import registry
from kbsite.mcp.server import build_application
from transcripts.views import events

# Django warns that an iterator of a static file is synchronous; ours are a few kilobytes.
warnings.filterwarnings(
    "ignore", message="StreamingHttpResponse must consume synchronous iterators"
)

_application = build_application()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Serve; on a signal to end, end the event streams first, as web servers wait for them."""
    if scope["type"] == "lifespan" and threading.current_thread() is threading.main_thread():
        _end_streams_on_signals(asyncio.get_running_loop())
    await _application(scope, receive, send)


def _end_streams_on_signals(loop: asyncio.AbstractEventLoop) -> None:
    # The web server has set its handlers by now; the lifespan protocol announces the end only
    # after all responses.
    def end_streams() -> None:
        events.end_all()
        event_stream.end_all()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, _after(loop, end_streams, handler))


def _after(
    loop: asyncio.AbstractEventLoop,
    call: Callable[[], None],
    handler: Callable[[int, FrameType | None], Any],
) -> Callable[[int, FrameType | None], Any]:
    def both(number: int, frame: FrameType | None) -> Any:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(call)
        return handler(number, frame)

    return both


# Load the models before the first search.
threading.Thread(target=registry.warm, name="warm").start()
