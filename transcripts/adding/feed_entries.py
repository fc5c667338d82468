"""The videos of a playlist or channel, in the order of its list, and what became of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.db.models import Exists, OuterRef

from transcripts.core.errors import NotFound
from transcripts.core.lists import page_of
from transcripts.core.scope import Scope
from transcripts.models import Feed, FeedEntry, Job, Video
from transcripts.youtube import Listing

BATCH: Final = 500


class EntryState(StrEnum):
    """What became of a video of a list."""

    STORED = "stored"
    WAITING = "waiting"
    FAILED = "failed"
    HIDDEN = "hidden"  # by YouTube
    ABSENT = "absent"  # it was deleted here, or its job ended without it


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """An entry, its video in the library, and the last job that was to fetch it."""

    entry: FeedEntry
    video: Video | None = None
    job: Job | None = None

    @property
    def state(self) -> EntryState:
        if self.video:
            return EntryState.STORED
        if self.job and not self.job.is_finished:
            return EntryState.WAITING
        if self.entry.refusal:
            return EntryState.HIDDEN
        is_failed = self.job and self.job.state == Job.State.FAILED
        return EntryState.FAILED if is_failed else EntryState.ABSENT

    @property
    def title(self) -> str:
        return str(self.video or self.entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Some items of a list. Of ``total`` items, ``stored`` are in the library and ``waiting`` are
    queued; ``next`` is an offset or None.
    """

    items: tuple[FeedItem, ...]
    total: int
    stored: int
    waiting: int
    next: int | None


def unseen(feed: Feed, video_ids: Sequence[str]) -> list[str]:
    """Return the videos that are new: a video with a job is not, even if it has no captions or was
    deleted by hand.
    """
    videos = Video.objects.filter(collection=feed.collection, youtube_id__in=video_ids)
    jobs = Job.objects.filter(feed=feed, kind=Job.Kind.VIDEO, target__in=video_ids)
    existing = {
        *videos.values_list("youtube_id", flat=True),
        *jobs.values_list("target", flat=True),
    }
    return [video_id for video_id in dict.fromkeys(video_ids) if video_id not in existing]


def store(feed: Feed, listing: Listing) -> None:
    """Replace the entries of a feed. If only the newest were listed, older ones follow them."""
    earlier = feed.entries.exclude(youtube_id__in=listing.titles).order_by("position", "pk")
    if feed.newest is None:
        earlier.delete()
    titles = {**listing.titles, **dict(earlier.values_list("youtube_id", "title"))}
    refusals = {id: error.message[:200] for id, error in listing.skipped.items()}
    FeedEntry.objects.bulk_create(
        (
            FeedEntry(
                feed=feed, youtube_id=id, position=place, title=title, refusal=refusals.get(id, "")
            )
            for place, (id, title) in enumerate(titles.items())
        ),
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("feed", "youtube_id"),
        update_fields=("position", "title", "refusal"),
    )


def list_items(scope: Scope, feed: Feed, *, offset: int = 0, limit: int = 100) -> FeedPage:
    """Return a page of a feed's list, in its order."""
    entries = feed.entries.order_by("position", "pk")
    rows, following = page_of(entries, offset, limit)
    ids = [entry.youtube_id for entry in rows]
    own = Video.objects.visible(scope).filter(collection=feed.collection_id)
    listed = own.filter(youtube_id__in=ids).defer("description", "chapters")
    videos = {video.youtube_id: video for video in listed}
    fetching = Job.objects.filter(kind=Job.Kind.VIDEO)
    same = fetching.filter(collection=feed.collection_id, target__in=ids)
    jobs = {job.target: job for job in same.order_by("pk")}
    return FeedPage(
        items=tuple(
            FeedItem(entry=entry, video=videos.get(id), job=jobs.get(id))
            for id, entry in zip(ids, rows, strict=True)
        ),
        total=entries.count(),
        stored=entries.filter(Exists(own.filter(youtube_id=OuterRef("youtube_id")))).count(),
        waiting=fetching.unfinished().filter(feed=feed).count(),
        next=following,
    )


def find(feed: Feed, youtube_id: str) -> FeedEntry:
    """Return an entry of a feed. Raises ``NotFound``."""
    entry = feed.entries.filter(youtube_id=youtube_id).first()
    if entry is None:
        raise NotFound("This video is not in the list.", hint="Reload the page.")
    return entry
