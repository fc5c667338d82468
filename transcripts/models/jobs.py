"""Long work. The row is the truth: a message to a worker only says that there may be something to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from transcripts import locks
from transcripts.errors import JobNotFound, KnowledgeBaseError
from transcripts.locks import Lock
from transcripts.models.collections import Collection
from transcripts.models.videos import Feed, Video
from transcripts.scope import Scope

ENQUEUE_TRIES = 3


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs, as far as a scope reaches, and those that wait for a worker."""

    def visible(self, scope: Scope) -> "JobQuerySet":
        """Keep those of collections that the scope may read."""
        return self.filter(collection__in=scope.readable)

    def numbered(self, pk: int) -> "Job":
        """Return one; raise ``JobNotFound``."""
        found = self.filter(pk=pk).first()
        if found is None:
            raise JobNotFound(
                f"There is no job {pk}.",
                hint="`kb jobs` and the Activity page list the jobs you can see.",
            )
        return found

    def unfinished(self) -> "JobQuerySet":
        """Keep those that are queued or running."""
        return self.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))

    def same_as(self, job: "Job") -> "JobQuerySet":
        """Keep those that do the same as this one."""
        return self.filter(
            collection=job.collection_id, kind=job.kind, target=job.target, language=job.language
        )

    def ready(self) -> "JobQuerySet":
        """Keep the queued ones whose time has come, most urgent and oldest first."""
        return (
            self.filter(state=Job.State.QUEUED)
            .filter(Q(run_after=None) | Q(run_after__lte=timezone.now()))
            .order_by("-priority", "pk")
        )

    def unsent(self, *, after: timedelta) -> "JobQuerySet":
        """Keep those for which no message went out lately: it was never sent, or was lost."""
        return self.filter(Q(sent_at=None) | Q(sent_at__lt=timezone.now() - after))

    def abandoned(self) -> "list[Job]":
        """Return the running ones that no living process holds: their worker was killed."""
        return [job for job in self.filter(state=Job.State.RUNNING) if not job.is_held()]


class Job(models.Model):
    """One piece of long work, its progress and how it ended."""

    class Kind(models.TextChoices):
        VIDEO = "video", "fetch a video"
        FEED = "feed", "read a playlist or channel"
        FILES = "files", "import files"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.CharField(
        max_length=200,
        help_text="The video's id, the playlist's or channel's id, or what the files are.",
    )
    language = models.CharField(max_length=35, blank=True)
    tags = models.JSONField(default=list, blank=True)
    feed = models.ForeignKey(
        Feed, on_delete=models.CASCADE, null=True, blank=True, related_name="jobs"
    )
    video = models.ForeignKey(
        Video, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    step = models.CharField(max_length=60, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    priority = models.SmallIntegerField(default=0, help_text="Higher goes first.")
    attempts = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    problems = models.JSONField(
        default=list, blank=True, help_text="Parts that failed while the rest went on."
    )
    run_after = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed"]), name="job_state"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["video", "feed", "files"]), name="job_kind"
            ),
            models.UniqueConstraint(
                fields=("collection", "kind", "target", "language"),
                condition=Q(state__in=["queued", "running"]) & ~Q(kind="files"),
                name="job_unfinished_once",
            ),
        )
        indexes = (
            models.Index(fields=("-priority", "id"), condition=Q(state="queued"), name="job_queue"),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.target}"

    @property
    def needs_youtube(self) -> bool:
        """Whether the work asks YouTube for something, and so waits for its gate."""
        return self.kind != self.Kind.FILES

    @property
    def is_finished(self) -> bool:
        """Whether it ended, well or not."""
        return self.state in (self.State.DONE, self.State.FAILED)

    @property
    def percent(self) -> int:
        """How much is done, 0 to 100."""
        if self.state == self.State.DONE:
            return 100
        return min(99, 100 * self.done // self.total) if self.total else 0

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Hold this job while the block runs; yields False when another process holds it.

        The hold is a PostgreSQL session lock, so that it ends by itself when its process is killed. Nothing has to time out.
        """
        with locks.hold(Lock.JOB, self.pk) as held:
            yield held

    def is_held(self) -> bool:
        """Say whether a living process works on it."""
        return locks.is_held(Lock.JOB, self.pk)

    def hasten(self, *, priority: int, tags: list[str]) -> None:
        """Let it go at least as early as ``priority`` says, and put these tags on what it makes as well, while it waits."""
        merged = list(dict.fromkeys([*self.tags, *tags]))
        if Job.objects.filter(pk=self.pk, state=self.State.QUEUED).update(
            priority=Greatest("priority", priority), tags=merged
        ):
            self.refresh_from_db(fields=["priority", "tags"])

    def start(self) -> None:
        """Note that work begins."""
        self._change(
            state=self.State.RUNNING,
            started_at=timezone.now(),
            run_after=None,
            error_code="",
            error="",
            hint="",
            attempts=F("attempts") + 1,
        )

    def report(self, *, step: str, done: int | None = None, total: int | None = None) -> None:
        """Say how far it is."""
        changes: dict[str, Any] = {"step": step}
        if done is not None:
            changes["done"] = done
        if total is not None:
            changes["total"] = total
        self._change(**changes)

    def add_problem(self, *, name: str, error: KnowledgeBaseError) -> None:
        """Note that a part failed, at most a thousand of them."""
        self.problems = [
            *self.problems,
            {"name": name[:200], "code": error.code, "message": error.message, "hint": error.hint},
        ][:1000]
        self._change(problems=self.problems)

    def finish(self, *, video: Video | None = None) -> None:
        """Note that all is done."""
        changes: dict[str, Any] = {
            "state": self.State.DONE,
            "step": "",
            "finished_at": timezone.now(),
            "run_after": None,
        }
        if video is not None:
            changes["video"] = video
        self._change(**changes)

    def fail(self, error: KnowledgeBaseError) -> None:
        """Note that it ended without success, and why."""
        self._change(
            state=self.State.FAILED,
            step="",
            finished_at=timezone.now(),
            error_code=error.code,
            error=error.message,
            hint=error.hint,
        )

    def put_back(
        self,
        *,
        until: datetime | None = None,
        error: KnowledgeBaseError | None = None,
        counts: bool = True,
    ) -> None:
        """Queue it again, not to be taken before ``until``; with ``counts`` false the attempt is not counted."""
        changes: dict[str, Any] = {
            "state": self.State.QUEUED,
            "run_after": until,
            "sent_at": None,
            "step": "",
        }
        if error is not None:
            changes |= {"error_code": error.code, "error": error.message, "hint": error.hint}
        if not counts:
            changes["attempts"] = models.Case(
                models.When(attempts__gt=0, then=F("attempts") - 1), default=0
            )
        self._change(**changes)

    def retry(self) -> None:
        """Queue a finished job again from the start."""
        self._change(
            state=self.State.QUEUED,
            attempts=0,
            run_after=None,
            sent_at=None,
            finished_at=None,
            error_code="",
            error="",
            hint="",
            problems=[],
        )

    def mark_sent(self) -> None:
        """Note that a message to the workers went out."""
        self._change(sent_at=timezone.now())

    def mark_unsent(self) -> None:
        """Note that the message did not go out."""
        self._change(sent_at=None)

    def _change(self, **changes: Any) -> None:
        # One statement, so that a job that was deleted meanwhile stays deleted.
        if Job.objects.filter(pk=self.pk).update(**changes):
            self.refresh_from_db(fields=list(changes))


class JobFile(models.Model):
    """A file that a job is to import; it leaves the table in the same transaction that stores its transcript."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=300)
    data = models.BinaryField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.name


class WorkerPulse(models.Model):
    """The last moment a worker looked at the queue: one row, made by the first worker."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"worker seen {self.seen_at}"

    @classmethod
    def beat(cls) -> None:
        """Say that a worker is alive."""
        cls.objects.update_or_create(pk=1, defaults={"seen_at": timezone.now()})

    @classmethod
    def is_alive(cls, *, within: timedelta = timedelta(seconds=45)) -> bool:
        """Say whether a worker looked at the queue lately."""
        return cls.objects.filter(seen_at__gte=timezone.now() - within).exists()


def enqueue(job: Job) -> tuple[Job, bool]:
    """Save a new job, or return the unfinished one that does the same; says whether it is new."""
    for _ in range(ENQUEUE_TRIES - 1):
        try:
            return _inserted(job), True
        except IntegrityError:
            if found := Job.objects.unfinished().same_as(job).first():
                return found, False
    return (
        _inserted(job),
        True,
    )  # the other one ended each time between the two looks; or it is another constraint, which is told


def _inserted(job: Job) -> Job:
    with transaction.atomic():
        job.save(force_insert=True)
    return job
