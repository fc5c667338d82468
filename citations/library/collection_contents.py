"""How much is in each collection."""

from collections import Counter, defaultdict
from dataclasses import astuple, dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet

from citations.models import LectureSession, Source
from transcripts.models import Video
from transcripts.models.videos import SILENT
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionContents:
    """The numbers of its items that are visible."""

    recordings: int = 0
    transcripts: int = 0  # recordings of which nothing plays
    documents: int = 0
    lectures: int = 0

    @property
    def is_empty(self) -> bool:
        return not any(astuple(self))


def count(scope: Scope) -> dict[int, CollectionContents]:
    """Return the numbers by collection; of one that has nothing, zeros."""
    videos = Video.objects.visible(scope)
    tables: dict[str, QuerySet[Any]] = {
        "recordings": videos.exclude(SILENT),
        "transcripts": videos.filter(SILENT),
        "documents": Source.objects.visible(scope).filter(video=None),
        "lectures": LectureSession.objects.visible(scope),
    }
    counted: dict[int, CollectionContents] = defaultdict(CollectionContents)
    for name, rows in tables.items():
        for pk, number in _by_collection(rows).items():
            counted[pk] = replace(counted[pk], **{name: number})
    return counted


def _by_collection(rows: QuerySet[Any]) -> Counter[int]:
    return Counter(dict(rows.order_by().values_list("collection").annotate(Count("pk"))))
