"""`kb add` to the library of a server: files are sent to it, addresses requested."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from citations.schemas.search import DocumentOut
from kbsite.cli.add_report import print_documents, print_problems
from kbsite.cli.terminal import bar_label, err, note, say
from kbsite.library import add_files
from kbsite.library.add_options import (
    STDIN,
    AddOptions,
    AddTargets,
    pasted_text,
    require_address,
    shortened,
)
from kbsite.library.add_report import AddOut, Problems
from kbsite.library.jobs import is_due
from kbsite.library.remote import POLL_SECONDS, RemoteLibrary, count_unfinished
from transcripts.core.error_codes import rebuilt
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.media import files as media
from transcripts.models import Job
from transcripts.models.job_parts import failures
from transcripts.models.jobs import state_text
from transcripts.schemas import JobOut, JobProblem, VideoOut

MAX_FILES: Final = 100  # of one request, as many as a server takes
MAX_ALONE: Final = 20  # files that are sent one by one, so that each has a job and an id
MAX_BYTES: Final = 60_000_000  # of the files of one request; a larger file is sent alone
IMPORT_SECONDS: Final = 15.0  # for the import of captions without --wait


@dataclass(slots=True)
class RemoteReport(Problems):
    """The results of a server. ``named`` are the names of the files of the command line; others
    were in folders.
    """

    named: frozenset[str] = frozenset()
    videos: list[VideoOut] = field(default_factory=list)
    documents: list[DocumentOut] = field(default_factory=list)
    jobs: list[JobOut] = field(default_factory=list)
    unfinished: int = 0
    failed: int = 0

    def fail_file(self, path: str | Path, error: KnowledgeBaseError) -> None:
        """Record a problem with a file, of the command line or of a folder."""
        if Path(path).name in self.named:
            self.fail(str(path), error)
        else:
            self.problems.append(JobProblem.of(str(path), error))

    def record(self, job: JobOut) -> None:
        """Record how a job ended, or why it waits for long."""
        self.problems += job.problems
        if job.error_code:
            error = rebuilt(job.error_code, job.error, job.hint)
            is_named = job.kind != "files" or job.target in self.named
            self.failure = self.failure or (error if is_named else None)
            self.problems += [] if job.problems else [JobProblem.of(job.target, error)]

    def ids(self) -> list[str]:
        """Return the ids of the added items, as far as they are known by now."""
        videos = [*(video.id for video in self.videos), *(job.video_id for job in self.jobs)]
        documents = (str(document.source.id) for document in self.documents)
        return list(dict.fromkeys([*filter(None, videos), *documents]))

    def shape(self) -> AddOut:
        names = ("videos", "documents", "jobs", "problems", "skipped", "unfinished", "failed")
        values = {name: getattr(self, name) for name in names}
        return AddOut.model_construct(
            **values, added=None, updated=None, unchanged=None, media=None
        )

    def print(self) -> None:
        print_documents(self.documents)
        fetched = {job.video_id for job in self.jobs}
        for video in (video for video in self.videos if video.id not in fetched):
            say(f"“{video.title}” was added: {video.id}")
        for job in self.jobs:
            failed = failures(problem.code for problem in job.problems)
            state = state_text(job.kind, job.state, done=job.done, failed=failed)
            step = job.step if job.finished_at is None else ""
            parts = (f"{Job.Kind(job.kind).label} {job.target}", state, step, job.video_id)
            say(f"Job {job.id}: {' · '.join(filter(None, parts))}")
        if not (self.documents or self.videos or self.jobs or self.problems):
            note("No captions and no documents found: nothing was added.", "yellow")
        print_problems(self.problems)
        for source in (document.source for document in self.documents):
            if source.error:
                note(f"{source.title}: {source.error} {source.hint}".rstrip(), "yellow")
        if self.unfinished:
            note(f"The server is still indexing {self.unfinished} of them; `--wait` waits for it.")


def add_targets(
    library: RemoteLibrary,
    collection: str,
    targets: Sequence[str],
    options: AddOptions,
    *,
    quiet: bool,
) -> RemoteReport:
    """Add all targets; one that cannot be used does not stop the others."""
    chosen = AddTargets.of(targets, options)
    report = RemoteReport(named=frozenset(path.name for path in chosen.paths))
    with nullcontext() if quiet else err().status("Sending …") as status:

        def show(text: str) -> None:
            if status:
                status.update(bar_label(text, 100))

        addition = _Addition(library, collection, options, report, show)
        if chosen.is_pasted:
            addition.store(pasted_text(), STDIN)
        addition.add_paths(chosen.paths)
        for address in chosen.addresses:
            addition.request(address)
        addition.follow_jobs()
        addition.follow_index()
    return report


@dataclass(frozen=True, slots=True)
class _Addition:
    """An addition under way. ``show`` prints the progress."""

    library: RemoteLibrary
    collection: str
    options: AddOptions
    report: RemoteReport
    show: Callable[[str], None]

    @property
    def about(self) -> dict[str, Any]:
        """What applies to all targets."""
        options = self.options
        return {
            "collection": self.collection,
            "language": options.language,
            "tags": list(options.tags),
        }

    def add_paths(self, paths: Sequence[Path]) -> None:
        gathered = add_files.gather(paths)
        self.report.skipped += gathered.skipped
        self.report.problems += gathered.problems
        if self.options.title and gathered.captions:  # a server names their files by themselves
            (file,) = gathered.captions
            if self._is_readable(file.path):
                self.store(file.path.read_bytes().decode(errors="replace"), str(file.path))
            return
        count = len(gathered.captions) + len(gathered.documents)
        recordings = [
            [file.path, *filter(None, [file.info]), *(other.path for other in file.alternatives)]
            for file in gathered.captions
        ]
        alone = [*gathered.documents]
        for file in gathered.media:
            beside = next((paths for paths in recordings if _belong(file.path, paths[0])), None)
            beside.append(file.path) if beside else alone.append(file)
        documents = [[file.path] for file in alone]
        for files in (recordings, documents):
            for batch in self._batches(files, most=1 if count <= MAX_ALONE else MAX_FILES):
                self.show(f"Sending {batch[0].name}")
                self._send(batch)

    def store(self, text: str, name: str) -> None:
        """Store a text under the title that is given."""
        try:
            stored = self.library.store_text(text, **self.about, title=self.options.title)
        except InvalidInput as error:
            self.report.fail(name, error)
            return
        self.report.videos.append(stored.video)
        if stored.warning:
            self.report.problems.append(
                JobProblem(name=name, code="", message=stored.warning, hint="")
            )

    def request(self, address: str) -> None:
        options = self.options
        choices = {"newest": options.newest, "every_hours": options.every_hours}
        try:
            require_address(address)
            job = self.library.request(
                address, **self.about, translated=options.translated, **choices
            )
        except InvalidInput as error:
            self.report.fail(shortened(address), error)
            return
        self.report.jobs.append(job)

    def follow_jobs(self) -> None:
        """Wait for the jobs; without --wait only for those of files, and only a moment."""
        report, wait = self.report, self.options.wait
        deadline = time.monotonic() + IMPORT_SECONDS
        while wait or time.monotonic() < deadline:
            awaited = [job for job in report.jobs if wait or job.kind == "files"]
            pending = {job.id for job in filter(is_due, awaited)}
            if not pending:
                break
            self.show(f"Waiting for the server: {len(pending)} jobs")
            time.sleep(POLL_SECONDS)
            report.jobs = [
                self.library.find_job(job.id) if job.id in pending else job for job in report.jobs
            ]
        for job in report.jobs:
            if wait or job.finished_at:
                report.record(job)
        fetched = dict.fromkeys(job.video_id for job in report.jobs if job.video_id)
        ids = {video.id for video in report.videos}
        report.videos += [self.library.find_video(id) for id in fetched if id not in ids]

    def follow_index(self) -> None:
        """Wait until the added sources are embedded; without --wait only count the others."""
        report = self.report
        ids = report.ids()
        while True:
            sources = self.library.list_sources(ids)
            report.unfinished = count_unfinished(ids, sources)
            report.failed = sum(source.state == "failed" for source in sources)
            if not (report.unfinished and self.options.wait):
                break
            self.show(f"Waiting until the server has indexed {report.unfinished}")
            time.sleep(POLL_SECONDS)
        current = {source.id: source for source in sources}
        for document in report.documents:
            document.source = current.get(document.source.id, document.source)

    def _send(self, batch: Sequence[Path]) -> None:
        title = self.options.title
        try:
            reply = self.library.send_files(batch, **self.about, title=title)
        except InvalidInput as error:
            self.report.fail_file(batch[0], error)
            return
        self.report.documents += reply.documents
        self.report.jobs += [reply.job] if reply.job else []
        for problem in reply.problems:
            refusal = rebuilt(problem.code, problem.message, problem.hint)
            self.report.fail_file(problem.name, refusal)

    def _batches(self, recordings: Iterable[Sequence[Path]], *, most: int) -> Iterator[list[Path]]:
        """Yield files to be sent together, ``most`` unless a recording has more.

        On the server, files with the same beginning of their names belong together, whatever
        folders they were in; so two such folders are never in one batch.
        """
        batch: dict[Path, int] = {}
        folders: dict[str, Path] = {}
        for paths in recordings:
            sizes = {path: path.stat().st_size for path in paths if self._is_readable(path)}
            if not sizes:
                continue
            stem, folder = paths[0].name.partition(".")[0].casefold(), paths[0].parent
            is_full = len(batch) + len(sizes) > most
            is_full |= sum(batch.values()) + sum(sizes.values()) > MAX_BYTES
            if batch and (is_full or folders.get(stem, folder) != folder):
                yield [*batch]
                batch, folders = {}, {}
            batch |= sizes
            folders[stem] = folder
        if batch:
            yield [*batch]

    def _is_readable(self, path: Path) -> bool:
        if path.is_file() and os.access(path, os.R_OK):
            return True
        self.report.fail_file(path, InvalidInput("This is no file that can be read."))
        return False


def _belong(path: Path, captions: Path) -> bool:
    """Tell whether a media file and captions are of one recording."""
    is_same = media.recording_name(path.name) == media.recording_name(captions.name)
    return is_same and path.parent == captions.parent
