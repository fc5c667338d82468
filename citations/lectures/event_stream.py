"""Stream a lecture's past and future events. Notifications only say when to read the table."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from citations.lectures import events, listener
from citations.models import LectureEvent, LectureSession, Window, WindowOutcome
from transcripts.errors import Throttled

HEARTBEAT_SECONDS: Final = 15.0  # keeps proxies from closing a silent stream
POLL_SECONDS: Final = 1.0  # between two reads without notifications
LISTENING_POLL_SECONDS: Final = 5.0  # and with them: a connection pooler may swallow notifications
MAX_SECONDS: Final = 300.0  # then the viewer reconnects and authenticates again
MAX_STREAMS: Final = 20  # of one user in one process

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
    waker, started = listener.current(), time.monotonic()
    after = min(after, session.event_count)
    last_sent = last_checked = started  # permission was checked when the stream was opened
    with _counted(user), waker.waiting(session.uuid) as woken:
        while not waker.is_closed and time.monotonic() - started < MAX_SECONDS:
            woken.clear()  # before the read, so that no notification in between is lost
            now = time.monotonic()
            is_due = now - last_checked >= HEARTBEAT_SECONDS
            last_checked = now if is_due else last_checked
            batch, is_last = await sync_to_async(_read)(
                session, after, may_read if is_due else _yes
            )
            if batch or now - last_sent >= HEARTBEAT_SECONDS:
                last_sent, after = now, batch[-1].number if batch else after
                yield batch
            if is_last:
                return
            if len(batch) < events.AT_ONCE:
                await _pause(woken, LISTENING_POLL_SECONDS if waker.is_listening else POLL_SECONDS)


def end_all() -> None:
    """End every stream of this event loop: the server waits for them when it stops."""
    listener.current().close()


def _yes() -> bool:
    return True


async def _pause(woken: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(woken.wait(), seconds)


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
