"""Events of a lecture: stored, numbered, and announced to all processes."""

import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection

from citations.models import LectureEvent, LectureSession, Window, WindowOutcome
from transcripts.core import announcements, locks
from transcripts.core.announcements import ACCESS, CHANNEL
from transcripts.schemas import Shape

AT_ONCE: Final = 500
SEGMENT, WINDOW, CITATIONS, ENDED = "segment", "window", "citations", "ended"  # kinds

CHECK_SECONDS: Final = 60.0  # between two reads without announcements

logger = logging.getLogger(__name__)


def publish(session: LectureSession, events: Sequence[tuple[str, Shape]]) -> None:
    """Append events, pairs of kind and data; notify when the transaction commits.

    The data is stored as every door shows it, with times in seconds.

    The session's row stays locked until then, so that numbers have no gaps and become visible
    in order: a reader of all events after number n misses none. Events of a deleted session are
    dropped.
    """
    if events:
        kinds = [kind for kind, _ in events]
        data = [shape.model_dump_json() for _, shape in events]
        values: dict[str, Any] = {
            "session": session.pk,
            "kinds": kinds,
            "data": data,
            "channel": CHANNEL,
        }
        with connection.cursor() as cursor:
            cursor.execute(_PUBLISH, values)


# One statement, as it runs several times a second in each lecture.
_PUBLISH: Final = """
    WITH session AS (
        UPDATE citations_lecturesession
        SET event_count = event_count + cardinality(%(kinds)s::text[]) WHERE id = %(session)s
        RETURNING id, uuid, event_count - cardinality(%(kinds)s::text[]) AS last
    ), made AS (
        INSERT INTO citations_lectureevent (session_id, number, kind, data, created_at)
        SELECT session.id, session.last + events.ordinal, events.kind, events.data::jsonb, now()
        FROM session, unnest(%(kinds)s::text[], %(data)s::text[])
            WITH ORDINALITY AS events (kind, data, ordinal)
    )
    SELECT pg_notify(%(channel)s, uuid::text) FROM session
"""


def events_after(session: LectureSession, number: int) -> list[LectureEvent]:
    """Return the events after a number, in order."""
    events = LectureEvent.objects.filter(session=session, number__gt=number)
    return list(events.order_by("number")[:AT_ONCE])


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
        batch = events_after(session, after)
        is_whole = len(batch) < AT_ONCE
        return EventBatch(batch, is_whole=is_whole, is_last=is_finished and is_whole)
    except DatabaseError as error:
        logger.warning("Cannot read the events of a lecture: %s", error)
        return EventBatch(is_failed=True)
    finally:
        locks.release_connection()


def _has_waiting_windows(session: int) -> bool:
    return Window.objects.filter(session=session, outcome=WindowOutcome.WAITING).exists()
