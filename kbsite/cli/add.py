"""`kb add`: import files at once, queue a job for each address, and report the results."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from django.db.models import Prefetch, prefetch_related_objects

from citations.documents.storage import AddedDocument
from citations.models import State
from citations.schemas.search import SourceOut
from kbsite import celery
from kbsite.auth import everything
from kbsite.cli import add_files, indexing, jobs
from kbsite.cli.add_files import FileProblem
from kbsite.cli.database import open_collection
from kbsite.cli.options import InCollection, Json, Language, Many, argument, option
from kbsite.cli.terminal import exit_code_of, note, print_json, say, table
from transcripts import acquisition, activity, conf, storage
from transcripts.errors import InvalidInput, InvalidUrl, KnowledgeBaseError
from transcripts.library import tracks
from transcripts.models import Collection, Job, Transcript, WorkerPulse
from transcripts.schemas import JobOut, VideoDetailsOut
from transcripts.storage import StoredTranscript
from transcripts.timecodes import parse_target

STDIN = "-"
PROBLEMS_SHOWN = 20
DOCUMENTS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class AddOptions:
    tags: tuple[str, ...] = ()
    language: str = ""
    translated: bool = False
    newest: int | None = None
    every_hours: int | None = None
    title: str = ""
    wait: bool = False
    quiet: bool = False


@dataclass(slots=True)
class AddReport:
    """The results. Only a problem with a target of the command line sets the exit code."""

    stored: list[StoredTranscript] = field(default_factory=list)
    fetched: list[storage.StorageChange] = field(default_factory=list)
    documents: list[AddedDocument] = field(default_factory=list)
    skipped: int = 0
    problems: list[FileProblem] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    exit_code: int = 0
    waited: bool = False
    indexed: indexing.IndexingCounts = field(default_factory=indexing.IndexingCounts)

    def store(self, name: str, transcript: StoredTranscript) -> None:
        """Record a stored transcript, and the warning about it."""
        self.stored.append(transcript)
        if transcript.warning:
            self.problems.append(FileProblem.of(name, transcript.warning))

    def fail(self, name: str, error: KnowledgeBaseError) -> None:
        """Record a problem with a target of the command line."""
        self.problems.append(FileProblem.of(name, error))
        self.exit_code = self.exit_code or exit_code_of(error)

    def ids(self) -> list[str]:
        """Return the ids of documents and of recordings, as filters take them."""
        recordings = [transcript.video for transcript in self.stored]
        recordings += [job.video for job in self.jobs if job.video]
        documents = [str(document.source.uuid) for document in self.documents]
        return list(dict.fromkeys([*(video.key for video in recordings), *documents]))

    def counts(self) -> dict[str, int]:
        changes = [*(transcript.change for transcript in self.stored), *self.fetched]
        counts = {str(change): changes.count(change) for change in storage.StorageChange}
        return {**counts, "skipped": self.skipped}

    def as_json(self) -> dict[str, Any]:
        stored = (transcript.video for transcript in self.stored)
        fetched = (job.video for job in self.jobs if job.video)
        videos = {video.pk: video for video in (*stored, *fetched)}
        prefetch_related_objects(
            list(videos.values()), Prefetch("transcripts", queryset=Transcript.objects.light())
        )
        return {
            **self.counts(),
            "videos": [VideoDetailsOut.read(video, tracks(video)) for video in videos.values()],
            "documents": [
                {"source": SourceOut.model_validate(document.source), "is_new": document.is_new}
                for document in self.documents
            ],
            "jobs": [JobOut.model_validate(job) for job in self.jobs],
            "problems": self.problems,
            "indexed": self.indexed,
        }

    def print(self) -> None:
        for document in self.documents[:DOCUMENTS_SHOWN]:
            source = document.source
            say(
                f"“{source.title}” {_result(document)} ({source.get_kind_display()}): {source.uuid}"
            )
        if len(self.documents) > DOCUMENTS_SHOWN:
            new = sum(document.is_new for document in self.documents)
            say(f"… {len(self.documents)} documents in all, {new} new; `kb sources` lists them.")
        if any(self.counts().values()) or self.problems:
            prefix = "Transcripts: " if self.documents else ""
            say(prefix + ", ".join(f"{count} {name}" for name, count in self.counts().items()))
        elif not self.jobs and not self.documents:
            note("No captions and no documents found: nothing was added.", "yellow")
        self._print_jobs()
        shown = self.problems[:PROBLEMS_SHOWN]
        if shown:
            rows = [(problem.name, problem.code, problem.message) for problem in shown]
            table(("Problem with", "Code", "Reason"), rows)
        for hint in dict.fromkeys(problem.hint for problem in shown if problem.hint):
            note(hint)
        if len(self.problems) > len(shown):
            note(f"… and {len(self.problems) - len(shown)} more; --json lists all of them.")
        self.indexed.print()

    def _print_jobs(self) -> None:
        for job in self.jobs:
            video = f"{job.video.key}: {job.video}" if job.video else ""
            parts = (f"{job}", job.get_state_display(), jobs.place_text(job), video)
            say(f"Job {job.pk}: {' · '.join(filter(None, parts))}")
        is_pending = any(not job.is_finished for job in self.jobs)
        if is_pending and not self.waited and not WorkerPulse.is_alive():
            note(
                "No worker is running, so the jobs wait in the queue."
                " Start one with `kb serve`, or add with --wait.",
                "yellow",
            )


def add(
    targets: Annotated[
        list[str],
        argument("URL|FILE|DIR…", "YouTube addresses, caption files, documents, folders; or -."),
    ],
    collection: InCollection = "",
    tag: Annotated[Many, option("--tag", "-t", help="A tag; repeatable.")] = None,
    lang: Language = "",
    translated: Annotated[
        bool,
        typer.Option("--translated", help="Machine-translated, if --lang is not there otherwise."),
    ] = False,
    newest: Annotated[
        int | None,
        option(min=1, max=100_000, help="Only this many newest videos of a playlist or channel."),
    ] = None,
    every: Annotated[
        int | None,
        option(min=1, max=8_760, metavar="HOURS", help="Check for new videos at this interval."),
    ] = None,
    title: Annotated[str, option(help="The title of a single file or of pasted text.")] = "",
    wait: Annotated[
        bool,
        typer.Option("--wait", "-w", help="Wait for YouTube and until everything is embedded."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Add YouTube videos, caption files, documents or folders.

    Documents are PDF, Markdown, text and HTML. - reads a pasted transcript from the standard
    input. A file's content decides: text with timestamps is a transcript, other text a document.
    """
    options = AddOptions(
        tags=tuple(tag or ()),
        language=lang,
        translated=translated,
        newest=newest,
        every_hours=every,
        title=title,
        wait=wait,
        quiet=as_json,
    )
    report = add_targets(open_collection(collection), targets, options)
    activity.place(everything(), report.jobs)
    if as_json:
        print_json(report.as_json())
    else:
        report.print()
    raise typer.Exit(report.exit_code)


def add_targets(collection: Collection, targets: Sequence[str], options: AddOptions) -> AddReport:
    """Add all targets; a failing one does not stop the others."""
    report = AddReport(waited=options.wait)
    paths = [Path(name) for name in targets if name != STDIN and _exists(name)]
    addresses = [name for name in targets if name != STDIN and not _exists(name)]
    _check_title(targets, paths, options)
    if STDIN in targets:
        _add_pasted(collection, options, report)
    _add_paths(collection, paths, options, report)
    for address in dict.fromkeys(addresses):
        _request(collection, address, options, report)
    if options.wait and report.jobs:
        report.jobs = jobs.follow(report.jobs, quiet=options.quiet)
        for job in report.jobs:
            _report_job(job, report)
    documents = {document.source.pk for document in report.documents}
    videos = {job.video_id for job in report.jobs if job.is_finished and job.video_id} | {
        transcript.video.pk
        for transcript in report.stored
        if transcript.change is not storage.StorageChange.UNCHANGED
    }
    if videos or documents:
        report.indexed = indexing.index(videos, documents, wait=options.wait, quiet=options.quiet)
        for document in report.documents:
            document.source.refresh_from_db()
    return report


def _report_job(job: Job, report: AddReport) -> None:
    if error := jobs.error_of(job):
        report.fail(f"{job}", error)
    report.problems += [FileProblem(**problem) for problem in job.problems]
    if job.kind == Job.Kind.VIDEO and job.state == Job.State.DONE and job.video:
        report.fetched.append(storage.change_since(job.video, job.started_at or job.created_at))


def _result(document: AddedDocument) -> str:
    if document.source.state == State.FAILED:
        return "was stored, but cannot be read"
    return "added as a document" if document.is_new else "is already in the library"


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except OSError:  # the name is too long, or its folder not readable
        return False


def _check_title(targets: Sequence[str], paths: Sequence[Path], options: AddOptions) -> None:
    if STDIN in targets and not options.title:
        raise InvalidInput("Pasted text needs a title.", hint="Add one: kb add - --title “…”")
    if options.title and (
        len(targets) > 1 or any(path.is_dir() for path in paths) or not (paths or STDIN in targets)
    ):
        raise InvalidInput(
            "--title is for a single file or for pasted text.",
            hint="Leave it out; titles come from YouTube, the files or their names.",
        )


def _add_pasted(collection: Collection, options: AddOptions, report: AddReport) -> None:
    text = sys.stdin.buffer.read(conf.max_upload_bytes() + 1).decode(errors="replace")
    try:
        stored = storage.add_text(
            collection, text, title=options.title, language=options.language, tags=options.tags
        )
    except KnowledgeBaseError as error:
        report.fail(STDIN, error)
    else:
        report.store(STDIN, stored)


def _add_paths(
    collection: Collection, paths: Iterable[Path], options: AddOptions, report: AddReport
) -> None:
    gathered = add_files.gather(list(paths))
    report.skipped += gathered.skipped
    report.problems += gathered.problems
    metadata = add_files.SidecarMetadata(options.tags, options.language, options.title)
    results = chain(
        add_files.add_captions(collection, gathered.captions, metadata, quiet=options.quiet),
        add_files.add_documents(collection, gathered.documents, metadata, quiet=options.quiet),
    )
    for file, result in results:
        if isinstance(result, StoredTranscript):
            report.store(str(file.path), result)
        elif isinstance(result, AddedDocument):
            report.documents.append(result)
        elif file.named:
            report.fail(str(file.path), result)
        else:
            report.skipped += 1
            report.problems.append(FileProblem.of(str(file.path), result))


def _request(collection: Collection, address: str, options: AddOptions, report: AddReport) -> None:
    try:
        parse_target(address)
        job = acquisition.request(
            collection,
            address,
            language=options.language,
            translated=options.translated,
            tags=options.tags,
            newest=options.newest,
            every_hours=options.every_hours,
        )
    except InvalidUrl as unknown:
        error: KnowledgeBaseError = unknown
        shown = address if len(address) <= 100 else f"{address[:99]}…"
        is_path = "/" in address and "youtu" not in address.casefold()
        if is_path or add_files.is_file_name(address):
            error = InvalidInput(f"There is no file “{shown}”, and it is not a YouTube address.")
        report.fail(shown, error)
        return
    except InvalidInput as error:
        report.fail(address, error)
        return
    celery.send(job)
    report.jobs.append(job)
