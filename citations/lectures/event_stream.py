"""Stream a lecture's past and future events. Notifications only say when to read the table."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from citations.lectures import events
from citations.models import LectureEvent, LectureSession, Window, WindowOutcome
from transcripts.errors import Throttled

HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
POLL_SECONDS: Final = 1.0  # between two reads without notifications
LISTENING_POLL_SECONDS: Final = 5.0  # and with them: a connection pooler may swallow notifications
MAX_SECONDS: Final = 300.0  # then the viewer reconnects and authenticates again
MAX_STREAMS: Final = 20  # of one user in one process

CHECK_SECONDS: Final = 30.0  # between checks: a connection broken by the network says nothing
ANSWER_SECONDS: Final = 10.0  # to connect, and to answer a check
PAUSE_SECONDS: Final = 1.0  # between attempts to connect
LONGEST_PAUSE: Final = 15.0

logger = logging.getLogger(__name__)

_streams: Counter[int] = Counter()


def require_free_stream(user: int) -> None:
    """Raise ``Throttled`` if a user (by primary key) has ``MAX_STREAMS`` streams open."""
    if _streams[user] >= MAX_STREAMS:
        raise Throttled(
            f"You already watch {MAX_STREAMS} lectures.",
            hint="Close some of the pages or programs that do.",
        )


def is_over(session: LectureSession, after: int) -> bool:
    """Say whether the session has ended and has no events after this number."""
    if session.ended_at is None or _has_waiting_windows(session.pk):
        return False
    last = (
        LectureSession.objects.filter(pk=session.pk).values_list("event_count", flat=True).first()
    )  # read last: a window may just have been cited
    return after >= (last or 0)


async def watch(
    session: LectureSession, after: int, *, user: int, may_read: Callable[[], bool]
) -> AsyncIterator[list[LectureEvent]]:
    """Yield events after a number, in order; an empty list after a silence.

    Ends after the lecture's last event, when ``may_read`` (asked at each heartbeat) is false,
    when the server stops, and after ``MAX_SECONDS``.
    """
    waker, started = current_listener(), time.monotonic()
    after = min(after, session.event_count)
    last_sent = last_checked = started  # permission was checked when the stream was opened
    with _counted(user), waker.waiting(session.uuid) as woken:
        while not waker.is_closed and time.monotonic() - started < MAX_SECONDS:
            woken.clear()  # before the read, so that no notification in between is lost
            now = time.monotonic()
            is_due = now - last_checked >= HEARTBEAT_SECONDS
            last_checked = now if is_due else last_checked
            batch, is_last = await sync_to_async(_read)(
                session, after, may_read if is_due else lambda: True
            )
            if batch or now - last_sent >= HEARTBEAT_SECONDS:
                last_sent, after = now, batch[-1].number if batch else after
                yield batch
            if is_last:
                return
            if len(batch) < events.AT_ONCE:
                pause = LISTENING_POLL_SECONDS if waker.is_listening else POLL_SECONDS
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), pause)


def end_all() -> None:
    """End every stream of this event loop: the server waits for them when it stops."""
    current_listener().close()


def _read(
    session: LectureSession, after: int, may_read: Callable[[], bool]
) -> tuple[list[LectureEvent], bool]:
    """Return new events, and whether they are the last. A short outage ends no stream."""
    try:
        ended = LectureSession.objects.filter(pk=session.pk).values_list("ended_at").first()
        if ended is None or not may_read():
            return [], True
        is_finished = ended[0] is not None and not _has_waiting_windows(
            session.pk
        )  # read first: its last event is published before or with the end
        batch = events.after(session, after)
        return batch, is_finished and len(batch) < events.AT_ONCE
    except DatabaseError as error:
        logger.warning("Cannot read the events of a lecture: %s", error)
        return [], False
    finally:
        if not connection.in_atomic_block:
            connection.close()  # an idle stream must not occupy a connection


def _has_waiting_windows(session: int) -> bool:
    return Window.objects.filter(session=session, outcome=WindowOutcome.WAITING).exists()


@contextmanager
def _counted(user: int) -> Iterator[None]:
    _streams[user] += 1
    try:
        yield
    finally:
        _streams[user] -= 1
        if not _streams[user]:
            del _streams[user]


# Notifications


class Listener:
    """Wakes those who wait for events as PostgreSQL notifies; listens while somebody waits."""

    def __init__(self) -> None:
        self.is_listening = False
        self.is_closed = False
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def waiting(self, session: UUID) -> Iterator[asyncio.Event]:
        """Yield an event that is set when there may be news; the waiter clears it."""
        woken = asyncio.Event()
        self._waiting.setdefault(str(session), set()).add(woken)
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            yield woken
        finally:
            waiters = self._waiting[str(session)]
            waiters.discard(woken)
            if not waiters:
                del self._waiting[str(session)]
            if not self._waiting and self._task is not None:
                self._task.cancel()
                self._task, self.is_listening = None, False

    def close(self) -> None:
        """Wake all waiters for good, as the server stops."""
        self.is_closed = True
        self._wake_all()

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
                    await connected.execute(f"LISTEN {events.CHANNEL}")
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


def current_listener() -> Listener:
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
