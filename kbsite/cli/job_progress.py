"""Waiting for jobs with a bar; where no worker lives, the work is done here."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from kbsite.cli.terminal import err, printable
from transcripts import acquisition
from transcripts.errors import KnowledgeBaseError
from transcripts.models import Job, WorkerPulse

PATIENCE = timedelta(
    minutes=2
)  # a job put off for longer, because YouTube refuses or a premiere is to come, is not waited for
EVERY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class FinalJobs:
    """The jobs as they are now, those that they queued included."""

    jobs: list[Job]


def follow(jobs: Sequence[Job], *, quiet: bool) -> FinalJobs:
    """Wait until the jobs, and those that they queue, have ended or are put off for longer than ``PATIENCE``."""
    wanted = _with_offspring(jobs)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err(), transient=True, disable=quiet) as progress:
        bar = progress.add_task("Waiting for YouTube", total=None)
        while pending := [job for job in _all(wanted) if _is_worth_waiting(job)]:
            _show(progress, bar, _all(wanted))
            if WorkerPulse.is_alive() or not _work(pending):
                time.sleep(EVERY_SECONDS)
    return FinalJobs(jobs=list(_all(wanted)))


def error_of(job: Job) -> KnowledgeBaseError | None:
    """Return why a job failed or was put off, as the error that it was; None when it went well."""
    if job.state == Job.State.DONE or not job.error_code:
        return None
    kind = next(
        (kind for kind in _kinds(KnowledgeBaseError) if kind.code == job.error_code),
        KnowledgeBaseError,
    )
    error = kind.__new__(kind)
    KnowledgeBaseError.__init__(error, job.error, hint=_hint(job))
    return error


def _hint(job: Job) -> str:
    if job.is_finished or not job.run_after:
        return job.hint
    return f"{job.hint} It stays in the queue and is tried again at {timezone.localtime(job.run_after):%H:%M}, if `kb serve` runs then.".strip()


def _with_offspring(jobs: Sequence[Job]) -> Q:
    wanted = Q(pk__in=[job.pk for job in jobs])
    for job in jobs:
        if job.feed_id:
            wanted |= Q(feed=job.feed_id, pk__gt=job.pk)
    return wanted


def _all(wanted: Q) -> Iterable[Job]:
    return (
        Job.objects.filter(wanted).select_related("video__collection", "collection").order_by("pk")
    )


def _is_worth_waiting(job: Job) -> bool:
    return not job.is_finished and (
        job.run_after is None or job.run_after < timezone.now() + PATIENCE
    )


def _work(pending: Sequence[Job]) -> bool:
    """Do the first of the jobs whose time has come; says whether there was one."""
    acquisition.recover_abandoned()
    job = Job.objects.ready().filter(pk__in=[one.pk for one in pending]).first()
    if job is None:
        return False
    acquisition.perform(job.pk)
    return True


def _show(progress: Progress, bar: TaskID, jobs: Iterable[Job]) -> None:
    rows = list(jobs)
    current = next((job for job in rows if not job.is_finished), rows[-1])
    words = " · ".join(filter(None, (str(current), current.step or current.error)))
    progress.update(
        bar,
        description=printable(words)[:100].replace("[", "("),
        completed=sum(job.is_finished for job in rows),
        total=len(rows),
    )


def _kinds(kind: type[KnowledgeBaseError]) -> Iterable[type[KnowledgeBaseError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
