"""Add to the library of a server: files are sent to it, addresses requested."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from citations.schemas.search import DocumentOut
from kbsite.library import TaskProgress, add_files
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
from kbsite.library.connection import POLL_SECONDS, ServerOperations, count_unfinished
from kbsite.library.jobs import is_due
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, rebuilt
from transcripts.media import files as media
from transcripts.schemas import JobOut, JobProblem, VideoOut

MAX_FILES: Final = 100  # of one request, as many as a server takes
MAX_ALONE: Final = 20  # files that are sent one by one, so that each has a job and an id
MAX_BYTES: Final = 60_000_000  # of the files of one request; a larger file is sent alone
IMPORT_SECONDS: Final = 15.0  # for the import of captions without --wait


def add_targets(
    server: ServerOperations, targets: Sequence[str], options: AddOptions, progress: TaskProgress
) -> AddReport:
    """Add all targets; one that cannot be used does not stop the others."""
    chosen = AddTargets.of(targets, options)
    named = frozenset(path.name for path in chosen.paths)
    addition = _Addition(server=server, options=options, progress=progress, named=named)
    if chosen.is_pasted:
        addition.store(pasted_text(), STDIN)
    addition.add_paths(chosen.paths)
    for address in chosen.addresses:
        addition.request(address)
    addition.follow_jobs()
    addition.follow_index()
    return addition.report()


@dataclass(slots=True, kw_only=True)
class _Addition(Problems):
    """An addition under way. ``named`` are the names of the files of the command line; others were
    in folders.
    """

    server: ServerOperations
    options: AddOptions
    progress: TaskProgress
    named: frozenset[str]
    videos: list[VideoOut] = field(default_factory=list)
    documents: list[DocumentOut] = field(default_factory=list)
    jobs: list[JobOut] = field(default_factory=list)
    unfinished: int = 0
    failed: int = 0

    def report(self) -> AddReport:
        names = ("videos", "documents", "jobs", "problems", "skipped", "unfinished", "failed")
        values = {name: getattr(self, name) for name in names}
        added = AddOut.model_construct(
            **values, added=None, updated=None, unchanged=None, media=None
        )
        notes = [
            f"{source.title}: {source.error} {source.hint}".rstrip()
            for source in (document.source for document in self.documents)
            if source.error
        ]
        if self.unfinished:
            notes.append(
                f"The server is still indexing {self.unfinished} of them; `--wait` waits for it."
            )
        return AddReport(added=added, failure=self.failure, notes=tuple(notes))

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

    @property
    def about(self) -> dict[str, Any]:
        """What applies to all targets."""
        collection, language = self.options.collection, self.options.language
        return {"collection": collection, "language": language, "tags": list(self.options.tags)}

    def add_paths(self, paths: Sequence[Path]) -> None:
        gathered = add_files.gather(paths)
        self.skipped += gathered.skipped
        self.problems += gathered.problems
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
            name, folder = media.recording_name(file.path.name), file.path.parent
            together = (
                paths
                for paths in recordings
                if (media.recording_name(paths[0].name), paths[0].parent) == (name, folder)
            )
            beside = next(together, None)
            beside.append(file.path) if beside else alone.append(file)
        documents = [[file.path] for file in alone]
        for files in (recordings, documents):
            for batch in self._batches(files, most=1 if count <= MAX_ALONE else MAX_FILES):
                self.progress.show(f"Sending {batch[0].name}")
                self._send(batch)

    def store(self, text: str, name: str) -> None:
        """Store a text under the title that is given."""
        try:
            stored = self.server.store_text(text, **self.about, title=self.options.title)
        except InvalidInput as error:
            self.fail(name, error)
            return
        self.videos.append(stored.video)
        if stored.warning:
            self.problems.append(JobProblem(name=name, code="", message=stored.warning, hint=""))

    def request(self, address: str) -> None:
        options = self.options
        choices = {"newest": options.newest, "every_hours": options.every_hours}
        choices |= {"listen": options.listen}
        try:
            require_address(address)
            job = self.server.fetch(address, **self.about, translated=options.translated, **choices)
        except InvalidInput as error:
            self.fail(shortened(address), error)
            return
        self.jobs.append(job)

    def follow_jobs(self) -> None:
        """Wait for the jobs; without --wait only for those of files, and only a moment."""
        wait = self.options.wait
        deadline = time.monotonic() + IMPORT_SECONDS
        while wait or time.monotonic() < deadline:
            awaited = [job for job in self.jobs if wait or job.kind == "files"]
            pending = {job.id for job in filter(is_due, awaited)}
            if not pending:
                break
            self.progress.show(f"Waiting for the server: {len(pending)} jobs")
            time.sleep(POLL_SECONDS)
            self.jobs = [
                self.server.find_job(job.id) if job.id in pending else job for job in self.jobs
            ]
        for job in self.jobs:
            if wait or job.finished_at:
                self.record(job)
        fetched = dict.fromkeys(job.video_id for job in self.jobs if job.video_id)
        ids = {video.id for video in self.videos}
        self.videos += [self.server.find_video(id) for id in fetched if id not in ids]

    def follow_index(self) -> None:
        """Wait until the added sources are embedded; without --wait only count the others."""
        ids = self.report().ids()
        while True:
            sources = self.server.list_sources(ids)
            self.unfinished = count_unfinished(ids, sources)
            self.failed = sum(source.state == "failed" for source in sources)
            if not (self.unfinished and self.options.wait):
                break
            self.progress.show(f"Waiting until the server has indexed {self.unfinished}")
            time.sleep(POLL_SECONDS)
        current = {source.id: source for source in sources}
        for document in self.documents:
            document.source = current.get(document.source.id, document.source)

    def _send(self, batch: Sequence[Path]) -> None:
        title = self.options.title
        try:
            how = {"ocr": self.options.ocr, "listen": self.options.listen}
            reply = self.server.send_files(batch, **self.about, title=title, **how)
        except InvalidInput as error:
            self.fail_file(batch[0], error)
            return
        self.documents += reply.documents
        self.jobs += [*([reply.job] if reply.job else []), *reply.listening]
        for problem in reply.problems:
            refusal = rebuilt(problem.code, problem.message, problem.hint)
            self.fail_file(problem.name, refusal)

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
        self.fail_file(path, InvalidInput("This is no file that can be read."))
        return False
