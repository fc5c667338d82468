"""Index added sources in this process, with a progress bar."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from rich.progress import Progress, TaskID

from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.models import Source, State
from kbsite.cli import db_contexts
from kbsite.cli.terminal import bar_label, note, progress_bar
from transcripts.models import WorkerPulse

PATIENCE_SECONDS = 15.0  # for embedding without --wait, where no worker runs
POLL_SECONDS = 0.5
BATCH_SIZE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingCounts:
    """Added sources by state: embedded, found by words only, failed; and the first error."""

    ready: int = 0
    words: int = 0
    failed: int = 0
    error: str = ""
    hint: str = ""

    def print(self) -> None:
        """Print the first error and what is still to be embedded."""
        if self.error:
            note(f"{self.error} {self.hint}".rstrip(), "yellow")
        if self.words:
            how = (
                "the worker embeds them now"
                if WorkerPulse.is_alive()
                else "`kb serve` or `kb add --wait` embeds them"
            )
            note(f"{self.words} can be searched by words so far; for search by meaning, {how}.")


def index(
    videos: Iterable[int], documents: Iterable[int] = (), *, wait: bool, quiet: bool
) -> IndexingCounts:
    """Index the sources of videos and documents (primary keys of `Video` and of `Source`).

    Words are indexed on return. Sources are embedded with ``wait``, or as far as
    ``PATIENCE_SECONDS`` suffice. Ctrl-C leaves the rest to a worker or the next command.
    """
    added = Source.objects.filter(Q(video__in=[*videos]) | Q(pk__in=[*documents]))
    with progress_bar(quiet=quiet) as progress:
        bar = progress.add_task("Indexing words", total=None)
        _index_words(progress, bar)
        try:
            _read_documents(added, progress, bar)
            if wait and not quiet:
                db_contexts.announce()
            if wait or not WorkerPulse.is_alive():
                deadline = None if wait else time.monotonic() + PATIENCE_SECONDS
                _embed(added, progress, bar, deadline)
        except KeyboardInterrupt:
            note("Stopped. Finished work stays; the rest continues later.", "yellow")
    lexical_index.merge()
    return _counts(added)


def _index_words(progress: Progress, bar: TaskID) -> None:
    done = 0
    while count := ingest_pipeline.index_words(most=BATCH_SIZE):
        done += count
        total = done + Source.objects.filter(state=State.PENDING).count()
        progress.update(bar, completed=done, total=total)


def _read_documents(added: QuerySet[Source], progress: Progress, bar: TaskID) -> None:
    def show(source: Source) -> None:
        label, total = bar_label(f"Reading {source.title}"), source.total or None
        progress.update(bar, description=label, completed=source.done, total=total)

    for source in added.filter(state=State.PENDING).order_by("pk"):
        ingest_pipeline.read_document(source.pk, on_progress=show)


def _embed(
    added: QuerySet[Source], progress: Progress, bar: TaskID, deadline: float | None
) -> None:
    total = added.count()
    while pending := list(
        ingest_pipeline.waiting().filter(pk__in=added.values("pk"), state=State.WORDS)[:20]
    ):
        last_change = pending[0].updated_at
        for source in pending:
            label = bar_label(f"Indexing {source.title}")
            done = total - added.filter(state=State.WORDS).count()
            progress.update(bar, description=label, completed=done, total=total)
            if deadline is not None and time.monotonic() > deadline:
                return
            ingest_pipeline.ingest(source.pk, contexts=deadline is None)
        pending[0].refresh_from_db()
        if pending[0].updated_at == last_change:
            time.sleep(POLL_SECONDS)  # another process works on it


def _counts(added: QuerySet[Source]) -> IndexingCounts:
    states = list(added.values_list("state", flat=True))
    failed = added.exclude(error_code="").order_by("pk").first()
    return IndexingCounts(
        ready=states.count(State.READY),
        words=states.count(State.WORDS),
        failed=states.count(State.FAILED),
        error=failed.error if failed else "",
        hint=failed.hint if failed else "",
    )
