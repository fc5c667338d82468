"""The ear of a process: one connection on which PostgreSQL announces what happened in which lecture, and whom that wakes."""

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

CHECK_SECONDS: Final = (
    30.0  # a connection that is broken somewhere on the way says nothing; so it is asked
)
ANSWER_SECONDS: Final = 10.0  # to connect in, and to answer that question
PAUSE_SECONDS: Final = 1.0  # between two tries to connect
LONGEST_PAUSE: Final = 15.0


class Ear:
    """Wakes those who wait for a session. It listens while anybody waits; what is announced while it does not listen has to be looked for."""

    def __init__(self) -> None:
        self.is_listening = False
        self.is_closed = False
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def waiting(self, session: UUID) -> Iterator[asyncio.Event]:
        """Give an event that is set whenever something may have happened in a session, or whether it did can no longer be heard. Whoever waits clears it."""
        woken = asyncio.Event()
        self._waiting.setdefault(str(session), set()).add(woken)
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            yield woken
        finally:
            self._leave(str(session), woken)

    def close(self) -> None:
        """Wake everybody for good: the server ends."""
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
        """Listen, and connect again when the connection breaks, until cancelled."""
        pause = PAUSE_SECONDS
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    **_parameters(), autocommit=True
                ) as heard:
                    await heard.execute(f"LISTEN {CHANNEL}")
                    self._hears(True)
                    pause = PAUSE_SECONDS
                    await self._pass_on(heard)
            except (psycopg.Error, OSError, TimeoutError) as error:
                logger.warning(
                    "The connection that hears of lectures is lost (%s); until it is back, they are looked at every second.",
                    error,
                )
            self._hears(False)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _hears(self, listening: bool) -> None:
        self.is_listening = listening
        self._wake_all()  # what was announced before it listened was not heard; and who waits long must wait less from now on

    async def _pass_on(self, heard: "psycopg.AsyncConnection[Any]") -> None:
        while True:
            async for announced in heard.notifies(timeout=CHECK_SECONDS):
                self._wake(announced.payload)
            await asyncio.wait_for(heard.execute("SELECT 1"), ANSWER_SECONDS)


def ear() -> Ear:
    """Return the ear of the running event loop; a process that serves has one loop."""
    loop = asyncio.get_running_loop()
    if loop not in _ears:
        _ears[loop] = Ear()
    return _ears[loop]


_ears: "WeakKeyDictionary[asyncio.AbstractEventLoop, Ear]" = WeakKeyDictionary()


def _parameters() -> dict[str, Any]:
    """Return how Django connects, without what is only for its own synchronous connections."""
    wanted = connection.get_connection_params()
    own = ("cursor_factory", "context", "prepare_threshold")
    return {
        "connect_timeout": int(ANSWER_SECONDS),
        **{name: value for name, value in wanted.items() if name not in own},
    }
