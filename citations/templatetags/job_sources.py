"""How far the sources of a job are, beside the job."""

from typing import Any

from django import template

from citations.library import sources
from citations.library.sources import JobSources
from transcripts.models import Job
from transcripts.models.jobs import state_text

register = template.Library()


@register.simple_tag(takes_context=True)
def sources_of(context: dict[str, Any], job: Job) -> JobSources:
    """Return the sources of a job; a list of jobs finds those of all at once."""
    known: dict[int, JobSources] = context.get("job_sources", {})
    if job.pk in known:
        return known[job.pk]
    scope = context.get("scope") or context["request"].access
    return sources.of_jobs(scope, [job])[job.pk]


@register.filter
def state_with(job: Job, sources: JobSources) -> str:
    """Return the state of a job in words; documents that turned out unreadable are not read."""
    failed = job.failure_count + len(sources.unreadable)
    return state_text(job.kind, job.state, done=job.done, failed=failed)


@register.filter
def is_partial_with(job: Job, sources: JobSources) -> bool:
    """Return whether a job is done, but for parts that failed, or documents that are unreadable."""
    return job.is_partial or job.state == Job.State.DONE and bool(sources.unreadable)
