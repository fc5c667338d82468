"""Stream a lecture's past and future events. Announcements only say when to read the table."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from citations.lectures import events
from citations.models import LectureEvent, LectureSession, Window, WindowOutcome
from transcripts.core import announcements, locks
from transcripts.core.announcements import ACCESS

CHECK_SECONDS: Final = 60.0  # between two reads without announcements

logger = logging.getLogger(__name__)


def is_over(session: LectureSession, after: int) -> bool:
    """Say whether the session has ended and has no events after this number."""
    if session.ended_at is None or _has_waiting_windows(session.pk):
        return False
    # Read last: a window may just have been cited.
    return not LectureEvent.objects.filter(session=session, number__gt=after).exists()


async def watch(
    session: LectureSession, after: int, *, may_read: Callable[[], bool]
) -> AsyncGenerator[list[LectureEvent], None]:
    """Yield events after a number, in order; an empty list after a silence.

    Ends after the lecture's last event, when ``may_read`` is false, and when ``announcements.news``
    end.
    """
    after, latest = min(after, session.event_count), EventBatch()

    def every() -> float:
        return announcements.POLL_SECONDS if latest.is_failed else CHECK_SECONDS

    async with aclosing(announcements.news(str(session.uuid), ACCESS, every=every)) as news:
        async for heard in news:
            is_whole = not heard
            if not heard:
                yield []
            while not is_whole:
                checked = may_read if ACCESS in heard else None
                latest = await sync_to_async(_read)(session, after, checked)
                if latest.events:
                    after = latest.events[-1].number
                    yield latest.events
                is_whole = latest.is_whole
            if latest.is_last:
                return


@dataclass(frozen=True, slots=True)
class EventBatch:
    """New events; whether these are all that there are now, and the last ones of all."""

    events: list[LectureEvent] = field(default_factory=list)
    is_whole: bool = True
    is_last: bool = False
    is_failed: bool = False


def _read(session: LectureSession, after: int, may_read: Callable[[], bool] | None) -> EventBatch:
    """Return new events. A short outage ends no stream."""
    try:
        ended = LectureSession.objects.filter(pk=session.pk).values_list("ended_at").first()
        if ended is None or (may_read is not None and not may_read()):
            return EventBatch(is_last=True)
        is_finished = ended[0] is not None and not _has_waiting_windows(
            session.pk
        )  # read first: its last event is published before or with the end
        batch = events.after(session, after)
        is_whole = len(batch) < events.AT_ONCE
        return EventBatch(batch, is_whole=is_whole, is_last=is_finished and is_whole)
    except DatabaseError as error:
        logger.warning("Cannot read the events of a lecture: %s", error)
        return EventBatch(is_failed=True)
    finally:
        locks.release_connection()


def _has_waiting_windows(session: int) -> bool:
    return Window.objects.filter(session=session, outcome=WindowOutcome.WAITING).exists()
