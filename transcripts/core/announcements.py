"""What has changed in the database, announced to everyone who waits for it.

Triggers and ``citations.lectures.events`` notify on one channel; a notification holds a topic, not
the news itself. Each event loop listens on one connection, however many wait.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import uuid4
from weakref import WeakKeyDictionary

import psycopg
from django.db import connection

CHANNEL: Final = "cuebase"
NAME: Final = "cuebase-announcements"  # of the listening connection
# Topics. That of a lecture is its UUID.
JOBS: Final = "jobs"  # jobs, the gate to YouTube, a worker that comes back
SOURCES: Final = "sources"
ACCESS: Final = "access"  # memberships, accounts, tokens, sign-outs

HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
POLL_SECONDS: Final = 1.0  # between two reads while nothing is heard
MAX_SECONDS: Final = 3600.0  # then the watcher comes back
CHECK_SECONDS: Final = 30.0  # between checks: a connection broken by the network says nothing
ANSWER_SECONDS: Final = 10.0  # to connect, and to hear a check
PAUSE_SECONDS: Final = 1.0  # between attempts to connect
MAX_PAUSE: Final = 15.0

logger = logging.getLogger(__name__)


class Waiter:
    """Hears the announcements of its topics."""

    def __init__(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self._heard: set[str] = set()
        self._woken = asyncio.Event()

    def tell(self, topic: str) -> None:
        self._heard.add(topic)
        self._woken.set()

    def wake(self) -> None:
        """Hear all topics: announcements may have been missed."""
        for topic in self.topics:
            self.tell(topic)

    async def wait(self, seconds: float) -> frozenset[str]:
        """Return the topics announced since the last call; wait for one for up to so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        heard = frozenset(self._heard)
        self._heard.clear()
        self._woken.clear()
        return heard


class OrderWaiter(Waiter):
    """Hears orders, which nobody has given because they may have been missed."""

    def wake(self) -> None:
        pass


async def news(
    *topics: str, every: Callable[[], float], poll: float | None = None
) -> AsyncGenerator[frozenset[str], None]:
    """Yield the announced topics, first and after an outage all, when it is time to read them.

    They are read at least ``every`` so many seconds, and each ``poll`` seconds while nothing can
    be heard. None: it is only time for a heartbeat. Ends when the server stops, and after
    ``MAX_SECONDS``.
    """
    listener, started = current_listener(), time.monotonic()
    everything = frozenset(topics)
    with listener.waiting(*topics) as waiter:
        heard, read_at = everything, started
        while not listener.is_closed and time.monotonic() - started < MAX_SECONDS:
            yield heard
            read_at = time.monotonic() if heard else read_at
            pause = every() if listener.is_listening else poll or POLL_SECONDS
            rest = max(0.0, read_at + pause - time.monotonic())
            heard = await waiter.wait(min(rest, HEARTBEAT_SECONDS))
            if not heard and rest <= HEARTBEAT_SECONDS:
                heard = everything


class Listener:
    """Wakes those who wait as PostgreSQL notifies; listens while somebody waits."""

    def __init__(self) -> None:
        self.is_listening = False
        self.is_closed = False
        self.turn = asyncio.Lock()  # of those who wait to render what has changed
        self._waiters: set[Waiter] = set()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def waiting(self, *topics: str, kind: type[Waiter] = Waiter) -> Iterator[Waiter]:
        """Yield a waiter that hears these topics during the block."""
        waiter = kind(frozenset(topics))
        self._waiters.add(waiter)
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            yield waiter
        finally:
            self._waiters.discard(waiter)
            if not self._waiters and self._task is not None:
                self._task.cancel()
                self._task, self.is_listening = None, False

    def close(self) -> None:
        """Wake all for good, as the server stops."""
        self.is_closed = True
        self._wake_all()

    def tell(self, topic: str) -> None:
        """Wake those who wait for this topic."""
        for waiter in self._waiters:
            if topic in waiter.topics:
                waiter.tell(topic)

    def _wake_all(self) -> None:
        for waiter in self._waiters:
            waiter.wake()

    def _set_listening(self, listening: bool) -> None:
        if listening != self.is_listening:
            self.is_listening = listening
            self._wake_all()  # announcements may be missed, and the pauses change

    async def _listen(self) -> None:
        """Listen until cancelled; reconnect after failures."""
        pause = PAUSE_SECONDS
        while True:
            try:
                # Django's parameters, without those of its synchronous connections.
                own = ("cursor_factory", "context", "prepare_threshold")
                given = connection.get_connection_params().items()
                parameters: dict[str, Any] = {
                    "connect_timeout": int(ANSWER_SECONDS),
                    "application_name": NAME,
                    **{name: value for name, value in given if name not in own},
                }
                async with await psycopg.AsyncConnection.connect(
                    **parameters, autocommit=True
                ) as connected:
                    await connected.execute(f"LISTEN {CHANNEL}")
                    while await self._hears_itself(connected):
                        pause = PAUSE_SECONDS
                logger.warning("The database announces nothing; polling instead.")
            except (psycopg.Error, OSError, TimeoutError) as error:
                logger.warning("Lost the connection for announcements (%s); polling.", error)
            self._set_listening(False)
            await asyncio.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE)

    async def _hears_itself(self, connected: "psycopg.AsyncConnection[Any]") -> bool:
        """Notify oneself, and pass on what is announced for a while.

        A connection pooler may swallow announcements, and a broken network says nothing.
        """
        echo, is_heard = str(uuid4()), False
        async with asyncio.timeout(ANSWER_SECONDS):
            await connected.execute("SELECT pg_notify(%s, %s)", (CHANNEL, echo))
        async for announced in connected.notifies(timeout=CHECK_SECONDS):
            self.tell(announced.payload)
            if announced.payload == echo:
                is_heard = True
                self._set_listening(True)
        return is_heard


def announce(topic: str) -> None:
    """Announce a topic of one's own to all processes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", (CHANNEL, topic))


def current_listener() -> Listener:
    """Return the listener of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _listeners:
        _listeners[loop] = Listener()
    return _listeners[loop]


def end_all() -> None:
    """End every stream of this event loop: the server waits for them when it stops."""
    current_listener().close()


_listeners: "WeakKeyDictionary[asyncio.AbstractEventLoop, Listener]" = WeakKeyDictionary()
