"""The ASGI application: Django, and the MCP endpoint beside it."""

import asyncio
import contextlib
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from django.conf import settings
from django.urls import get_resolver

from kbsite import boot, garbage

garbage.pause()
boot.set_up()

from kbsite.telemetry import metrics

metrics.watch("server")
boot.boot(migrate=False)
if settings.PUBLIC_PATH:
    list(get_resolver().url_patterns)  # they refuse a path that cannot be told from one of theirs

from citations.providers import registry
from kbsite.mcp.server import Application
from kbsite.middleware.request_limits import BodyTimeLimit
from kbsite.telemetry.requests import WatchedRequests
from transcripts.core import announcements
from transcripts.core.site_path import own_path

# Django warns that an iterator of a static file is synchronous; ours are a few kilobytes.
warnings.filterwarnings(
    "ignore", message="StreamingHttpResponse must consume synchronous iterators"
)

# Threads that compute let the event loop go on every half a millisecond. With the usual five, ten
# of them keep an answer waiting that costs nothing, such as the refusal of one request too many.
sys.setswitchinterval(0.0005)

PROBES = ("/healthz", "/readyz", "/metrics")  # loaded while nobody waits

Handler = Callable[[int, FrameType | None], Any]
_application = WatchedRequests(BodyTimeLimit(Application()))


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Serve; on a signal to end, end the event streams first, as web servers wait for them."""
    if scope["type"] == "lifespan" and threading.current_thread() is threading.main_thread():
        _end_streams_on_signals(asyncio.get_running_loop())
    if scope["type"] == "http":
        scope["path"] = own_path(scope["path"])  # some proxies have taken it off
    if scope["type"] == "http" and scope["path"] not in PROBES:
        registry.warm_again()  # whoever arrives may search next
    await _application(scope, receive, send)


def _end_streams_on_signals(loop: asyncio.AbstractEventLoop) -> None:
    # The web server has set its handlers by now; the lifespan protocol announces the end only
    # after all responses.
    def ending(handler: Handler, number: int, frame: FrameType | None) -> Any:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(announcements.end_all)
        return handler(number, frame)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, partial(ending, handler))


garbage.resume()

# Load the models before the first search.
threading.Thread(target=registry.warm, name="warm").start()
