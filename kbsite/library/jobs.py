"""Jobs of this machine: follow them to their end, and say where they are."""

import time
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from kbsite.library import TaskProgress
from transcripts.adding import acquisition, video_sound
from transcripts.core.errors import KnowledgeBaseError, rebuilt
from transcripts.models import Job, WorkerPulse
from transcripts.schemas import JobOut

PATIENCE = timedelta(minutes=2)  # a job that is postponed for longer is not waited for
POLL_SECONDS = 0.5


def follow(jobs: Sequence[Job], progress: TaskProgress) -> list[Job]:
    """Wait until the jobs, and those that they queue, have ended or are postponed for long.

    Returns all of them.
    """
    condition = Q(pk__in=[job.pk for job in jobs])
    for job in jobs:
        if job.feed_id:
            condition |= Q(feed=job.feed_id, pk__gt=job.pk)
    related = Job.objects.select_related("video__collection", "collection")
    followed = related.filter(condition).order_by("pk")
    progress.show("Waiting for YouTube")
    while pending := [job for job in followed.all() if is_due(job)]:
        present = list(followed.all())
        current = next((job for job in present if not job.is_finished), present[-1])
        label = " · ".join(filter(None, (str(current), current.step or current.error)))
        progress.show(label, sum(job.is_finished for job in present), len(present))
        if WorkerPulse.is_alive() or not _perform(pending):
            time.sleep(POLL_SECONDS)
    return list(followed.all())


def is_due(job: Job | JobOut) -> bool:
    """Tell whether a job runs, or will soon: one that YouTube refused may wait for hours."""
    is_postponed = job.run_after is not None and job.run_after > timezone.now() + PATIENCE
    return job.finished_at is None and not is_postponed


def place_text(job: Job | JobOut) -> str:
    """Return how many jobs have their turn before this one, if it waits for its turn."""
    return f"{job.jobs_before} before this" if job.jobs_before else ""


def error_of(job: Job) -> KnowledgeBaseError | None:
    """Return why a job failed or was postponed, as the error it raised; None if it succeeded."""
    if job.state == Job.State.DONE or not job.error_code:
        return None
    hint = job.hint
    if not job.is_finished and job.waits_until:
        retry = f"{timezone.localtime(job.waits_until):%H:%M}"
        hint = f"{hint} It stays in the queue; `kb serve` tries again at {retry}.".strip()
    elif video_sound.can_be_heard(job):
        hint = f"{hint} `kb jobs retry {job.pk} --listen` does it."
    return rebuilt(job.error_code, job.error, hint)


def _perform(pending: Sequence[Job]) -> bool:
    acquisition.recover_abandoned()
    job = Job.objects.ready().filter(pk__in=[job.pk for job in pending]).first()
    if job is None:
        return False
    acquisition.perform(job.pk)
    return True
