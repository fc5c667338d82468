"""How far users have read: kept by the readers of recordings and documents, shown in lists."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final, TypeAlias

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from citations.models import ReadingProgress, Source
from transcripts.core import clock
from transcripts.models import Video

PAUSE: Final = timedelta(seconds=3)  # between two writes of one place
THE_END: Final = 0.95  # of a recording: what follows is applause
SMALL_GAP: Final = 0.05  # of an item: who leaves it out has read on

Readable: TypeAlias = Video | Source


def find(user: User, item: Readable) -> ReadingProgress | None:
    """Return where a user is in a recording or document, None before it was opened."""
    return _rows(user, item).first()


def keep(
    user: User, item: Readable, *, position: int | None, length: int, reads_on: bool = False
) -> None:
    """Record that a user reads an item, at a position if one is known.

    Position and length are the milliseconds of a recording, or a page and their number. An item is
    read once its end is reached by reading on from before it, perhaps over a small gap: who jumps
    there has not read it.
    """
    now = clock.now()
    values: dict[str, Any] = {}
    rows = _rows(user, item)
    if position is not None:
        values["position"] = min(position, length)
        before = rows.values_list("position", flat=True).first()
        was_near = before is not None and position - before <= SMALL_GAP * length
        is_new = _is_end(item, position, length) and not _is_end(item, before or 0, length)
        if is_new and (reads_on or was_near):
            values["is_finished"] = True
    if rows.filter(**{**values, "read_at__gt": now - PAUSE}).exists():
        return  # a page that was loaded again
    if not rows.update(read_at=now, **values):
        new = ReadingProgress(user=user, **{_column(item): item}, read_at=now, **values)
        ReadingProgress.objects.bulk_create([new], ignore_conflicts=True)


def finish(user: User, item: Readable) -> None:
    """Mark an item as read."""
    keep(user, item, position=None, length=0)
    _rows(user, item).update(is_finished=True)


def forget(user: User, item: Readable) -> None:
    """Mark an item as unread: nothing of it is kept."""
    _rows(user, item).delete()


def of_items(
    user: User, *, videos: Iterable[int], documents: Iterable[int]
) -> dict[tuple[str, int | None], ReadingProgress]:
    """Return a user's progress in items, by their column and primary key."""
    mine = ReadingProgress.objects.filter(user=user)
    rows = mine.filter(Q(video__in=list(videos)) | Q(document__in=list(documents)))
    return {
        ("video", row.video_id) if row.video_id else ("document", row.document_id): row
        for row in rows
    }


def _rows(user: User, item: Readable) -> QuerySet[ReadingProgress]:
    return ReadingProgress.objects.filter(user=user, **{_column(item): item})


def _column(item: Readable) -> str:
    return "video" if isinstance(item, Video) else "document"


def _is_end(item: Readable, position: int, length: int) -> bool:
    end = THE_END * length if isinstance(item, Video) else length
    return position >= end > 0
