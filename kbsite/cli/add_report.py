"""Print what became of what was added."""

from collections.abc import Sequence

from citations.formats import kind_choices
from citations.schemas.search import DocumentOut
from kbsite.cli.terminal import note, say, table_of_sentences
from kbsite.library.add_local import LocalReport
from kbsite.library.indexing import IndexingCounts
from kbsite.library.jobs import place_text
from transcripts.models import WorkerPulse
from transcripts.schemas import JobProblem

PROBLEMS_SHOWN = 20
DOCUMENTS_SHOWN = 10


def print_report(report: LocalReport) -> None:
    """Print what became of all that was added to the library of this machine."""
    print_documents(list(map(DocumentOut.model_validate, report.documents)))
    if any(report.counts().values()) or report.problems:
        prefix = "Transcripts: " if report.documents else ""
        say(prefix + ", ".join(f"{count} {name}" for name, count in report.counts().items()))
    elif not report.jobs and not report.documents and not report.media:
        note("No captions and no documents found: nothing was added.", "yellow")
    for video in report.media:
        say(f"“{video}” plays now beside its transcript.")
    _print_jobs(report)
    print_problems(report.problems)
    print_indexing(report.indexed)


def print_documents(documents: Sequence[DocumentOut]) -> None:
    """Print what became of each document, and the number of many."""
    labels = dict(kind_choices())
    for document in documents[:DOCUMENTS_SHOWN]:
        source = document.source
        say(f"“{source.title}” {_result(document)} ({labels[source.kind]}): {source.id}")
    if len(documents) > DOCUMENTS_SHOWN:
        new = sum(document.is_new for document in documents)
        say(f"… {len(documents)} documents in all, {new} new; `kb sources` lists them.")


def print_problems(problems: Sequence[JobProblem]) -> None:
    """Print the first problems as a table, then their hints."""
    listed = problems[:PROBLEMS_SHOWN]
    if listed:
        rows = [(problem.name, problem.code, problem.message) for problem in listed]
        table_of_sentences(("Problem with", "Code", "Reason"), rows)
    for hint in dict.fromkeys(problem.hint for problem in listed if problem.hint):
        note(hint)
    if len(problems) > len(listed):
        note(f"… and {len(problems) - len(listed)} more; --json lists all of them.")


def print_indexing(counts: IndexingCounts) -> None:
    """Print why a source failed, and what is not found by meaning yet."""
    if counts.error:
        note(f"{counts.error} {counts.hint}".rstrip(), "yellow")
    if counts.words:
        how = (
            "the worker embeds them now"
            if WorkerPulse.is_alive()
            else "`kb serve` or `kb add --wait` embeds them"
        )
        note(f"{counts.words} can be searched by words so far; for search by meaning, {how}.")


def _print_jobs(report: LocalReport) -> None:
    for job in report.jobs:
        video = f"{job.video.key}: {job.video}" if job.video else ""
        parts = (f"{job}", job.state_text, place_text(job), video)
        say(f"Job {job.pk}: {' · '.join(filter(None, parts))}")
    is_pending = any(not job.is_finished for job in report.jobs)
    if is_pending and not report.waited and not WorkerPulse.is_alive():
        note(
            "No worker is running, so the jobs wait in the queue."
            " Start one with `kb serve`, or add with --wait.",
            "yellow",
        )


def _result(document: DocumentOut) -> str:
    if document.source.state == "failed":
        return "was stored, but cannot be read"
    return "added as a document" if document.is_new else "is already in the library"
