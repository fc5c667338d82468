"""The queue as `kb` shows and changes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from kbsite.cli import job_progress, shapes
from kbsite.cli.terminal import note, print_json, table
from kbsite.errors import exit_code_of
from transcripts import acquisition, activity, library, tasks
from transcripts.errors import Conflict, InvalidUrl, NotFound
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate
from transcripts.scope import Scope
from transcripts.timecodes import parse_target

LATELY = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Overview:
    """The jobs, whether a worker lives, and the gate to YouTube."""

    jobs: list[Job]
    worker: bool
    gate: str
    gate_text: str
    retry_at: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        gate = {"state": self.gate, "text": self.gate_text, "retry_at": self.retry_at}
        return {
            "jobs": [shapes.job(job) for job in self.jobs],
            "worker": self.worker,
            "youtube": gate,
        }


def overview(scope: Scope, *, everything: bool, limit: int) -> Overview:
    """Return the unfinished jobs and those that failed lately, or all, newest first."""
    jobs = Job.objects.visible(scope).select_related("collection", "video__collection")
    if not everything:
        jobs = jobs.filter(
            Q(state__in=(Job.State.QUEUED, Job.State.RUNNING))
            | Q(state=Job.State.FAILED, finished_at__gte=timezone.now() - LATELY)
        )
    gate = YouTubeGate.current()
    retry_at = gate.free_at.isoformat() if gate.state == "closed" else None
    return Overview(
        jobs=list(jobs[:limit]),
        worker=WorkerPulse.is_alive(),
        gate=gate.state,
        gate_text=gate_text(gate),
        retry_at=retry_at,
    )


def gate_text(gate: YouTubeGate) -> str:
    """Say in words whether YouTube is asked, since when not, and why."""
    if gate.state == "open":
        return "open"
    if gate.state == "probing":
        return f"one question is asked next, to see whether it answers again ({gate.reason})"
    return f"closed until {timezone.localtime(gate.free_at):%H:%M}: {gate.reason} `kb jobs reopen` tries at once."


def reopen() -> dict[str, Any]:
    """Open the gate and say so."""
    YouTubeGate.reopen()
    gate = YouTubeGate.current()
    return {"state": gate.state, "text": gate_text(gate)}


def retry(scope: Scope, number: int, *, wait: bool, quiet: bool) -> list[Job]:
    """Queue a finished job again. Raises ``JobNotFound``, ``Conflict`` for one that is not finished."""
    job = activity.find_job(scope, number)
    if not job.is_finished:
        raise Conflict(
            f"Job {number} is not finished: it is {job.get_state_display()}.",
            hint="It goes on by itself where a worker runs.",
        )
    if job.kind == Job.Kind.FILES and not job.files.exists():
        raise Conflict(f"The files of job {number} are no longer kept.", hint="Add them again.")
    with transaction.atomic():
        job.retry()
        tasks.send(job)
    return _followed([job], wait=wait, quiet=quiet)


def sync(scope: Scope, reference: str, *, collection: str, wait: bool, quiet: bool) -> list[Job]:
    """Look at one playlist or channel, or at all, for what is new. Raises ``NotFound``."""
    feeds = Feed.objects.visible(scope).select_related("collection")
    if collection:
        feeds = feeds.filter(collection=library.find_collection(scope, collection))
    if reference:
        feeds = feeds.filter(Q(youtube_id=_feed_id(reference)) | Q(title__iexact=reference))
    found = list(feeds)
    if not found:
        raise NotFound(
            "There is no such playlist or channel."
            if reference
            else "No playlist or channel was added yet.",
            hint="Add one with `kb add URL`.",
        )
    jobs = [acquisition.request_feed(feed) for feed in found]
    for job in jobs:
        tasks.send(job)
    return _followed(jobs, wait=wait, quiet=quiet)


def print_jobs(jobs: Sequence[Job], *, as_json: bool) -> None:
    """Show jobs, and what is to be done about those that failed."""
    if as_json:
        print_json({"jobs": [shapes.job(job) for job in jobs]})
        return
    rows = ((job.pk, job, job.get_state_display(), _progress(job), job.error) for job in jobs)
    table(("Job", "What", "State", "Progress", "Problem"), rows, empty="No jobs.")
    for hint in dict.fromkeys(job.hint for job in jobs if job.hint):
        note(hint)


def exit_code(jobs: Sequence[Job]) -> int:
    """Return the exit code of the first job that failed or was put off."""
    errors = [error for job in jobs if (error := job_progress.error_of(job))]
    return exit_code_of(errors[0]) if errors else 0


def _followed(jobs: list[Job], *, wait: bool, quiet: bool) -> list[Job]:
    return job_progress.follow(jobs, quiet=quiet).jobs if wait else jobs


def _progress(job: Job) -> str:
    if job.state == Job.State.QUEUED and job.run_after:
        return f"at {timezone.localtime(job.run_after):%H:%M}"
    return f"{job.percent} % {job.step}".strip() if job.state == Job.State.RUNNING else ""


def _feed_id(reference: str) -> str:
    try:
        return parse_target(reference).id
    except InvalidUrl:
        return reference
