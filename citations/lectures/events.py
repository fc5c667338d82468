"""What happens in a lecture, told in order to everybody who watches it: stored, so that one who was away hears the rest, and announced to all processes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection

from citations.models import LectureEvent, LectureSession

CHANNEL: Final = "cuebase_lectures"  # the announcement holds the session's UUID; what happened is read from the table
AT_ONCE: Final = 500


def tell(session: LectureSession, happened: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Append (kind, data) to what happened in a session, and announce it when the transaction commits.

    The row of the session is locked until then: numbers have no gaps and become visible in their order, so that “all after number n” misses nothing.
    A session that was deleted meanwhile is told nothing.
    """
    if happened:
        kinds, data = [kind for kind, _ in happened], [json.dumps(about) for _, about in happened]
        with connection.cursor() as cursor:
            cursor.execute(
                _TELL, {"session": session.pk, "kinds": kinds, "data": data, "channel": CHANNEL}
            )


# All at once: it is asked several times a second in each lecture.
_TELL: Final = """
    WITH session AS (
        UPDATE citations_lecturesession SET event_count = event_count + cardinality(%(kinds)s::text[]) WHERE id = %(session)s
        RETURNING id, uuid, event_count - cardinality(%(kinds)s::text[]) AS told
    ), made AS (
        INSERT INTO citations_lectureevent (session_id, number, kind, data, created_at)
        SELECT session.id, session.told + happened.place, happened.kind, happened.data::jsonb, now()
        FROM session, unnest(%(kinds)s::text[], %(data)s::text[]) WITH ORDINALITY AS happened (kind, data, place)
    )
    SELECT pg_notify(%(channel)s, uuid::text) FROM session
"""


def after(session: LectureSession, number: int, *, limit: int = AT_ONCE) -> list[LectureEvent]:
    """Return what happened after a number, in order."""
    return list(
        LectureEvent.objects.filter(session=session, number__gt=number).order_by("number")[:limit]
    )
