"""`kb jobs` and `kb sync`: the queue, the gate to YouTube, new videos of feeds."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from kbsite import celery
from kbsite.callers import everything
from kbsite.cli.options import InCollection, Json, Limit, ListGroup, Wait, argument
from kbsite.cli.terminal import exit_code_of, note, print_json, print_result, progress, say, table
from kbsite.library.database import open_library
from kbsite.library.jobs import error_of, follow, place_text
from transcripts.adding import acquisition, listening
from transcripts.core.errors import Conflict, InvalidUrl, NotFound
from transcripts.core.scope import Scope
from transcripts.library import activity
from transcripts.library import reading as library
from transcripts.models import Feed, Job, YouTubeGate
from transcripts.schemas import JobOut, YouTubeOut
from transcripts.text.timecodes import parse_target

RECENT = timedelta(days=2)
NO_JOBS = "No jobs."
NO_OPEN = "No job is open, and none failed recently. `kb jobs --all` lists finished ones."

app = typer.Typer(cls=ListGroup, add_completion=False)


def sync(
    feed: Annotated[
        str, argument("[FEED]", "A playlist or channel: its id, title or address; unset: all.")
    ] = "",
    collection: InCollection = "",
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Fetch new videos from the added playlists and channels."""
    feeds = _find_feeds(open_library(), feed, collection)
    jobs = [acquisition.request_feed(feed) for feed in feeds]
    for job in jobs:
        celery.send(job)
    _end(jobs, wait=wait, as_json=as_json)


@app.callback(invoke_without_command=True)
def list_jobs(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", "-a", help="Also list finished jobs.")
    ] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List jobs, retry one, or reopen the YouTube gate."""
    if context.invoked_subcommand:
        return
    scope = open_library()
    visible = Job.objects.visible(scope).select_related("collection", "video__collection")
    if not everything:  # failed are also those that failed in part
        recent = visible.failed().filter(finished_at__gte=timezone.now() - RECENT)
        visible = visible.unfinished() | recent
    jobs, youtube = list(visible[:limit]), activity.youtube_queue(scope)
    activity.annotate(scope, jobs)
    if as_json:
        shapes = [JobOut.model_validate(job) for job in jobs]
        print_json({"jobs": shapes, "youtube": YouTubeOut.model_validate(youtube)})
        return
    gate = youtube.gate
    say(f"YouTube: {gate_text(gate)}", "green" if gate.state == "open" else "yellow")
    if not youtube.worker_alive:
        note("No worker is running: `kb serve` starts one.", "yellow")
    is_narrowed = not everything and Job.objects.visible(scope).exists()
    _print_jobs(jobs, empty=NO_OPEN if is_narrowed else NO_JOBS)


@app.command()
def retry(
    number: Annotated[int, typer.Argument(metavar="N", help="The job's number.")],
    listen: Annotated[
        bool, typer.Option("--listen", help="Listen to the video if it has no captions.")
    ] = False,
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
        job = acquisition.retry(job, listens=listen)
        celery.send(job)
    _end([job], wait=wait, as_json=as_json)


@app.command()
def stop(
    number: Annotated[int, typer.Argument(metavar="N", help="The job's number.")],
    as_json: Json = False,
) -> None:
    """Stop listening to a recording; what was heard is kept, and a retry goes on from there."""
    job = activity.find_job(open_library(), number)
    listening.stop(job)
    job.refresh_from_db()
    print_result(f"{job}: {job.error}", {"jobs": [JobOut.model_validate(job)]}, as_json=as_json)


@app.command()
def reopen(as_json: Json = False) -> None:
    """Contact YouTube again at once, for example after setting a proxy."""
    scope = open_library()
    acquisition.reopen_gate()
    celery.dispatch()
    youtube = activity.youtube_queue(scope)
    shape = {"youtube": YouTubeOut.model_validate(youtube)}
    print_result(f"YouTube: {gate_text(youtube.gate)}", shape, as_json=as_json)


def gate_text(gate: YouTubeGate) -> str:
    """Return whether YouTube is asked, and if not, why and until when."""
    if gate.state == "open":
        return "open"
    if gate.state == "probing":
        return f"the next request tests whether it answers again ({gate.reason})"
    until = f"{timezone.localtime(gate.free_at):%H:%M}"
    return f"closed until {until}: {gate.reason} `kb jobs reopen` tries at once."


def _find_feeds(scope: Scope, reference: str, collection: str) -> list[Feed]:
    feeds = Feed.objects.visible(scope).select_related("collection")
    if collection:
        feeds = feeds.filter(collection=library.find_collection(scope, collection))
    if reference:
        try:
            youtube_id = parse_target(reference).id
        except InvalidUrl:
            youtube_id = reference
        feeds = feeds.filter(Q(youtube_id=youtube_id) | Q(title__iexact=reference))
    if not feeds:
        raise NotFound(
            "There is no such playlist or channel."
            if reference
            else "No playlist or channel has been added.",
            hint="Add one with `kb add URL`.",
        )
    return list(feeds)


def _end(jobs: list[Job], *, wait: bool, as_json: bool) -> None:
    if wait:
        with progress(quiet=as_json) as bar:
            jobs = follow(jobs, bar)
    activity.annotate(everything(), jobs)
    if as_json:
        print_json({"jobs": [JobOut.model_validate(job) for job in jobs]})
    else:
        _print_jobs(jobs)
    errors = (error for job in jobs if wait and (error := error_of(job)))
    raise typer.Exit(next(map(exit_code_of, errors), 0))


def _print_jobs(jobs: Sequence[Job], *, empty: str = NO_JOBS) -> None:
    rows = []
    for job in jobs:
        state = f"{job.percent} % {job.step}".strip() if job.state == Job.State.RUNNING else ""
        if job.state == Job.State.QUEUED and job.waits_until:
            state = f"at {timezone.localtime(job.waits_until):%H:%M}"
        state = place_text(job) or state
        rows.append((job.pk, job, job.state_text, state, job.error))
    table(("Job", "Task", "State", "Progress", "Problem"), rows, empty=empty, main="Task")
    for reason in dict.fromkeys(f"{job.error} {job.hint}".strip() for job in jobs):
        if reason:
            note(reason)
