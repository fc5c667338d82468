"""Actions on several items of the library at once: tag, move, index, put first, fetch, delete.

Highlights and notes are deleted in the same way: hidden first, so that it can be taken back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from citations.ingest import lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import sessions
from citations.library.item import TABLES
from citations.models import Deletion, Highlight, LectureSession, Note, Source
from citations.models.deletions import TAKEN_BACK_WITHIN
from transcripts.adding import acquisition
from transcripts.adding.storage import clean_tags
from transcripts.core import audit, clock, deleting
from transcripts.core.audit import Action, Actor
from transcripts.core.errors import InvalidInput, NotFound
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.models import Collection, Deletable, Job, Video

MAX_ITEMS: Final = 1_000  # items at once
_KEY: Final = re.compile(r"[1-9][0-9]{0,17}")
LISTED: Final[tuple[type[Deletable], ...]] = (Video, Source, LectureSession)  # in the library
HIDDEN: Final[tuple[type[Deletable], ...]] = (*LISTED, Highlight, Note)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenItems:
    """Items that the caller may change, or at least read."""

    videos: tuple[Video, ...] = ()
    documents: tuple[Source, ...] = ()
    lectures: tuple[LectureSession, ...] = ()
    missing: int = 0  # how many others are not there any more

    @property
    def count(self) -> int:
        return len(self.videos) + len(self.documents) + len(self.lectures)

    @property
    def sources(self) -> list[Source]:
        """The documents, and the sources of the recordings."""
        return [*Source.objects.filter(video__in=self.videos), *self.documents]


def select(scope: Scope, references: Sequence[str], *, write: bool = True) -> ChosenItems:
    """Find items by their references, such as ``video-12``.

    Raises ``InvalidInput`` for none or too many, ``NotFound`` if none of them is visible, and
    ``Forbidden`` if one of them may only be read and is to be changed (``write``).
    """
    unique = list(dict.fromkeys(references))
    if not unique:
        raise InvalidInput("Nothing is selected.", hint="Select something in the list first.")
    _check_number(unique)
    keys = _keys(unique)
    visible: dict[str, QuerySet[Any]] = {
        "video": Video.objects.visible(scope),
        "document": Source.objects.visible(scope).filter(video=None),
        "lecture": LectureSession.objects.visible(scope),
    }
    rows: dict[str, tuple[Any, ...]] = {
        table: tuple(visible[table].select_related("collection").filter(pk__in=keys[table]))
        for table in visible
    }
    missing = len(unique) - sum(map(len, rows.values()))
    if missing == len(unique):
        raise NotFound(
            "None of these is there any more." if missing > 1 else "It is not there any more.",
            hint="Reload the library.",
        )
    for collection in {row.collection_id for table in rows.values() for row in table if write}:
        scope.require_write(collection)
    return ChosenItems(
        videos=rows["video"], documents=rows["document"], lectures=rows["lecture"], missing=missing
    )


def _check_number(references: Sized) -> None:
    if len(references) > MAX_ITEMS:
        raise InvalidInput(f"At most {MAX_ITEMS:,} items at once.", hint="Do it in parts.")


def _keys(references: Iterable[str]) -> dict[str, list[int]]:
    keys: dict[str, list[int]] = {table: [] for table in TABLES.values()}
    for reference in references:
        table, _, key = reference.partition("-")
        if table not in keys or not _KEY.fullmatch(key):
            raise NotFound("There is no such item.", hint="Reload the library.")
        keys[table].append(int(key))
    return keys


def tag(selection: ChosenItems, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> int:
    """Add and remove tags; lectures have none. Return how many items there were.

    Raises ``InvalidInput`` if no tag is named, or if there are only lectures.
    """
    added, removed = clean_tags(add), set(clean_tags(remove))
    if not added and not removed:
        raise InvalidInput("No tag is named.", hint="Write one, or several with commas.")
    rows = _recordings_and_documents(selection)
    if not rows:
        raise InvalidInput("Lectures have no tags.", hint="Choose recordings or documents.")
    with transaction.atomic():
        for row in rows:
            tags = [tag for tag in row.tags if tag not in removed]
            row.tags = clean_tags([*tags, *added])
            row.edited = sorted({*row.edited, "tags"})
            row.save(update_fields=["tags", "edited", "updated_at"])
            record(row, "tags")
    return len(rows)


def move(
    scope: Scope, selection: ChosenItems, collection: Collection
) -> tuple[int, list[Video | Source]]:
    """Move recordings and documents to a collection; lectures stay with what they cite.

    Return how many moved, and what stayed because the collection has a copy of it. Raises
    ``Forbidden``, and ``InvalidInput`` if there are only lectures.
    """
    scope.require_write(collection.pk)
    rows = _recordings_and_documents(selection)
    if not rows:
        raise InvalidInput(
            "Lectures stay with what they cite.", hint="Choose recordings or documents."
        )
    elsewhere = [row for row in rows if row.collection_id != collection.pk]
    with transaction.atomic():
        stayed = [row for row in elsewhere if not _is_moved(row, collection)]
    return len(elsewhere) - len(stayed), stayed


def move_back(scope: Scope, origins: Mapping[str, str], collection: Collection) -> int:
    """Return items from a collection to where each came from, a slug by reference; count them.

    What is not there any more stays, as does what came from where the caller may not change
    anything, or what has a copy there by now. Raises ``Forbidden``, and what ``select`` raises.
    """
    scope.require_write(collection.pk)
    _check_number(origins)
    keys = _keys(origins)
    writable = Collection.objects.filter(pk__in=scope.writable, slug__in=origins.values())
    targets = {target.slug: target for target in writable}
    here: dict[type[Video | Source], QuerySet[Any]] = {
        Video: Video.objects.visible(scope).filter(pk__in=keys["video"]),
        Source: Source.objects.visible(scope).filter(pk__in=keys["document"], video=None),
    }
    with transaction.atomic():
        return sum(
            _is_moved(row, targets[slug])
            for table, rows in here.items()
            for row in rows.filter(collection=collection).select_for_update(of=("self",))
            if (slug := origins[f"{TABLES[table]}-{row.pk}"]) in targets
        )


def _is_moved(row: Video | Source, collection: Collection) -> bool:
    """Move it, unless the collection has a copy of it."""
    if isinstance(row, Source):
        file = Source.objects.filter(pk=row.pk).values("document__digest")
        if Source.objects.filter(collection=collection, document__digest__in=file).exists():
            return False
    row.collection = collection
    try:
        with transaction.atomic():
            row.save(update_fields=["collection", "updated_at"])
    except IntegrityError:  # a recording is once in a collection
        return False
    record(row, "collection")
    return True


def with_text(selection: ChosenItems) -> list[Source]:
    """Return the sources of items. Raises ``InvalidInput`` if there is none."""
    if not (sources := selection.sources):
        raise InvalidInput("None of these has a text yet.", hint="Choose recordings or documents.")
    return sources


def index_again(selection: ChosenItems) -> list[Source]:
    """Index items from their texts on; return the sources to send to the workers.

    Raises ``InvalidInput`` if there is none.
    """
    sources = with_text(selection)
    for source in sources:
        source.start_anew()
    return sources


def put_first(selection: ChosenItems) -> list[Source]:
    """Index the items that wait before all others; return the sources to send to the workers.

    Raises ``InvalidInput`` if none waits.
    """
    waiting = [source for source in selection.sources if source.is_unfinished]
    if not lanes.put_first(Source.objects.filter(pk__in=[source.pk for source in waiting])):
        raise InvalidInput(
            "None of these waits to be indexed.", hint="Activity lists what is waiting."
        )
    return waiting


def fetch_again(selection: ChosenItems, *, by: User | None) -> list[Job]:
    """Fetch the videos of YouTube again; return the jobs to send to the workers.

    Raises ``InvalidInput`` if there is none.
    """
    videos = [video for video in selection.videos if video.youtube_id]
    if not videos:
        raise InvalidInput(
            "None of these came from YouTube.", hint="Add a file again to update what it holds."
        )
    return [acquisition.refetch(video, by=by) for video in videos]


def delete(selection: ChosenItems, *, by: User | None) -> Deletion:
    """Hide items at once, and delete them unless that is taken back in time."""
    rows = (*selection.videos, *selection.sources, *selection.lectures)
    return _begin(rows, total=selection.count, by=by)


def discard(
    *, by: User | None, highlights: Sequence[Highlight] = (), notes: Sequence[Note] = ()
) -> Deletion:
    """Hide what a reader kept, and delete it unless that is taken back in time."""
    rows = (*highlights, *notes)
    return _begin(rows, total=len(rows), by=by)


def take_back(reference: UUID, *, by: User | None) -> list[str]:
    """Forget a deletion of this user; return what the items are called. Raises ``NotFound``."""
    with transaction.atomic():
        waiting = Deletion.objects.select_for_update().filter(run_after__gt=clock.now())
        deletion = waiting.filter(uuid=reference, created_by=by).first()
        if deletion is None:
            raise NotFound(
                "There is nothing to undo any more: that is possible for half a minute at most.",
                hint="Add deleted items again; a backup has their notes and answers.",
            )
        titles: list[str] = []
        for table in HIDDEN:
            rows = table._default_manager.filter(deletion=deletion.uuid)
            titles += [str(row) for row in rows if not _goes_with_a_recording(row)]
            rows.update(deletion=None)
        deletion.delete()
        return titles


def title_of(deletion: Deletion) -> str:
    """Return the title of the only item that is deleted, or "" if there are several."""
    if deletion.total != 1:
        return ""
    rows = (table._default_manager.filter(deletion=deletion.uuid).first() for table in HIDDEN)
    return next((str(row) for row in rows if row), "")


def concerns(deletion: Deletion, scope: Scope) -> bool:
    """Check that a deletion hides something of the library in these collections."""
    hidden = {"deletion": deletion.uuid, "collection__in": scope.readable}
    return any(table._default_manager.filter(**hidden).exists() for table in LISTED)


def carry_out(deletion: Deletion) -> None:
    """Delete the items that are still there; whoever began it is the actor."""
    with deletion.attempt(Deletion.objects.due()) as is_begun:
        if not is_begun:
            return
        name = deletion.created_by.get_username() if deletion.created_by else ""
        actor = Actor(door=deletion.door, name=name, token=deletion.token, address=deletion.address)
        with audit.acting(actor):
            for video in Video.objects.filter(deletion=deletion.uuid):
                collections.delete_video(video)
            for source in Source.objects.filter(deletion=deletion.uuid, video=None):
                ingest_pipeline.remove(source)
            for lecture in LectureSession.objects.filter(deletion=deletion.uuid):
                sessions.delete(lecture)
            for table in (Highlight, Note):
                deleting.delete(table._default_manager.filter(deletion=deletion.uuid))
        deletion.delete()


def _begin(rows: Sequence[Deletable], *, total: int, by: User | None) -> Deletion:
    actor = audit.current()
    with transaction.atomic():
        deletion = Deletion.objects.create(
            created_by=by,
            door=actor.door,
            token=actor.token,
            address=actor.address,
            total=total,
            run_after=clock.now() + TAKEN_BACK_WITHIN,
        )
        for table in HIDDEN:
            keys = [row.pk for row in rows if isinstance(row, table)]
            hidden = table._default_manager.filter(pk__in=keys, deletion=None)
            hidden.update(deletion=deletion.uuid)
    return deletion


def _recordings_and_documents(selection: ChosenItems) -> "list[Any]":
    return [*selection.videos, *selection.documents]


def _goes_with_a_recording(row: Deletable) -> bool:
    return isinstance(row, Source) and row.video_id is not None


def record(row: Any, *fields: str) -> None:
    """Tell the audit trail which fields of a recording or document a person changed."""
    kind, name = ("video", row.key) if isinstance(row, Video) else ("document", row.uuid)
    audit.record(Action.CHANGE, kind, name, collection=row.collection, fields=fields)
