"""How much is in each collection, and what is deleted with one."""

from collections import defaultdict
from dataclasses import astuple, dataclass, replace
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.translation import ngettext_lazy

from citations.models import Conversation, Highlight, LectureSession, Note, Source
from transcripts.core.scope import Scope
from transcripts.models import Collection, Feed, Video
from transcripts.models.videos import SILENT


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
        for pk, number in rows.order_by().values_list("collection").annotate(Count("pk")):
            counted[pk] = replace(counted[pk], **{name: number})
    return counted


def deleted_with(collection: Collection) -> list[str]:
    """Write how much is deleted with a collection, such as “3 recordings”; nothing for none."""
    own = {"collection": collection}
    kept = {**own, "deletion": None}  # the others are being deleted
    highlights = Highlight.objects.filter(source__collection=collection, deletion=None)
    tables: dict[str, QuerySet[Any]] = {
        "recordings": Video.objects.filter(**kept),
        "documents": Source.objects.filter(video=None, **kept),
        "lectures": LectureSession.objects.filter(**kept),
        "highlights": highlights,
        "notes": Note.objects.filter(**kept),
        "conversations": Conversation.objects.filter(**own),
        "feeds": Feed.objects.filter(**own),
    }
    counts = {name: rows.count() for name, rows in tables.items()}
    return [_PHRASES[name] % {"count": number} for name, number in counts.items() if number]


_PHRASES = {
    "recordings": ngettext_lazy("%(count)s recording", "%(count)s recordings", "count"),
    "documents": ngettext_lazy("%(count)s document", "%(count)s documents", "count"),
    "lectures": ngettext_lazy("%(count)s lecture", "%(count)s lectures", "count"),
    "highlights": ngettext_lazy("%(count)s highlight", "%(count)s highlights", "count"),
    "notes": ngettext_lazy("%(count)s note", "%(count)s notes", "count"),
    "conversations": ngettext_lazy(
        "%(count)s conversation about it", "%(count)s conversations about it", "count"
    ),
    "feeds": ngettext_lazy(
        "%(count)s playlist or channel", "%(count)s playlists or channels", "count"
    ),
}
