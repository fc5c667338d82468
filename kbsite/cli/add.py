"""`kb add`: add files and addresses, here or on a server, and report the results."""

from collections.abc import Sequence
from typing import Annotated

import typer

from citations.formats import NAMES, kind_choices
from citations.schemas.search import DocumentOut
from kbsite.cli.options import InCollection, Json, Language, Many, argument, option
from kbsite.cli.server import chosen_library
from kbsite.cli.terminal import exit_code_of, note, print_json, progress, say, table_of_sentences
from kbsite.library.adding import AddOptions, AddOut, AddReport
from kbsite.library.jobs import place_text
from transcripts.models import Job
from transcripts.models.jobs import failures, state_text
from transcripts.schemas import JobOut, JobProblem

PROBLEMS_SHOWN = 20
DOCUMENTS_SHOWN = 10


def add(
    targets: Annotated[
        list[str],
        argument(
            "URL|FILE|DIR…",
            "Addresses of YouTube or of web pages, caption files, documents"
            f" ({NAMES}) or folders; or -.",
        ),
    ],
    collection: InCollection = "",
    tag: Annotated[Many, option("--tag", "-t", help="A tag; repeatable.")] = None,
    lang: Language = "",
    translated: Annotated[
        bool,
        typer.Option(
            "--translated",
            help="Accept a machine translation if --lang is not available otherwise.",
        ),
    ] = False,
    newest: Annotated[
        int | None,
        option(min=1, max=100_000, help="Only the newest N videos of a playlist or channel."),
    ] = None,
    every: Annotated[
        int | None,
        option(min=1, max=8_760, metavar="HOURS", help="Check for new videos at this interval."),
    ] = None,
    title: Annotated[str, option(help="The title of a single file or of pasted text.")] = "",
    ocr: Annotated[
        bool, typer.Option("--ocr", help="Read pages of PDFs that have no text layer by OCR.")
    ] = False,
    listen: Annotated[
        bool, typer.Option("--listen", help="Listen to what has no captions.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", "-w", help="Wait until everything is fetched and embedded.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add YouTube videos, web pages, caption files, documents or folders.

    - reads a pasted transcript from the standard input. A file's content decides: text with
    timestamps is a transcript, other text a document.
    """
    options = AddOptions(
        collection=collection,
        tags=tuple(tag or ()),
        language=lang,
        translated=translated,
        newest=newest,
        every_hours=every,
        title=title,
        ocr=ocr,
        listen=listen,
        wait=wait,
    )
    with chosen_library() as library, progress(quiet=as_json) as bar:
        report = library.add_all(targets, options, bar)
    print_json(report.added) if as_json else _print_report(report)
    raise typer.Exit(exit_code_of(report.failure) if report.failure else 0)


def _print_report(report: AddReport) -> None:
    added = report.added
    _print_documents(added.documents)
    if not _print_transcripts(added) and not (added.documents or added.media or added.jobs):
        note("No captions and no documents found: nothing was added.", "yellow")
    for video in added.media or ():
        say(f"“{video}” plays now beside its transcript.")
    titles = {video.id: video.title for video in added.videos}
    for job in added.jobs:
        _print_job(job, titles.get(job.video_id or "", ""))
    _print_problems(added.problems)
    for sentence in report.notes:
        note(sentence)


def _print_transcripts(added: AddOut) -> bool:
    """Print what became of the transcripts: their numbers, or each where these are not known."""
    names = ("added", "updated", "unchanged", "skipped")
    counts = {name: count for name in names if (count := getattr(added, name)) is not None}
    if added.added is not None and (any(counts.values()) or added.problems):
        prefix = "Transcripts: " if added.documents else ""
        say(prefix + ", ".join(f"{count} {name}" for name, count in counts.items()))
    fetched = {job.video_id for job in added.jobs}
    for video in added.videos if added.added is None else ():
        if video.id not in fetched:
            say(f"“{video.title}” was added: {video.id}")
    return bool(any(counts.values()) or added.videos or added.problems)


def _print_documents(documents: Sequence[DocumentOut]) -> None:
    labels = dict(kind_choices())
    for document in documents[:DOCUMENTS_SHOWN]:
        source = document.source
        result = "added as a document" if document.is_new else "is already in the library"
        if source.state == "failed":
            result = "was stored, but cannot be read"
        say(f"“{source.title}” {result} ({labels[source.kind]}): {source.id}")
    if len(documents) > DOCUMENTS_SHOWN:
        new = sum(document.is_new for document in documents)
        say(f"… {len(documents)} documents in all, {new} new; `kb sources` lists them.")


def _print_job(job: JobOut, title: str) -> None:
    failed = failures(problem.code for problem in job.problems)
    state = state_text(job.kind, job.state, done=job.done, failed=failed)
    step = job.step if job.finished_at is None else ""
    video = ": ".join(filter(None, (job.video_id, title)))
    parts = (f"{Job.Kind(job.kind).label} {job.target}", state, place_text(job), step, video)
    say(f"Job {job.id}: {' · '.join(filter(None, parts))}")


def _print_problems(problems: Sequence[JobProblem]) -> None:
    listed = problems[:PROBLEMS_SHOWN]
    if listed:
        rows = [(problem.name, problem.code, problem.message) for problem in listed]
        table_of_sentences(("Problem with", "Code", "Reason"), rows)
    for hint in dict.fromkeys(problem.hint for problem in listed if problem.hint):
        note(hint)
    if len(problems) > len(listed):
        note(f"… and {len(problems) - len(listed)} more; --json lists all of them.")
