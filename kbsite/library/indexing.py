"""Index added sources and write contexts of chunks in this process, with a progress bar."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.db.models import Q, QuerySet
from rich.progress import Progress, TaskID

from citations import conf
from citations.ingest import contextual_costs, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.models import Source, State
from citations.providers import registry
from kbsite.cli.terminal import bar_label, confirm, note, print_json, progress_bar, say
from transcripts.core.errors import Unavailable
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
        done = 0
        while count := ingest_pipeline.index_words(most=BATCH_SIZE):
            done += count
            total = done + Source.objects.filter(state=State.PENDING).count()
            progress.update(bar, completed=done, total=total)
        try:
            _read_documents(added, progress, bar)
            if wait and not quiet:
                announce_contexts()
            if wait or not WorkerPulse.is_alive():
                deadline = None if wait else time.monotonic() + PATIENCE_SECONDS
                _embed(added, progress, bar, deadline)
        except KeyboardInterrupt:
            note("Stopped. Finished work stays; the rest continues later.", "yellow")
    merging.merge()
    return _counts(added)


def write_contexts(*, yes: bool, only_estimate: bool, as_json: bool) -> None:
    """Estimate, ask, and write. Raises ``Unavailable`` if the settings turn contexts off."""
    if not conf.uses_context():
        raise Unavailable(
            "The settings turn contexts off.",
            hint="Contexts need LLM_PROVIDER, and DISABLE_CONTEXTUAL_RETRIEVAL unset.",
        )
    plan = contextual_costs.plan()
    is_written = bool(plan.pieces) and not only_estimate
    if is_written:
        confirm(f"{_summary(plan)} Write them?", yes=yes)
        _write_missing(quiet=as_json)
    remaining = plan.pieces if only_estimate else contextual_costs.plan().pieces
    if as_json:
        counts = {"sources": plan.sources, "pieces": plan.pieces, "left": remaining}
        print_json({"model": plan.model, **counts, **asdict(plan.cost)})
    elif not is_written:
        say(_summary(plan))
    else:
        say(f"{plan.pieces - remaining:,} contexts were written.")
        if remaining:
            note(f"{remaining:,} are still missing; a later run tries again.", "yellow")


def announce_contexts() -> None:
    """Note the cost of missing contexts, if there are any."""
    if conf.uses_context() and (plan := contextual_costs.plan()).pieces:
        note(f"{_summary(plan)} DISABLE_CONTEXTUAL_RETRIEVAL=true turns contexts off.")


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
        lanes.waiting().filter(pk__in=added.values("pk"), state=State.WORDS)[:20]
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


def _summary(plan: contextual_costs.ContextPlan) -> str:
    if not plan.pieces:
        return "Every chunk has its context."
    cost = plan.cost
    cached = f" ({cost.cached:,} of them cached)" if cost.cached else ""
    return (
        f"{plan.pieces:,} chunks of {plan.sources:,} source{'s' * (plan.sources > 1)}"
        f" get a context from {plan.model}: {cost.calls:,} calls,"
        f" about {cost.input:,} tokens of input{cached} and {cost.output:,} of output."
    )


def _write_missing(*, quiet: bool) -> None:
    registry.llm()  # raises an error of the settings before any work
    ingest_pipeline.try_again()
    sources = Source.objects.filter(
        contextual_costs.WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    )
    with progress_bar(quiet=quiet) as progress:
        bar = progress.add_task("Writing contexts", total=sources.count())
        for source in sources.order_by("pk"):
            progress.update(bar, description=bar_label(f"Writing contexts: {source.title}"))
            ingest_pipeline.ingest(source.pk)
            while not _is_free(source):
                time.sleep(POLL_SECONDS)
            progress.advance(bar)


def _is_free(source: Source) -> bool:
    with source.hold() as is_mine:
        return is_mine
