"""Wait for jobs with a progress bar, or perform them here where no worker runs."""

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone
from rich.progress import Progress, TaskID

from kbsite.cli.terminal import bar_label, progress_bar
from transcripts import acquisition
from transcripts.errors import KnowledgeBaseError
from transcripts.models import Job, WorkerPulse

PATIENCE = timedelta(minutes=2)  # a job that is postponed for longer is not waited for
POLL_SECONDS = 0.5


def follow(jobs: Sequence[Job], *, quiet: bool) -> list[Job]:
    """Wait until the jobs, and those that they queue, have ended or are postponed for long.

    Returns all of them.
    """
    followed = _with_queued(jobs)
    with progress_bar(quiet=quiet) as progress:
        bar = progress.add_task("Waiting for YouTube", total=None)
        while pending := [job for job in followed.all() if _is_due_soon(job)]:
            _show(progress, bar, list(followed.all()))
            if WorkerPulse.is_alive() or not _perform(pending):
                time.sleep(POLL_SECONDS)
    return list(followed.all())


def error_of(job: Job) -> KnowledgeBaseError | None:
    """Return why a job failed or was postponed, as the error it raised; None if it succeeded."""
    if job.state == Job.State.DONE or not job.error_code:
        return None
    kinds = (kind for kind in _subclasses(KnowledgeBaseError) if kind.code == job.error_code)
    kind = next(kinds, KnowledgeBaseError)
    error = kind.__new__(kind)
    KnowledgeBaseError.__init__(error, job.error, hint=_hint(job))
    return error


def _hint(job: Job) -> str:
    if job.is_finished or not job.run_after:
        return job.hint
    retry = f"{timezone.localtime(job.run_after):%H:%M}"
    return f"{job.hint} It stays in the queue; `kb serve` tries again at {retry}.".strip()


def _with_queued(jobs: Sequence[Job]) -> QuerySet[Job]:
    condition = Q(pk__in=[job.pk for job in jobs])
    for job in jobs:
        if job.feed_id:
            condition |= Q(feed=job.feed_id, pk__gt=job.pk)
    related = Job.objects.select_related("video__collection", "collection")
    return related.filter(condition).order_by("pk")


def _is_due_soon(job: Job) -> bool:
    return not job.is_finished and (
        job.run_after is None or job.run_after < timezone.now() + PATIENCE
    )


def _perform(pending: Sequence[Job]) -> bool:
    """Perform the first job that is due; return whether there was one."""
    acquisition.recover_abandoned()
    job = Job.objects.ready().filter(pk__in=[job.pk for job in pending]).first()
    if job is None:
        return False
    acquisition.perform(job.pk)
    return True


def _show(progress: Progress, bar: TaskID, jobs: Sequence[Job]) -> None:
    current = next((job for job in jobs if not job.is_finished), jobs[-1])
    label = " · ".join(filter(None, (str(current), current.step or current.error)))
    done = sum(job.is_finished for job in jobs)
    progress.update(bar, description=bar_label(label, 100), completed=done, total=len(jobs))


def _subclasses(kind: type[KnowledgeBaseError]) -> Iterator[type[KnowledgeBaseError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _subclasses(narrower)
