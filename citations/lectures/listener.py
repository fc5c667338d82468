"""Receive PostgreSQL's notifications of lecture events and wake those who wait for them."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from django.db import connection

from citations.lectures.events import CHANNEL

logger = logging.getLogger(__name__)

CHECK_SECONDS: Final = 30.0  # between checks: a connection broken by the network says nothing
ANSWER_SECONDS: Final = 10.0  # to connect, and to answer a check
PAUSE_SECONDS: Final = 1.0  # between attempts to connect
LONGEST_PAUSE: Final = 15.0


class Listener:
    """Wakes waiters. It listens while somebody waits; earlier events are only in the table."""

    def __init__(self) -> None:
        self.is_listening = False
        self.is_closed = False
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def waiting(self, session: UUID) -> Iterator[asyncio.Event]:
        """Yield an event that is set when the session may have news, or the connection is lost.

        The waiter clears it.
        """
        woken = asyncio.Event()
        self._waiting.setdefault(str(session), set()).add(woken)
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            yield woken
        finally:
            self._leave(str(session), woken)

    def close(self) -> None:
        """Wake all waiters for good, as the server stops."""
        self.is_closed = True
        self._wake_all()

    def _leave(self, session: str, woken: asyncio.Event) -> None:
        others = self._waiting[session]
        others.discard(woken)
        if not others:
            del self._waiting[session]
        if not self._waiting and self._task is not None:
            self._task.cancel()
            self._task, self.is_listening = None, False

    def _wake(self, session: str) -> None:
        for woken in self._waiting.get(session, ()):
            woken.set()

    def _wake_all(self) -> None:
        for session in self._waiting:
            self._wake(session)

    async def _listen(self) -> None:
        """Listen until cancelled; reconnect after failures."""
        pause = PAUSE_SECONDS
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    **_parameters(), autocommit=True
                ) as connected:
                    await connected.execute(f"LISTEN {CHANNEL}")
                    self._set_listening(True)
                    pause = PAUSE_SECONDS
                    await self._forward(connected)
            except (psycopg.Error, OSError, TimeoutError) as error:
                logger.warning(
                    "Lost the connection for lecture events (%s); polling instead.", error
                )
            self._set_listening(False)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _set_listening(self, listening: bool) -> None:
        self.is_listening = listening
        self._wake_all()  # notifications may be missed, and the poll interval changes

    async def _forward(self, connected: "psycopg.AsyncConnection[Any]") -> None:
        while True:
            async for announced in connected.notifies(timeout=CHECK_SECONDS):
                self._wake(announced.payload)
            await asyncio.wait_for(connected.execute("SELECT 1"), ANSWER_SECONDS)


def current() -> Listener:
    """Return the listener of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _listeners:
        _listeners[loop] = Listener()
    return _listeners[loop]


_listeners: "WeakKeyDictionary[asyncio.AbstractEventLoop, Listener]" = WeakKeyDictionary()


def _parameters() -> dict[str, Any]:
    """Return Django's connection parameters, without those of its synchronous connections."""
    parameters = connection.get_connection_params()
    own = ("cursor_factory", "context", "prepare_threshold")
    return {
        "connect_timeout": int(ANSWER_SECONDS),
        **{name: value for name, value in parameters.items() if name not in own},
    }
