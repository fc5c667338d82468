"""Jobs, playlists and channels, the gate to YouTube and the worker, within a scope."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Q

from transcripts.core import audit, deleting
from transcripts.core.audit import Action
from transcripts.core.errors import InvalidUrl, NotFound
from transcripts.core.lists import page_of
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.models import Feed, FeedEntry, Job, Video, WorkerPulse, YouTubeGate
from transcripts.models.jobs import IS_PARTIAL
from transcripts.text.timecodes import parse_target, target_url


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs, newest first. ``next`` is the offset of the next page; None: this is the last."""

    jobs: tuple[Job, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Activity:
    """The number of jobs in each state, and what they wait for. Jobs that failed in part are done,
    and count as failed, too.
    """

    counts: dict[str, int]
    gate: YouTubeGate
    worker_is_alive: bool

    @property
    def unfinished(self) -> int:
        """The number of queued and running jobs."""
        return self.counts[Job.State.QUEUED] + self.counts[Job.State.RUNNING]

    @property
    def is_busy(self) -> bool:
        """Whether something is about to change with time alone."""
        return bool(self.unfinished) or self.gate.state != "open"


@dataclass(frozen=True, slots=True)
class YouTubeQueue:
    """The gate to YouTube, the number of jobs that wait for it, and whether a worker runs."""

    gate: YouTubeGate
    waiting: int
    worker_alive: bool


def summary(scope: Scope) -> Activity:
    jobs = Job.objects.visible(scope).order_by()
    rows = jobs.values_list("state").annotate(
        count=Count("pk"), partial=Count("pk", filter=IS_PARTIAL)
    )
    counts = dict.fromkeys(map(str, Job.State.values), 0)
    for state, count, partial in rows:
        counts[state] += count
        counts[Job.State.FAILED] += partial
    return Activity(
        counts=counts, gate=YouTubeGate.current(), worker_is_alive=WorkerPulse.is_alive()
    )


def youtube_queue(scope: Scope) -> YouTubeQueue:
    queued = Job.objects.visible(scope).filter(state=Job.State.QUEUED)
    return YouTubeQueue(
        gate=YouTubeGate.current(),
        waiting=queued.filter(Job.NEEDS_YOUTUBE).count(),
        worker_alive=WorkerPulse.is_alive(),
    )


def is_unfinished(scope: Scope) -> bool:
    """Whether a job is queued or running, such as one that adds something."""
    return Job.objects.visible(scope).unfinished().exists()


def list_jobs(scope: Scope, *, state: str = "", offset: int = 0, limit: int = 25) -> JobPage:
    """Return a page of jobs; an unknown state selects all, and ``failed`` also those that failed in
    part.
    """
    jobs = (
        Job.objects.visible(scope)
        .select_related("collection", "video", "feed")
        .defer("video__description")
    )
    if state == Job.State.FAILED:
        jobs = jobs.failed()
    elif state in Job.State.values:
        jobs = jobs.filter(state=state)
    rows, following = page_of(jobs.order_by("-pk"), offset, limit)
    annotate(scope, rows)
    Job.find_items(rows)
    return JobPage(jobs=rows, next=following)


def find_job(scope: Scope, pk: int) -> Job:
    """Return a job. Raises ``JobNotFound``."""
    job = Job.objects.visible(scope).select_related("collection", "video", "feed").numbered(pk)
    annotate(scope, [job])
    return job


def annotate(scope: Scope, jobs: Sequence[Job]) -> None:
    """Set what lists show of jobs: ``jobs_before`` of those that wait for their turn, and
    ``listed_title`` of those whose video is not there yet, from its playlist.
    """
    awaited = [job for job in jobs if job.kind == Job.Kind.VIDEO and job.feed_id and not job.video]
    if awaited:
        feeds, targets = {job.feed_id for job in awaited}, {job.target for job in awaited}
        entries = FeedEntry.objects.filter(feed__in=feeds, youtube_id__in=targets)
        titles = {(entry.feed_id, entry.youtube_id): entry.title for entry in entries}
        for job in awaited:
            job.listed_title = titles.get((job.feed_id or 0, job.target), "")
    if any(job.state == Job.State.QUEUED for job in jobs):
        before = Job.objects.count_before(scope)
        for job in jobs:
            job.jobs_before = before.get(job.pk)


def list_feeds(scope: Scope) -> list[Feed]:
    return list(Feed.objects.visible(scope).select_related("collection"))


def find_feed(scope: Scope, pk: int) -> Feed:
    """Return a playlist or channel. Raises ``NotFound``."""
    feed = Feed.objects.visible(scope).select_related("collection").filter(pk=pk).first()
    if feed is None:
        raise NotFound(
            "There is no such playlist or channel.",
            hint="The Activity page lists those you can see.",
        )
    return feed


def remove_feed(feed: Feed) -> None:
    """Delete a playlist or channel; its videos stay."""
    with transaction.atomic():
        audit.record(Action.DELETE, "feed", feed.youtube_id, collection=feed.collection)
        deleting.delete_row(feed)


def schedule(feed: Feed, *, newest: int | None, every_hours: int | None) -> None:
    """Set how many videos are added (None: all) and how often to check (None: on request)."""
    Feed.objects.filter(pk=feed.pk).update(newest=newest, every_hours=every_hours)
    feed.refresh_from_db()
    feed.plan()


@dataclass(frozen=True, slots=True)
class Following:
    """The feeds that follow a channel or playlist, of one collection each.

    Where none does, ``address`` is that of the channel; "" if it is unknown, or several have this
    name.
    """

    feeds: tuple[Feed, ...] = ()
    address: str = ""


def of_channel(scope: Scope, name: str, *, collection: str = "") -> Following:
    """Return who follows a channel; ``collection`` is the slug of the only one that counts."""
    name = clean(name, 200)
    videos = Video.objects.visible(scope).filter(channel__iexact=name).exclude(channel_id="")
    ids = list(videos.order_by().values_list("channel_id", flat=True).distinct()[:10])
    is_it = Q(kind=Feed.Kind.CHANNEL) & (Q(title__iexact=name) | Q(youtube_id__in=ids))
    feeds = _named_feeds(scope, is_it, collection)
    if len(ids) == 1 and not feeds:
        with suppress(InvalidUrl):  # what a file claims to be a channel may be none
            target = parse_target(ids[0])
            return Following(address=target_url(target) if target.kind == "channel" else "")
    return Following(feeds)


def of_playlist(scope: Scope, name: str, *, collection: str = "") -> Following:
    """Return who follows a playlist, or a channel that is listed like one, by title or id."""
    name = clean(name, 300)
    is_it = Q(title__iexact=name) | Q(youtube_id=name)
    return Following(_named_feeds(scope, is_it, collection))


def _named_feeds(scope: Scope, condition: Q, collection: str) -> tuple[Feed, ...]:
    feeds = Feed.objects.visible(scope).filter(condition).select_related("collection")
    return tuple(feeds.filter(collection__slug=collection) if collection else feeds)
