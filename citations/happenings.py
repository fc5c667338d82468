"""What happens in a lecture, told in order to everybody who watches it: stored, so that one who was away hears the rest, and announced to all processes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import F

from citations.models import Happening, LectureSession

CHANNEL: Final = "cuebase_lectures"  # the announcement holds the session's UUID; what happened is read from the table
AT_ONCE: Final = 500


def tell(session: LectureSession, happened: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Append (kind, data) to what happened in a session, and announce it when the transaction commits.

    The row of the session is locked until then: numbers have no gaps and become visible in their order, so that “all after number n” misses nothing.
    """
    if not happened:
        return
    with transaction.atomic():
        session = LectureSession.objects.select_for_update().only("pk", "uuid", "event_count").get(pk=session.pk)
        first = session.event_count + 1
        Happening.objects.bulk_create([Happening(session=session, number=first + place, kind=kind, data=data) for place, (kind, data) in enumerate(happened)])
        LectureSession.objects.filter(pk=session.pk).update(event_count=F("event_count") + len(happened))
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(session.uuid)])


def after(session: LectureSession, number: int, *, limit: int = AT_ONCE) -> list[Happening]:
    """Return what happened after a number, in order."""
    return list(Happening.objects.filter(session=session, number__gt=number).order_by("number")[:limit])
