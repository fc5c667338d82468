"""Whoever watches a lecture hears what happened, and then what happens, as it happens. Stored happenings are read; announcements only say when to look."""

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
LOOK_SECONDS: Final = 1.0  # between two looks while announcements are not heard
SURE_SECONDS: Final = (
    5.0  # and while they are: a pooler between here and the database may swallow them
)
LONGEST_SECONDS: Final = 300.0  # then the watcher connects anew, and says once more who it is
MOST_STREAMS: Final = 20  # of one user, in one process

logger = logging.getLogger(__name__)

_streams: Counter[int] = Counter()


def require_room(user: int) -> None:
    """Raise ``Throttled`` where a user (by primary key) watches as much as one may."""
    if _streams[user] >= MOST_STREAMS:
        raise Throttled(
            f"You watch {MOST_STREAMS} lectures already.",
            hint="Close some of the pages or programs that watch.",
        )


def is_over(session: LectureSession, after: int) -> bool:
    """Say whether nothing more will happen in a session than the number says."""
    if session.ended_at is None or _is_awaited(session.pk):
        return False
    told = (
        LectureSession.objects.filter(pk=session.pk).values_list("event_count", flat=True).first()
    )  # only now: the last window may just have been cited
    return after >= (told or 0)


async def watch(
    session: LectureSession, after: int, *, user: int, may_read: Callable[[], bool]
) -> AsyncIterator[list[LectureEvent]]:
    """Yield what happened after a number, then what happens, in order and nothing twice; an empty list when nothing has happened for a while.

    It ends when the lecture is over and all is told, when ``may_read`` (asked now and then) says no, when the server ends, and after ``LONGEST_SECONDS``.
    """
    ear, begun = listener.ear(), time.monotonic()
    after, said, asked = (
        min(after, session.event_count),
        begun,
        begun,
    )  # whoever opens the stream has asked a moment ago
    with _counted(user), ear.waiting(session.uuid) as woken:
        while not ear.is_closed and time.monotonic() - begun < LONGEST_SECONDS:
            woken.clear()  # before looking, so that what is announced meanwhile is looked at as well
            now = time.monotonic()
            is_due = now - asked >= HEARTBEAT_SECONDS
            asked = now if is_due else asked
            happened, is_last = await sync_to_async(_look)(
                session, after, may_read if is_due else _yes
            )
            if happened or now - said >= HEARTBEAT_SECONDS:
                said, after = now, happened[-1].number if happened else after
                yield happened
            if is_last:
                return
            if len(happened) < events.AT_ONCE:
                await _pause(woken, SURE_SECONDS if ear.is_listening else LOOK_SECONDS)


def end_all() -> None:
    """Let every stream of this event loop end: the server would wait for them."""
    listener.ear().close()


def _yes() -> bool:
    return True


async def _pause(woken: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(woken.wait(), seconds)


def _look(
    session: LectureSession, after: int, may_read: Callable[[], bool]
) -> tuple[list[LectureEvent], bool]:
    """Return what happened, and whether that was the last of it. A database that is away for a moment is no reason to end."""
    try:
        ended = LectureSession.objects.filter(pk=session.pk).values_list("ended_at").first()
        if ended is None or not may_read():
            return [], True
        is_finished = ended[0] is not None and not _is_awaited(
            session.pk
        )  # asked first: what finishes a session is told before or with it
        happened = events.after(session, after)
        return happened, is_finished and len(happened) < events.AT_ONCE
    except DatabaseError as error:
        logger.warning("What happens in a lecture cannot be read: %s", error)
        return [], False
    finally:
        if not connection.in_atomic_block:
            connection.close()  # a stream that waits must not keep a connection from others


def _is_awaited(session: int) -> bool:
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
