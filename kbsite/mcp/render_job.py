"""Renders jobs as tools' answers."""

from collections.abc import Sequence

from django.utils import timezone

from citations.models import Source, State
from citations.vectors import language_gap
from citations.vectors.language_gap import StateLabel
from kbsite.mcp.budget import clip
from kbsite.mcp.material import for_models, page
from kbsite.mcp.tool_inputs import Arguments, GetJob
from transcripts.models import Job
from transcripts.schemas import JobOut, JobProblem

SOURCES = 5  # of a video, that an answer names


def render_job(job: Job, arguments: Arguments, *, sources: Sequence[Source] = ()) -> str:
    """Return a job, how far the sources it added are indexed, and a page of its problems."""
    offset, _ = arguments.position if isinstance(arguments, GetJob) else (0, "")
    data = clip(JobOut.model_validate(job))
    rows = [clip(problem) for problem in data.problems[offset:]]
    state = _state(data).removesuffix(".")
    lines = [
        f"Job {job.pk} ({job.get_kind_display()} {job.target}) is {state}.",
        *_indexed(sources[:SOURCES]),
        f"{len(job.problems)} problems:" if job.problems else "",
    ]
    head = "\n".join(line for line in lines if line)
    total, tail = len(job.problems), _next_tool(data)
    return page(head, rows, _problem_line, arguments, total=total, tail=tail)


def _problem_line(_: int, problem: JobProblem) -> str:
    return f"- {problem.name}: {problem.message}"


def _indexed(sources: Sequence[Source]) -> list[str]:
    if not sources:  # the labels are read from the database, which async callers may not do
        return []
    label = language_gap.state_labels()
    return [_source_line(source, label) for source in sources]


def _source_line(source: Source, label: StateLabel) -> str:
    how = "by words, not yet by meaning" if source.chunk_count else "not yet"
    if source.state == State.READY:
        how = label(source.state, source.language).removeprefix("found ")
    language = source.language or "language unknown"
    ways = f"search_knowledge_base finds it ({language}, sourceId={source.uuid}) {how}."
    return " ".join(part for part in (ways, for_models(source.error[:500])) if part)


def _state(job: JobOut) -> str:
    reason = f": {for_models(f'{job.error} {job.hint}').strip()}" if job.error else ""
    if job.state == "running":
        return f"running, {job.percent} %{f' ({job.step})' if job.step else ''}"
    if job.state == "queued" and _waits(job):
        return f"queued until {job.run_after:%Y-%m-%d %H:%M:%S} UTC{reason}"
    before = f", {job.jobs_before} before this" if job.jobs_before else ""
    return f"{job.state}{before}{reason}"


def _waits(job: JobOut) -> bool:
    return job.run_after is not None and job.run_after > timezone.now()


def _next_tool(job: JobOut) -> str:
    if job.state == "failed":
        return "Next: add_source to try again, or list_transcripts."
    if job.state != "done":
        when = f"after {job.run_after:%H:%M} UTC" if _waits(job) else "in half a minute"
        return f"Next: get_job with jobId={job.id}, {when}."
    if job.video_id:
        return f"Next: get_transcript with videoId={job.video_id}."
    return "Next: list_transcripts."
