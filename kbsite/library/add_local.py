"""`kb add` to the library of this machine: files are imported at once, addresses queued."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from citations.documents.storage import AddedDocument
from citations.models import Source
from kbsite import celery
from kbsite.callers import everything
from kbsite.library import TaskProgress, add_files, indexing, jobs
from kbsite.library.adding import (
    STDIN,
    AddOptions,
    AddOut,
    AddReport,
    AddTargets,
    Problems,
    pasted_text,
    require_address,
    shortened,
)
from kbsite.library.database import open_collection
from transcripts.adding import acquisition, storage
from transcripts.adding.listening import ListeningForbidden
from transcripts.adding.storage import StoredTranscript
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.library import activity
from transcripts.models import Collection, Job, Video, WorkerPulse
from transcripts.schemas import JobProblem


@dataclass(slots=True)
class _Addition(Problems):
    """What was added so far."""

    stored: list[StoredTranscript] = field(default_factory=list)
    fetched: list[StorageChange] = field(default_factory=list)
    documents: list[AddedDocument] = field(default_factory=list)
    media: list[Video] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    indexed: indexing.IndexingCounts = field(default_factory=indexing.IndexingCounts)

    def store(self, name: str, transcript: StoredTranscript) -> None:
        """Record a stored transcript, and the warnings about it."""
        self.stored.append(transcript)
        self.problems += (JobProblem.of(name, warning) for warning in transcript.warnings)

    def end(self, job: Job) -> None:
        """Record how a job ended, and what became of the transcript that it fetched."""
        if error := jobs.error_of(job):
            self.fail(f"{job}", error)
        self.problems += [JobProblem(**problem) for problem in job.problems]
        if job.kind == Job.Kind.VIDEO and job.state == Job.State.DONE and job.video:
            since = job.started_at or job.created_at
            self.fetched.append(storage.change_since(job.video, since))

    def report(self, *, waited: bool) -> AddReport:
        activity.annotate(everything(), self.jobs)
        changes = [*(transcript.change for transcript in self.stored), *self.fetched]
        videos = [transcript.video for transcript in self.stored]
        videos += [job.video for job in self.jobs if job.video]
        added = AddOut.model_validate(
            {
                **{str(change): changes.count(change) for change in StorageChange},
                "skipped": self.skipped,
                "videos": list({video.pk: video for video in videos}.values()),
                "documents": self.documents,
                "media": [video.key for video in self.media],
                "jobs": self.jobs,
                "problems": self.problems,
                "unfinished": self.indexed.words,
                "failed": self.indexed.failed,
            }
        )
        notes = [self._indexing()]
        is_pending = any(not job.is_finished for job in self.jobs)
        if is_pending and not waited and not WorkerPulse.is_alive():
            waiting = (
                "No worker is running, so the jobs wait in the queue."
                " Start one with `kb serve`, or add with --wait."
            )
            notes.insert(0, waiting)
        return AddReport(added=added, failure=self.failure, notes=tuple(filter(None, notes)))

    def _indexing(self) -> str:
        """Say why a source failed, and what is not found by meaning yet."""
        counts = self.indexed
        sentences = [f"{counts.error} {counts.hint}".strip()]
        if counts.words:
            how = (
                "the worker embeds them now"
                if WorkerPulse.is_alive()
                else "`kb serve` or `kb add --wait` embeds them"
            )
            sentences.append(
                f"{counts.words} can be searched by words so far; for search by meaning, {how}."
            )
        return " ".join(filter(None, sentences))


def add_targets(targets: Sequence[str], options: AddOptions, progress: TaskProgress) -> AddReport:
    """Add all targets; a failing one does not stop the others."""
    collection = open_collection(options.collection)
    addition = _Addition()
    chosen = AddTargets.of(targets, options)
    if chosen.is_pasted:
        _add_pasted(collection, options, addition)
    _add_paths(collection, chosen.paths, options, addition, progress)
    for address in chosen.addresses:
        _request(collection, address, options, addition)
    if options.wait and addition.jobs:
        addition.jobs = jobs.follow(addition.jobs, progress)
        for job in addition.jobs:
            addition.end(job)
    pages = {id for job in addition.jobs for id in job.document_ids}
    documents = {document.source.pk for document in addition.documents}
    documents |= set(Source.objects.filter(uuid__in=pages).values_list("pk", flat=True))
    videos = {job.video_id for job in addition.jobs if job.is_finished and job.video_id} | {
        transcript.video.pk
        for transcript in addition.stored
        if transcript.change is not StorageChange.UNCHANGED
    }
    if videos or documents:
        addition.indexed = indexing.index(videos, documents, wait=options.wait, progress=progress)
        for document in addition.documents:
            document.source.refresh_from_db()
    return addition.report(waited=options.wait)


def _add_pasted(collection: Collection, options: AddOptions, addition: _Addition) -> None:
    try:
        stored = storage.add_text(
            collection,
            pasted_text(),
            title=options.title,
            language=options.language,
            tags=options.tags,
        )
    except KnowledgeBaseError as error:
        addition.fail(STDIN, error)
    else:
        addition.store(STDIN, stored)


def _add_paths(
    collection: Collection,
    paths: Iterable[Path],
    options: AddOptions,
    addition: _Addition,
    progress: TaskProgress,
) -> None:
    gathered = add_files.gather(list(paths))
    addition.skipped += gathered.skipped
    addition.problems += gathered.problems
    metadata = add_files.SidecarMetadata(options.tags, options.language, options.title)
    for file, result in add_files.store(
        collection, gathered, metadata, progress, by_ocr=options.ocr, listens=options.listen
    ):
        if isinstance(result, StoredTranscript):
            addition.store(str(file.path), result)
        elif isinstance(result, AddedDocument):
            addition.documents.append(result)
        elif isinstance(result, Video):
            addition.media.append(result)
        elif isinstance(result, Job):
            celery.send(result)
            addition.jobs.append(result)
        elif file.named:
            addition.fail(str(file.path), result)
        else:
            addition.skipped += 1
            addition.problems.append(JobProblem.of(str(file.path), result))


def _request(
    collection: Collection, address: str, options: AddOptions, addition: _Addition
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
            listens=options.listen,
        )
    except (InvalidInput, ListeningForbidden) as error:
        addition.fail(shortened(address), error)
        return
    celery.send(job)
    addition.jobs.append(job)
