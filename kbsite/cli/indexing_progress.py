"""Indexing in the own process, with a bar: words at once, meaning as far as somebody wants to wait for it."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db.models import Q, QuerySet
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.models import Source, State
from kbsite.cli import db_contexts
from kbsite.cli.terminal import err, note, printable
from transcripts.models import WorkerPulse

PATIENCE_SECONDS = (
    15.0  # for embedding what was added, where no worker does it and nobody asked to wait
)
EVERY_SECONDS = 0.5
WORDS_AT_ONCE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingCounts:
    """How many sources of what was added are found by words and by meaning, how many wait, and why the first of them does."""

    ready: int = 0
    words: int = 0
    failed: int = 0
    error: str = ""
    hint: str = ""

    def as_json(self) -> dict[str, object]:
        """Return it for programs."""
        return asdict(self)

    def print(self) -> None:
        """Say what is still to come."""
        if self.error:
            note(f"{self.error} {self.hint}".rstrip(), "yellow")
        if self.words:
            how = (
                "the worker embeds them now"
                if WorkerPulse.is_alive()
                else "`kb serve` embeds them, or `kb add --wait`"
            )
            note(f"{self.words} found by their words so far; to be found by meaning, {how}.")


def run(
    videos: Iterable[int], papers: Iterable[int] = (), *, wait: bool, quiet: bool
) -> IndexingCounts:
    """Index what was added of these videos and documents (primary keys of their sources). Words are found when this returns; meaning with ``wait``,
    or where that takes a moment only.

    Ctrl-C while documents are read, or meaning is worked on, leaves the rest to a worker, or to the next command.
    """
    ours = Source.objects.filter(Q(video__in=[*videos]) | Q(pk__in=[*papers]))
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err(), transient=True, disable=quiet) as progress:
        bar = progress.add_task("Indexing words", total=None)
        _index_words(progress, bar)
        try:
            _read_documents(ours, progress, bar)
            if wait and not quiet:
                db_contexts.announce()
            if wait or not WorkerPulse.is_alive():
                deadline = None if wait else time.monotonic() + PATIENCE_SECONDS
                _embed(ours, progress, bar, deadline)
        except KeyboardInterrupt:
            note("Stopped. What is read and embedded stays; the rest goes on later.", "yellow")
    lexical_index.merge()
    return _indexed(ours)


def _index_words(progress: Progress, bar: TaskID) -> None:
    done = 0
    while count := ingest_pipeline.index_words(most=WORDS_AT_ONCE):
        done += count
        progress.update(
            bar, completed=done, total=done + Source.objects.filter(state=State.PENDING).count()
        )


def _read_documents(ours: QuerySet[Source], progress: Progress, bar: TaskID) -> None:
    def tell(source: Source) -> None:
        progress.update(
            bar,
            description=_words(source, "Reading"),
            completed=source.done,
            total=source.total or None,
        )

    for source in ours.filter(state=State.PENDING).order_by("pk"):
        ingest_pipeline.read_document(source.pk, on_progress=tell)


def _embed(ours: QuerySet[Source], progress: Progress, bar: TaskID, deadline: float | None) -> None:
    total = ours.count()
    while pending := list(
        ingest_pipeline.waiting().filter(pk__in=ours.values("pk"), state=State.WORDS)[:20]
    ):
        before = pending[0].updated_at
        for source in pending:
            done = total - ours.filter(state=State.WORDS).count()
            progress.update(bar, description=_words(source), completed=done, total=total)
            if deadline is not None and time.monotonic() > deadline:
                return
            ingest_pipeline.ingest(source.pk, contexts=deadline is None)
        pending[0].refresh_from_db()
        if pending[0].updated_at == before:
            time.sleep(EVERY_SECONDS)  # another process has it in its hands


def _words(source: Source, deed: str = "Indexing") -> str:
    return printable(f"{deed} {source.title}")[:60].replace("[", "(")


def _indexed(ours: QuerySet[Source]) -> IndexingCounts:
    states = [state for (state,) in ours.values_list("state")]
    troubled = ours.exclude(error_code="").order_by("pk").first()
    return IndexingCounts(
        ready=states.count(State.READY),
        words=states.count(State.WORDS),
        failed=states.count(State.FAILED),
        error=troubled.error if troubled else "",
        hint=troubled.hint if troubled else "",
    )
