"""`kb jobs` and `kb sync`: the queue, the gate to YouTube, and new videos of feeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import typer
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from kbsite import celery
from kbsite.cli import job_progress
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollection, Json, Wait, argument
from kbsite.cli.terminal import exit_code_of, note, print_json, print_result, say, table
from transcripts import acquisition, activity, library
from transcripts.errors import Conflict, InvalidUrl, NotFound
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate
from transcripts.schemas import JobOut
from transcripts.scope import Scope
from transcripts.timecodes import parse_target

RECENT = timedelta(days=2)

app = typer.Typer(help="List jobs, retry one, or reopen the YouTube gate.")


@dataclass(frozen=True, slots=True)
class QueueOverview:
    """The jobs, whether a worker runs, and the gate to YouTube."""

    jobs: list[Job]
    worker: bool
    gate: YouTubeGate

    def as_json(self) -> dict[str, Any]:
        is_closed = self.gate.state == "closed"
        retry_at = self.gate.free_at.isoformat() if is_closed else None
        return {
            "jobs": [JobOut.model_validate(job) for job in self.jobs],
            "worker": self.worker,
            "youtube": {**_gate_json(self.gate), "retry_at": retry_at},
        }

    def print(self) -> None:
        style = "green" if self.gate.state == "open" else "yellow"
        say(f"YouTube: {gate_text(self.gate)}", style)
        if not self.worker:
            note("No worker is running: `kb serve` starts one.", "yellow")
        _print_jobs(self.jobs)


def sync(
    feed: Annotated[
        str, argument("[FEED]", "A playlist or channel: its id, title or address; unset: all.")
    ] = "",
    collection: InCollection = "",
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Fetch new videos of the added playlists and channels."""
    feeds = _find_feeds(open_library(), feed, collection)
    jobs = [acquisition.request_feed(feed) for feed in feeds]
    for job in jobs:
        celery.send(job)
    _end(jobs, wait=wait, as_json=as_json)


@app.callback(invoke_without_command=True)
def list_jobs(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Finished jobs too.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most this many jobs.")
    ] = 50,
    as_json: Json = False,
) -> None:
    """List jobs, retry one, or reopen the YouTube gate.

    Without a command, lists unfinished and recently failed jobs and the state of the gate.
    """
    if context.invoked_subcommand:
        return
    overview = _overview(open_library(), everything=everything, limit=limit)
    if as_json:
        print_json(overview.as_json())
    else:
        overview.print()


@app.command()
def retry(
    number: Annotated[int, typer.Argument(metavar="N", help="The job's number.")],
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Queue a finished or failed job again."""
    job = activity.find_job(open_library(), number)
    if not job.is_finished:
        raise Conflict(
            f"Job {number} is not finished: it is {job.get_state_display()}.",
            hint="A running worker completes it.",
        )
    if job.kind == Job.Kind.FILES and not job.files.exists():
        raise Conflict(f"The files of job {number} are deleted.", hint="Add them again.")
    with transaction.atomic():
        job.retry()
        celery.send(job)
    _end([job], wait=wait, as_json=as_json)


@app.command()
def reopen(as_json: Json = False) -> None:
    """Ask YouTube again at once, for instance after setting a proxy."""
    open_library()
    acquisition.reopen_gate()
    tasks.dispatch()
    gate = YouTubeGate.current()
    print_result(f"YouTube: {gate_text(gate)}", {"youtube": _gate_json(gate)}, as_json=as_json)


def gate_text(gate: YouTubeGate) -> str:
    """Return whether YouTube is asked, and if not, why and until when."""
    if gate.state == "open":
        return "open"
    if gate.state == "probing":
        return f"the next request tests whether it answers again ({gate.reason})"
    until = f"{timezone.localtime(gate.free_at):%H:%M}"
    return f"closed until {until}: {gate.reason} `kb jobs reopen` tries at once."


def _gate_json(gate: YouTubeGate) -> dict[str, Any]:
    return {"state": gate.state, "text": gate_text(gate)}


def _overview(scope: Scope, *, everything: bool, limit: int) -> QueueOverview:
    """Return unfinished and recently failed jobs, or all jobs, newest first."""
    jobs = Job.objects.visible(scope).select_related("collection", "video__collection")
    if not everything:
        jobs = jobs.filter(
            Q(state__in=(Job.State.QUEUED, Job.State.RUNNING))
            | Q(state=Job.State.FAILED, finished_at__gte=timezone.now() - RECENT)
        )
    return QueueOverview(list(jobs[:limit]), WorkerPulse.is_alive(), YouTubeGate.current())


def _find_feeds(scope: Scope, reference: str, collection: str) -> list[Feed]:
    feeds = Feed.objects.visible(scope).select_related("collection")
    if collection:
        feeds = feeds.filter(collection=library.find_collection(scope, collection))
    if reference:
        feeds = feeds.filter(Q(youtube_id=_feed_id(reference)) | Q(title__iexact=reference))
    if not feeds:
        raise NotFound(
            "There is no such playlist or channel."
            if reference
            else "No playlist or channel has been added.",
            hint="Add one with `kb add URL`.",
        )
    return list(feeds)


def _feed_id(reference: str) -> str:
    try:
        return parse_target(reference).id
    except InvalidUrl:
        return reference


def _end(jobs: list[Job], *, wait: bool, as_json: bool) -> None:
    """Print queued jobs, with ``wait`` when they have ended, and exit."""
    if wait:
        jobs = job_progress.follow(jobs, quiet=as_json)
    if as_json:
        print_json({"jobs": [JobOut.model_validate(job) for job in jobs]})
    else:
        _print_jobs(jobs)
    errors = (error for job in jobs if wait and (error := job_progress.error_of(job)))
    raise typer.Exit(next(map(exit_code_of, errors), 0))


def _print_jobs(jobs: Sequence[Job]) -> None:
    rows = ((job.pk, job, job.get_state_display(), _progress(job), job.error) for job in jobs)
    table(("Job", "Task", "State", "Progress", "Problem"), rows, empty="No jobs.")
    for hint in dict.fromkeys(job.hint for job in jobs if job.hint):
        note(hint)


def _progress(job: Job) -> str:
    if job.state == Job.State.QUEUED and job.run_after:
        return f"at {timezone.localtime(job.run_after):%H:%M}"
    return f"{job.percent} % {job.step}".strip() if job.state == Job.State.RUNNING else ""
