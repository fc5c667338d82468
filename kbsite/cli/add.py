"""What `kb add` does: files are read here and now, addresses become jobs, and the end tells what came of all."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from citations.documents.storage import AddedDocument
from kbsite.cli import add_files, indexing_progress, job_progress, output, shapes
from kbsite.cli.add_files import FileProblem
from kbsite.cli.terminal import note, print_json, say, table
from kbsite.errors import exit_code_of
from transcripts import acquisition, conf, library, storage, tasks
from transcripts.errors import InvalidInput, InvalidUrl, KnowledgeBaseError
from transcripts.models import Collection, Job, Transcript, WorkerPulse
from transcripts.scope import Scope
from transcripts.storage import StoredTranscript
from transcripts.timecodes import parse_target

PASTED = "-"
PROBLEMS_SHOWN = 20
DOCUMENTS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How things are to be added."""

    tags: tuple[str, ...] = ()
    language: str = ""
    newest: int | None = None
    every_hours: int | None = None
    title: str = ""
    wait: bool = False
    quiet: bool = False


@dataclass(slots=True)
class AddReport:
    """What came of it. A problem with what was named on the command line sets the exit code; one inside a folder does not."""

    stored: list[StoredTranscript] = field(default_factory=list)
    documents: list[AddedDocument] = field(default_factory=list)
    skipped: int = 0
    problems: list[FileProblem] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    exit_code: int = 0
    waited: bool = False
    indexed: indexing_progress.IndexingCounts = field(
        default_factory=indexing_progress.IndexingCounts
    )

    def fail(self, name: str, error: KnowledgeBaseError) -> None:
        """Note a problem with something that was named."""
        self.problems.append(FileProblem.of(name, error))
        self.exit_code = self.exit_code or exit_code_of(error)

    def counts(self) -> dict[str, int]:
        """Return how many transcripts were added, updated and unchanged, and how many files were skipped."""
        changes = [str(one.change) for one in self.stored]
        return {
            **{change: changes.count(change) for change in storage.StorageChange},
            "skipped": self.skipped,
        }

    def as_json(self) -> dict[str, Any]:
        """Return all of it."""
        videos = {one.video.pk: one.video for one in self.stored} | {
            one.video.pk: one.video for one in self.jobs if one.video
        }
        prefetch_related_objects(
            list(videos.values()), Prefetch("transcripts", queryset=Transcript.objects.light())
        )
        return {
            **self.counts(),
            "videos": [shapes.video(video) for video in videos.values()],
            "documents": [
                output.source(one.source) | {"is_new": one.is_new} for one in self.documents
            ],
            "jobs": [shapes.job(one) for one in self.jobs],
            "problems": [problem.as_json() for problem in self.problems],
            "indexed": self.indexed.as_json(),
        }

    def print(self, *, as_json: bool) -> None:
        """Show it."""
        if as_json:
            print_json(self.as_json())
            return
        self._print_documents()
        if self.stored or self.skipped or self.problems:
            say(
                ("Transcripts: " if self.documents else "")
                + ", ".join(f"{count} {name}" for name, count in self.counts().items())
            )
        elif not self.jobs and not self.documents:
            note("No captions and no documents are there: nothing was added.", "yellow")
        self._print_jobs()
        self._print_problems()
        self.indexed.print()

    def _print_documents(self) -> None:
        for one in self.documents[:DOCUMENTS_SHOWN]:
            became = "added as a document" if one.is_new else "is there already, as a document"
            say(
                f"“{one.source.title}” {became} ({one.source.get_kind_display()}): {one.source.uuid}"
            )
        if len(self.documents) > DOCUMENTS_SHOWN:
            new = sum(one.is_new for one in self.documents)
            say(
                f"… {len(self.documents)} documents in all, {new} of them new; `kb sources` lists them."
            )

    def _print_jobs(self) -> None:
        for job in self.jobs:
            say(
                f"Job {job.pk}: {job} · {job.get_state_display()}"
                + (f" · {job.video.key}: {job.video}" if job.video else "")
            )
        if (
            any(not job.is_finished for job in self.jobs)
            and not self.waited
            and not WorkerPulse.is_alive()
        ):
            note(
                "No worker is running, so this waits in the queue: start one with `kb serve`, or add with --wait.",
                "yellow",
            )

    def _print_problems(self) -> None:
        if self.problems:
            rows = [
                (problem.name, problem.code, problem.message)
                for problem in self.problems[:PROBLEMS_SHOWN]
            ]
            table(("Not added", "Code", "Why"), rows)
            for hint in dict.fromkeys(
                problem.hint for problem in self.problems[:PROBLEMS_SHOWN] if problem.hint
            ):
                note(hint)
        if len(self.problems) > PROBLEMS_SHOWN:
            note(f"… and {len(self.problems) - PROBLEMS_SHOWN} more; --json lists them all.")


def shelf(scope: Scope, name: str) -> Collection:
    """Return the collection of that name, or the default one. Raises ``CollectionNotFound``."""
    return library.find_collection(scope, name) if name else Collection.objects.default()


def add(collection: Collection, what: Sequence[str], *, wishes: AddOptions) -> AddReport:
    """Add everything that was named; one that fails does not keep the others out."""
    report = AddReport(waited=wishes.wait)
    paths = [Path(name) for name in what if name != PASTED and _exists(name)]
    addresses = [name for name in what if name != PASTED and not _exists(name)]
    _check_title(what, paths, wishes)
    if PASTED in what:
        _add_pasted(collection, wishes, report)
    _add_paths(collection, paths, wishes, report)
    for address in dict.fromkeys(addresses):
        _request(collection, address, wishes, report)
    if wishes.wait and report.jobs:
        _follow(report, quiet=wishes.quiet)
    papers = {one.source.pk for one in report.documents}
    if (videos := _changed(report)) or papers:
        report.indexed = indexing_progress.run(videos, papers, wait=wishes.wait, quiet=wishes.quiet)
        for one in report.documents:
            one.source.refresh_from_db()
    return report


def _changed(report: AddReport) -> set[int]:
    """Return the videos (primary keys) that are to be indexed."""
    fetched = {pk for job in report.jobs if job.is_finished and (pk := job.video_id)}
    return fetched | {
        one.video.pk for one in report.stored if one.change is not storage.StorageChange.UNCHANGED
    }


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # too long for a name, or in a folder that may not be read
        return False


def _check_title(what: Sequence[str], paths: Sequence[Path], wishes: AddOptions) -> None:
    if PASTED in what and not wishes.title:
        raise InvalidInput("What is pasted has no title.", hint="Give it one: kb add - --title “…”")
    if wishes.title and (
        len(what) > 1 or any(path.is_dir() for path in paths) or not (paths or PASTED in what)
    ):
        raise InvalidInput(
            "--title is for one file, or for what is pasted.",
            hint="Leave it out; titles come from YouTube, the files or their names.",
        )


def _add_pasted(collection: Collection, wishes: AddOptions, report: AddReport) -> None:
    text = sys.stdin.buffer.read(conf.max_upload_bytes() + 1).decode(errors="replace")
    try:
        report.stored.append(
            storage.add_text(
                collection, text, title=wishes.title, language=wishes.language, tags=wishes.tags
            )
        )
    except KnowledgeBaseError as error:
        report.fail(PASTED, error)


def _add_paths(
    collection: Collection, paths: Iterable[Path], wishes: AddOptions, report: AddReport
) -> None:
    gathered = add_files.gather(list(paths))
    report.skipped += gathered.skipped
    report.problems += gathered.problems
    how: Any = {
        "tags": wishes.tags,
        "language": wishes.language,
        "title": wishes.title,
        "quiet": wishes.quiet,
    }
    for outcome in chain(
        add_files.run(collection, gathered, **how),
        add_files.run_papers(collection, gathered, **how),
    ):
        if isinstance(outcome.result, StoredTranscript):
            report.stored.append(outcome.result)
        elif isinstance(outcome.result, AddedDocument):
            report.documents.append(outcome.result)
        elif outcome.found.named:
            report.fail(str(outcome.found.path), outcome.result)
        else:
            report.skipped += 1
            report.problems.append(FileProblem.of(str(outcome.found.path), outcome.result))


def _request(collection: Collection, address: str, wishes: AddOptions, report: AddReport) -> None:
    try:
        parse_target(address)
        job = acquisition.request(
            collection,
            address,
            language=wishes.language,
            tags=wishes.tags,
            newest=wishes.newest,
            every_hours=wishes.every_hours,
        )
    except InvalidUrl as error:
        missing = (
            "/" in address and "youtu" not in address.casefold() or add_files.is_file_name(address)
        )
        shown = address if len(address) <= 100 else f"{address[:99]}…"
        report.fail(
            shown,
            InvalidInput(f"There is no file “{shown}” here, and it is no address of YouTube.")
            if missing
            else error,
        )
        return
    tasks.send(job)
    report.jobs.append(job)


def _follow(report: AddReport, *, quiet: bool) -> None:
    ended = job_progress.follow(report.jobs, quiet=quiet)
    report.jobs = ended.jobs
    for job in ended.jobs:
        if error := job_progress.error_of(job):
            report.fail(f"{job}", error)
