"""Jobs: long work that a worker does, and what one keeps of its parts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Self

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import BooleanField, Func, OuterRef, Q
from django.db.models.functions import Greatest
from django.utils import timezone
from django.utils.formats import localize
from django.utils.functional import cached_property
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from transcripts.captions.caption_errors import CODES, SameText
from transcripts.core import clock, locks
from transcripts.core.errors import JobNotFound, KnowledgeBaseError, MediaWithoutCaptions
from transcripts.core.locks import Lock
from transcripts.core.scope import Scope
from transcripts.core.work.models import (
    NO_ERROR,
    QueuedWork,
    QueuedWorkQuerySet,
    error_columns,
    in_turn,
)
from transcripts.models.collections import Collection, Feed, readable
from transcripts.models.videos import Video

ENQUEUE_TRIES = 3
MAX_PROBLEMS = 1_000  # of one job
MAX_READ = 200  # files whose way a job keeps
# Codes of problems of parts that succeeded.
WARNINGS = (*CODES, MediaWithoutCaptions.code)
_OTHERS: Final = " && ".join(f'@.code != "{code}"' for code in WARNINGS)
_DONE: Final = {"video": _("captions fetched"), "page": _("page fetched"), "listen": _("heard")}
# A job that is done, but for parts that failed; as ``Job.is_partial`` says it.
IS_PARTIAL: Final = Q(state="done") & Q(
    Func(
        "problems",
        # The length of an array is known at once; most jobs have no problem.
        template="(jsonb_array_length(%(expressions)s) > 0"
        f" AND jsonb_path_exists(%(expressions)s, '$[*] ? ({_OTHERS})'))",
        output_field=BooleanField(),
    )
)


def problem(name: str, error: KnowledgeBaseError) -> dict[str, str]:
    """Return what a job keeps of a part that failed, or of a warning."""
    return {"name": name[:200], "code": error.code, "message": error.message, "hint": error.hint}


def read_row(
    name: str, *, change: str, video: Video | None = None, document: str = "", media: str = ""
) -> dict[str, Any]:
    """Return what a job keeps of a file that was read: its item, or the id of its document."""
    item = {"video": video.pk} if video else {"document": document}
    return {"name": name[:200], "change": change, "media": media[:200], **item}


def failures(codes: Iterable[str]) -> int:
    """Count the problems of a job that are no warnings."""
    return sum(code not in WARNINGS for code in codes)


class JobQuerySet(QueuedWorkQuerySet["Job"]):
    def visible(self, scope: Scope) -> Self:
        """Keep the jobs that the scope may read."""
        return readable(self, scope)

    def numbered(self, pk: int) -> "Job":
        """Return the job with this id. Raises ``JobNotFound``."""
        job = self.filter(pk=pk).first()
        if job is None:
            raise JobNotFound(
                f"There is no job {pk}.",
                hint="`kb jobs` and the Activity page list the jobs you can see.",
            )
        return job

    def unfinished(self) -> "JobQuerySet":
        """Keep the queued and the running jobs."""
        return self.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))

    def failed(self) -> "JobQuerySet":
        """Keep the jobs that failed, also those that failed in part."""
        return self.filter(Q(state=Job.State.FAILED) | IS_PARTIAL)

    def same_as(self, job: "Job") -> "JobQuerySet":
        """Keep the jobs that do the same as this one."""
        same = ("collection_id", "kind", "target", "language", "translated")
        return self.filter(**{name: getattr(job, name) for name in same})

    def ready(self) -> "JobQuerySet":
        """Keep the queued jobs that are due, the most urgent first, then by turns."""
        same = {name: OuterRef(name) for name in ("kind", "priority")}
        return in_turn(
            self.due().filter(state=Job.State.QUEUED),
            classes=("-priority", "kind"),
            started=Job.objects.filter(**same),
            names=("created_by", "started_at"),
        )

    def next_like(self, job: "Job") -> "Job | None":
        """Return the job whose turn it is, of those that need YouTube if this one does."""
        ready = self.ready().exclude(pk__in=locks.held_keys(Job.LOCK))
        return ready.filter(Job.NEEDS_YOUTUBE if job.needs_youtube else ~Job.NEEDS_YOUTUBE).first()

    def count_before(self, scope: Scope) -> dict[int, int]:
        """Return for each ready job how many that the scope may read have their turn before it."""
        counts = {True: 0, False: 0}  # those that need YouTube wait for each other alone
        before = {}
        for pk, kind, collection in self.ready().values_list("pk", "kind", "collection"):
            is_of_youtube = kind in Job.OF_YOUTUBE
            before[pk] = counts[is_of_youtube]
            counts[is_of_youtube] += collection in scope.readable
        return before

    def abandoned(self) -> "list[Job]":
        """Return the running jobs whose worker was killed."""
        return [job for job in self.filter(state=Job.State.RUNNING) if not job.is_held()]


class Job(QueuedWork):
    LOCK = Lock.JOB
    OF_YOUTUBE: Final = ("video", "feed")  # kinds
    NEEDS_YOUTUBE: Final = Q(kind__in=OF_YOUTUBE)
    listed_title = ""  # of a video in its playlist; see ``activity.annotate``
    jobs_before: int | None = None  # it, if it waits for its turn; see ``activity.annotate``

    class Kind(models.TextChoices):
        VIDEO = "video", _("fetch a video")
        FEED = "feed", _("read a playlist or channel")
        FILES = "files", _("import files")
        PAGE = "page", _("fetch a web page")
        LISTEN = "listen", _("listen to a recording")

    class Listens(models.TextChoices):
        MISSING = "missing", _("if it has no captions")
        NOW = "now", _("whatever captions it has")

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    target = models.CharField(
        max_length=2048,
        help_text="The id of the video, playlist or channel, an address, or a name for the files.",
    )
    language = models.CharField(max_length=35, blank=True)
    translated = models.BooleanField(
        default=False, help_text="Take a machine translation where the language has no captions."
    )
    listens = models.CharField(
        max_length=7,
        choices=Listens.choices,
        blank=True,
        db_default="",
        help_text="Whether a video is listened to.",
    )
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
    priority = models.SmallIntegerField(default=0, help_text="Higher goes first.")
    problems = models.JSONField(default=list, blank=True, help_text="Parts that failed.")
    read = models.JSONField(
        default=list, blank=True, help_text="What became of files: item, joined, sound or video."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    refused_at = models.DateTimeField(
        null=True, blank=True, help_text="When YouTube last refused it and the gate closed."
    )

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed"]), name="job_state"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["video", "feed", "files", "page", "listen"]), name="job_kind"
            ),
            models.UniqueConstraint(
                fields=("collection", "kind", "target", "language", "translated"),
                condition=Q(state__in=["queued", "running"]) & ~Q(kind__in=["files", "listen"]),
                name="job_unfinished_once",
            ),
        )
        indexes = (
            models.Index(fields=("-priority", "id"), condition=Q(state="queued"), name="job_queue"),
            models.Index(
                fields=("collection", "created_by", "kind", "priority", "started_at"),
                name="job_lane",
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.target}"

    @property
    def needs_youtube(self) -> bool:
        """Whether the job has to wait for the gate to YouTube."""
        return self.kind in self.OF_YOUTUBE

    @property
    def is_finished(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED)

    @property
    def percent(self) -> int:
        """The progress, 0 to 100."""
        if self.state == self.State.DONE:
            return 100
        return min(99, 100 * self.done // self.total) if self.total else 0

    @property
    def failed_parts(self) -> list[dict[str, str]]:
        """The problems of parts that failed."""
        return [problem for problem in self.problems if problem["code"] not in WARNINGS]

    @property
    def warnings(self) -> list[dict[str, str]]:
        """The problems of parts that succeeded, but for copies that ``read`` tells."""
        copies = {(SameText.code, row["name"]) for row in self.read if "same" in row}
        return [
            problem
            for problem in self.problems
            if problem["code"] in WARNINGS and (problem["code"], problem["name"]) not in copies
        ]

    @property
    def failure_count(self) -> int:
        return len(self.failed_parts)

    @property
    def read_count(self) -> int:
        """How many parts are done and did not fail."""
        return max(0, self.done - self.failure_count)

    @property
    def is_partial(self) -> bool:
        """Whether it is done, but for parts that failed."""
        return self.state == self.State.DONE and bool(self.failed_parts)

    @property
    def state_text(self) -> str:
        """Its state in words: of one that is done, what it did."""
        return state_text(self.kind, self.state, done=self.done, failed=self.failure_count)

    def hasten(self, *, priority: int, tags: list[str]) -> None:
        """Raise the priority of a queued job to this one, and add tags."""
        merged = list(dict.fromkeys([*self.tags, *tags]))
        if Job.objects.filter(pk=self.pk, state=self.State.QUEUED).update(
            priority=Greatest("priority", priority), tags=merged
        ):
            self.refresh_from_db(fields=["priority", "tags"])

    def start(self, **values: Any) -> None:
        """Record that work begins."""
        super().start(state=self.State.RUNNING, started_at=clock.now(), **NO_ERROR, **values)

    def report(self, *, step: str, **counts: int) -> None:
        """Record the progress: ``done`` parts of ``total``."""
        self.change(step=step, **counts)

    def add_problems(self, errors: Mapping[str, KnowledgeBaseError]) -> None:
        """Record failed parts or warnings by name: at most ``MAX_PROBLEMS`` in all."""
        added = [problem(name, error) for name, error in errors.items()]
        self.change(problems=[*self.problems, *added][:MAX_PROBLEMS])

    def add_read(
        self,
        name: str,
        *,
        video: Video,
        change: str,
        is_joined: bool = False,
        media: str = "",
        same_as: Video | None = None,
    ) -> None:
        """Record where a file went, and the ``StorageChange`` there: to an item of its own, or to
        ``is_joined``, which had captions in another language; the sound or video file that plays
        there; and another item (``same_as``) that has the same text. At most ``MAX_READ``.
        """
        row = read_row(name, video=video, change=change, media=media) | {"is_joined": is_joined}
        if same_as:
            row["same"] = {"video": same_as.pk, "title": str(same_as)}
        self.change(read=[*self.read, row][:MAX_READ])

    @cached_property
    def items(self) -> frozenset[int]:
        """The primary keys of the items that it brought and that were not deleted since."""
        return _present(self._item_keys)

    @classmethod
    def find_items(cls, jobs: "Sequence[Job]") -> None:
        """Find the ``items`` of several jobs by one query."""
        present = _present(frozenset().union(*(job._item_keys for job in jobs)))
        for job in jobs:
            job.items = present & job._item_keys

    @property
    def _item_keys(self) -> frozenset[int]:
        same = (row["same"] for row in self.read if "same" in row)
        return self.video_keys.union(row["video"] for row in same)

    @property
    def video_keys(self) -> frozenset[int]:
        """The primary keys of the videos that it brought or renewed, as far as they are kept."""
        fetched = {self.video_id} if self.video_id else set()
        return frozenset(fetched | {row["video"] for row in self.read if "video" in row})

    @property
    def document_ids(self) -> frozenset[str]:
        """The ids of the documents that were sent with its files."""
        return frozenset(row["document"] for row in self.read if "document" in row)

    @property
    def unlisted(self) -> int:
        """How many files were read beyond those whose way is kept."""
        return max(0, self.read_count - MAX_READ) if len(self.read) >= MAX_READ else 0

    def finish(self, *, video: Video | None = None) -> None:
        """Record success."""
        columns: dict[str, Any] = {} if video is None else {"video": video}
        self.change(
            state=self.State.DONE, step="", finished_at=timezone.now(), run_after=None, **columns
        )

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that it ended without success, and why."""
        self.change(
            state=self.State.FAILED, step="", finished_at=timezone.now(), **error_columns(error)
        )

    def postpone(self, **values: Any) -> None:
        """Queue a running job again until a later time."""
        super().postpone(state=self.State.QUEUED, step="", **values)

    def retry(self, **values: Any) -> None:
        """Queue a finished job again from the start."""
        self.restart(state=self.State.QUEUED, finished_at=None, problems=[], **values)


def state_text(kind: str, state: str, *, done: int, failed: int) -> str:
    """Return the state of a job in words: of one that is done, what it did with ``done`` parts."""
    if state == Job.State.DONE and kind in _DONE:
        return str(_DONE[kind])
    if state != Job.State.DONE or not done:
        return str(Job.State(state).label)
    if kind == Job.Kind.FEED:
        count, text = done, ngettext("%(count)s video found", "%(count)s videos found", done)
    else:
        count = max(0, done - failed)
        text = ngettext("%(count)s file read", "%(count)s files read", count)
    if kind == Job.Kind.FILES and failed:
        text = gettext("%(count)s of %(total)s files read")
    return text % {"count": localize(count), "total": localize(done)}


def _present(keys: frozenset[int]) -> frozenset[int]:
    """Return the videos of these that were not deleted; others may have moved them since."""
    present = Video.objects.filter(deletion=None, pk__in=keys)
    return frozenset(present.values_list("pk", flat=True)) if keys else keys


def enqueue(job: Job) -> tuple[Job, bool]:
    """Save a new job, or return an unfinished one that does the same; and whether it is new."""
    for _attempt in range(ENQUEUE_TRIES - 1):
        with suppress(IntegrityError), transaction.atomic():
            job.save(force_insert=True)
            return job, True
        if existing := Job.objects.unfinished().same_as(job).first():
            return existing, False
    # The other job ended between the two statements each time; or another constraint failed.
    job.save(force_insert=True)
    return job, True
