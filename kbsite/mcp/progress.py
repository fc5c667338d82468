"""Calls that take long: their client hears what they do every few seconds, and may cancel them."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from contextvars import ContextVar
from threading import Event
from typing import Any, Final, TypeVar

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError

from kbsite.mcp import calls
from transcripts.core import announcements, cancellation

T = TypeVar("T")
REPORT = 5.0  # seconds between two reports of a call that does the same all the while
POLL = 0.25  # seconds between two looks at what it does
CANCELLED: Final = -32800  # as the SDK answers on a connection that cancels its own requests
_STEP: ContextVar[list[str]] = ContextVar("step")


def step(text: str) -> None:
    """Say what the call does now; without a call, to nobody."""
    if current := _STEP.get(None):
        current[0] = text


async def followed(work: Coroutine[Any, Any, T], ctx: Context[Any, Any]) -> T:
    """Return what ``work`` returns; meanwhile report progress, in seconds.

    If the client cancels the request or goes away, the work ends at its next step.
    """
    current, given_up = ["working"], Event()
    _STEP.set(current)
    cancellation.GIVEN_UP.set(given_up)
    topic = calls.topic_of(ctx.request_id)
    started, reported, sent = time.monotonic(), 0.0, current[0]
    task = asyncio.create_task(work)
    with ExitStack() as stack:
        stack.callback(task.cancel)
        stack.callback(given_up.set)
        waiter = None
        order = calls.ORDERS.setdefault(topic, asyncio.Event())
        stack.callback(calls.ORDERS.pop, topic, None)
        while not (await asyncio.wait([task], timeout=POLL))[0]:
            seconds = time.monotonic() - started
            if current[0] != sent or seconds - reported >= REPORT:
                reported, sent = seconds, current[0]
                await ctx.report_progress(round(seconds, 2), None, sent)
            if waiter is None and topic:
                listener = announcements.current_listener()
                orders = listener.waiting(topic, kind=announcements.OrderWaiter)
                waiter = stack.enter_context(orders)
            if order.is_set() or (waiter is not None and await waiter.wait(0)):
                raise MCPError(code=CANCELLED, message="The client cancelled this request.")
        return task.result()
