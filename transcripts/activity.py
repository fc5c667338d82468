"""What is going on: jobs, playlists and channels, the gate to YouTube, the worker; always within a Scope."""

from dataclasses import dataclass

from django.db.models import Count

from transcripts.errors import NotFound
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some jobs, newest first; ``next`` goes on after the last one, None at the end."""

    jobs: tuple[Job, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class Activity:
    """The state of all long work: how many jobs there are in each state, and what they wait for."""

    counts: dict[str, int]
    gate: YouTubeGate
    worker_is_alive: bool

    @property
    def is_waiting_for_worker(self) -> bool:
        """Whether there is work and nobody to do it."""
        return not self.worker_is_alive and bool(self.unfinished)

    @property
    def unfinished(self) -> int:
        """How many jobs are queued or running."""
        return self.counts[Job.State.QUEUED] + self.counts[Job.State.RUNNING]


def summary(scope: Scope) -> Activity:
    """Return how things stand."""
    found = dict(Job.objects.visible(scope).order_by().values_list("state").annotate(Count("pk")))
    counts = {str(state): found.get(state, 0) for state in Job.State.values}
    return Activity(
        counts=counts, gate=YouTubeGate.current(), worker_is_alive=WorkerPulse.is_alive()
    )


def list_jobs(scope: Scope, *, state: str = "", offset: int = 0, limit: int = 25) -> JobPage:
    """Return a page of jobs, of one state if one is named."""
    found = (
        Job.objects.visible(scope)
        .select_related("collection", "video", "feed")
        .defer("video__description")
    )
    if state in Job.State.values:
        found = found.filter(state=state)
    rows = tuple(found.order_by("-pk")[offset : offset + limit + 1])
    return JobPage(jobs=rows[:limit], next=offset + limit if len(rows) > limit else None)


def find_job(scope: Scope, pk: int) -> Job:
    """Return a job. Raises ``JobNotFound``."""
    return Job.objects.visible(scope).select_related("collection", "video", "feed").numbered(pk)


def list_feeds(scope: Scope) -> list[Feed]:
    """Return the playlists and channels that videos are taken from."""
    return list(Feed.objects.visible(scope).select_related("collection"))


def find_feed(scope: Scope, pk: int) -> Feed:
    """Return a playlist or channel. Raises ``NotFound``."""
    found = Feed.objects.visible(scope).select_related("collection").filter(pk=pk).first()
    if found is None:
        raise NotFound(
            "There is no such playlist or channel.",
            hint="The Activity page lists those you can see.",
        )
    return found


def schedule(feed: Feed, *, newest: int | None, every_hours: int | None) -> None:
    """Change how many videos of a feed are taken (None: all) and how often it is looked at (None: only when asked)."""
    Feed.objects.filter(pk=feed.pk).update(newest=newest, every_hours=every_hours)
    feed.refresh_from_db()
    feed.plan()


def remove_feed(feed: Feed) -> None:
    """Stop taking videos from a playlist or channel; the videos stay."""
    feed.delete()
