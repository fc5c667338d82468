"""The sources of what a job brought: how many are found, and what could not be indexed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from citations.errors import DocumentBroken, DocumentEncrypted, DocumentWithoutText
from citations.library.sources import Counts
from citations.models import Source, State
from transcripts.core.scope import Scope
from transcripts.models import Job

MAX_FAILED = 5  # sources of a job that are named
UNREADABLE = frozenset((DocumentBroken.code, DocumentEncrypted.code, DocumentWithoutText.code))


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSources:
    """How many sources there are in each state, some that ``failed``, and the ids of documents,
    some of them ``unreadable``.
    """

    counts: Counts = Counts()
    failed: tuple[Source, ...] = ()
    documents: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()


def of_jobs(scope: Scope, jobs: Sequence[Job]) -> dict[int, JobSources]:
    """Return the sources of each job, by its primary key: of videos, all their languages.

    A video whose source is still to come counts as one that waits.
    """
    videos = frozenset().union(*(job.video_keys for job in jobs))
    documents = frozenset().union(*(job.document_ids for job in jobs))
    sources: dict[int | str, list[Source]] = defaultdict(list)
    if videos or documents:
        rows = Source.objects.visible(scope).filter(Q(video__in=videos) | Q(uuid__in=documents))
        shown = ("uuid", "video", "state", "title", "error", "error_code", "hint")
        for source in rows.only(*shown).order_by("pk"):
            sources[source.video_id or str(source.uuid)].append(source)
    return {job.pk: _of(job, sources) for job in jobs}


def _of(job: Job, sources: dict[int | str, list[Source]]) -> JobSources:
    keys: tuple[int | str, ...] = (*job.video_keys, *job.document_ids)
    own = [source for key in keys for source in sources.get(key, ())]
    count = {state: sum(source.state == state for source in own) for state in State.values}
    count[State.PENDING] += sum(key not in sources for key in job.video_keys & job.items)
    return JobSources(
        counts=Counts(**count),
        failed=tuple(source for source in own if source.state == State.FAILED)[:MAX_FAILED],
        documents=frozenset(id for id in job.document_ids if id in sources),
        unreadable=frozenset(str(source.uuid) for source in own if source.error_code in UNREADABLE),
    )
