"""`kb add` to the library of this machine: files are imported at once, addresses queued."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from citations.documents.storage import AddedDocument
from kbsite import celery
from kbsite.library import add_files, indexing, jobs
from kbsite.library.add_options import (
    STDIN,
    AddOptions,
    AddTargets,
    pasted_text,
    require_address,
    shortened,
)
from kbsite.library.add_report import AddOut, Problems
from kbsite.library.progress import TaskProgress
from transcripts.adding import acquisition, storage
from transcripts.adding.storage import StoredTranscript
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.models import Collection, Job, Video
from transcripts.schemas import JobProblem


@dataclass(slots=True)
class LocalReport(Problems):
    """The results of this machine."""

    stored: list[StoredTranscript] = field(default_factory=list)
    fetched: list[StorageChange] = field(default_factory=list)
    documents: list[AddedDocument] = field(default_factory=list)
    media: list[Video] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    waited: bool = False
    indexed: indexing.IndexingCounts = field(default_factory=indexing.IndexingCounts)

    def store(self, name: str, transcript: StoredTranscript) -> None:
        """Record a stored transcript, and the warnings about it."""
        self.stored.append(transcript)
        self.problems += (JobProblem.of(name, warning) for warning in transcript.warnings)

    def ids(self) -> list[str]:
        """Return the ids of documents and of recordings, as filters take them."""
        documents = [str(document.source.uuid) for document in self.documents]
        return list(dict.fromkeys([*(video.key for video in self._videos()), *documents]))

    def counts(self) -> dict[str, int]:
        changes = [*(transcript.change for transcript in self.stored), *self.fetched]
        counts = {str(change): changes.count(change) for change in StorageChange}
        return {**counts, "skipped": self.skipped}

    def shape(self) -> AddOut:
        return AddOut.model_validate(
            {
                **self.counts(),
                "videos": self._videos(),
                "documents": self.documents,
                "media": [video.key for video in self.media],
                "jobs": self.jobs,
                "problems": self.problems,
                "unfinished": self.indexed.words,
                "failed": self.indexed.failed,
            }
        )

    def _videos(self) -> list[Video]:
        """Return the recordings that were stored or fetched, each once."""
        stored = (transcript.video for transcript in self.stored)
        fetched = (job.video for job in self.jobs if job.video)
        return list({video.pk: video for video in (*stored, *fetched)}.values())


def add_targets(
    collection: Collection, targets: Sequence[str], options: AddOptions, progress: TaskProgress
) -> LocalReport:
    """Add all targets; a failing one does not stop the others."""
    report = LocalReport(waited=options.wait)
    chosen = AddTargets.of(targets, options)
    if chosen.is_pasted:
        _add_pasted(collection, options, report)
    _add_paths(collection, chosen.paths, options, report, progress)
    for address in chosen.addresses:
        _request(collection, address, options, report)
    if options.wait and report.jobs:
        report.jobs = jobs.follow(report.jobs, progress)
        for job in report.jobs:
            _report_job(job, report)
    documents = {document.source.pk for document in report.documents}
    videos = {job.video_id for job in report.jobs if job.is_finished and job.video_id} | {
        transcript.video.pk
        for transcript in report.stored
        if transcript.change is not StorageChange.UNCHANGED
    }
    if videos or documents:
        report.indexed = indexing.index(videos, documents, wait=options.wait, progress=progress)
        for document in report.documents:
            document.source.refresh_from_db()
    return report


def _report_job(job: Job, report: LocalReport) -> None:
    if error := jobs.error_of(job):
        report.fail(f"{job}", error)
    report.problems += [JobProblem(**problem) for problem in job.problems]
    if job.kind == Job.Kind.VIDEO and job.state == Job.State.DONE and job.video:
        report.fetched.append(storage.change_since(job.video, job.started_at or job.created_at))


def _add_pasted(collection: Collection, options: AddOptions, report: LocalReport) -> None:
    try:
        stored = storage.add_text(
            collection,
            pasted_text(),
            title=options.title,
            language=options.language,
            tags=options.tags,
        )
    except KnowledgeBaseError as error:
        report.fail(STDIN, error)
    else:
        report.store(STDIN, stored)


def _add_paths(
    collection: Collection,
    paths: Iterable[Path],
    options: AddOptions,
    report: LocalReport,
    progress: TaskProgress,
) -> None:
    gathered = add_files.gather(list(paths))
    report.skipped += gathered.skipped
    report.problems += gathered.problems
    metadata = add_files.SidecarMetadata(options.tags, options.language, options.title)
    results = chain(
        add_files.add_captions(collection, gathered.captions, metadata, progress),
        add_files.add_documents(collection, gathered.documents, metadata, progress),
        add_files.add_media(collection, gathered.media, progress),
    )
    for file, result in results:
        if isinstance(result, StoredTranscript):
            report.store(str(file.path), result)
        elif isinstance(result, AddedDocument):
            report.documents.append(result)
        elif isinstance(result, Video):
            report.media.append(result)
        elif file.named:
            report.fail(str(file.path), result)
        else:
            report.skipped += 1
            report.problems.append(JobProblem.of(str(file.path), result))


def _request(
    collection: Collection, address: str, options: AddOptions, report: LocalReport
) -> None:
    try:
        require_address(address)
        job = acquisition.request(
            collection,
            address,
            language=options.language,
            translated=options.translated,
            tags=options.tags,
            newest=options.newest,
            every_hours=options.every_hours,
        )
    except InvalidInput as error:
        report.fail(shortened(address), error)
        return
    celery.send(job)
    report.jobs.append(job)
