"""A limit on the requests worked on at once: beyond it, each would only make all slower."""

import asyncio
from random import randint
from typing import Any, Final

from kbsite import error_page
from kbsite.errors import API, Overloaded
from kbsite.middleware.rate_limits import ASKING

# How long a request waits for its turn. What limits the wait is how few may wait: on a slow machine
# a turn takes seconds, and a shorter limit would refuse those for whom there is room.
WAIT_SECONDS: Final = 10.0
RETRY_SECONDS: Final = (2, 8)  # that refused callers shall wait, at random: not all come at once


class LoadLimit:
    """An ASGI application that answers 503 to a request if too many wait for their turn already, or
    if its own does not come in time.

    A request has its turn from the end of its body to the start of its response, so that slow
    uploads and event streams hold nobody up. Questions, for which a remote model may write a
    minute, take turns of their own.
    """

    def __init__(self, application: Any, *, at_once: int, questions: int) -> None:
        self._application = application
        self._turns, self._questions = _Turns(at_once), _Turns(questions)
        # Whoever watches the server gets a true answer, above all while it has much to do.
        self._exempt = ("/healthz", "/readyz", "/metrics", "/static/")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._exempt):
            await self._application(scope, receive, send)
            return
        is_question = ASKING.fullmatch(f"{scope['method']} {scope['path']}")
        turn = _Turn(self._questions if is_question else self._turns, receive, send)
        try:
            await self._application(scope, turn.receive, turn.send)
        except Overloaded as error:
            pause = str(randint(*RETRY_SECONDS))
            refresh = {} if scope["path"].startswith(API) else {"refresh": pause}
            await error_page.refuse(error, scope, send, {"retry-after": pause, **refresh})
        finally:
            turn.end()


class _Turns:
    """The turns that are left. As many requests as have one may wait for the next."""

    def __init__(self, at_once: int) -> None:
        self._free, self._at_once, self._waiting = asyncio.Semaphore(at_once), at_once, 0

    async def take(self) -> None:
        """Wait for a turn. Raises ``Overloaded``."""
        if self._waiting >= self._at_once:
            raise Overloaded
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            raise Overloaded from None
        finally:
            self._waiting -= 1

    def give_back(self) -> None:
        self._free.release()


class _Turn:
    """The turn of one request."""

    def __init__(self, turns: _Turns, receive: Any, send: Any) -> None:
        self._turns, self._receive, self._send = turns, receive, send
        self._is_held = False

    async def receive(self) -> Any:
        event = await self._receive()
        if event["type"] == "http.request" and not event.get("more_body"):
            await self._turns.take()
            self._is_held = True
        return event

    async def send(self, event: Any) -> None:
        if event["type"] == "http.response.start":
            self.end()
        await self._send(event)

    def end(self) -> None:
        if self._is_held:
            self._is_held = False
            self._turns.give_back()
