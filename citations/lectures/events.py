"""Events of a lecture: stored, numbered, and announced to all processes."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection

from citations.models import LectureEvent, LectureSession
from transcripts.core.announcements import CHANNEL
from transcripts.schemas import Shape

AT_ONCE: Final = 500
SEGMENT, WINDOW, CITATIONS, ENDED = "segment", "window", "citations", "ended"  # kinds


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


def after(session: LectureSession, number: int) -> list[LectureEvent]:
    """Return the events after a number, in order."""
    events = LectureEvent.objects.filter(session=session, number__gt=number)
    return list(events.order_by("number")[:AT_ONCE])
