"""Index added sources and write contexts of chunks in this process."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from django.db.models import Q, QuerySet

from citations import conf
from citations.documents.storage import document_note
from citations.ingest import contextual, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.models import Source, State
from citations.providers import registry
from kbsite.library import TaskProgress
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


def index(
    videos: Iterable[int], documents: Iterable[int] = (), *, wait: bool, progress: TaskProgress
) -> IndexingCounts:
    """Index the sources of videos and documents (primary keys of `Video` and of `Source`).

    Words are indexed on return. Sources are embedded with ``wait``, or as far as
    ``PATIENCE_SECONDS`` suffice. Ctrl-C leaves the rest to a worker or the next command.
    """
    added = Source.objects.filter(Q(video__in=[*videos]) | Q(pk__in=[*documents]))
    progress.show("Indexing words")
    if wait or not WorkerPulse.is_alive():
        lexical_index.renew(partial(progress.show, "Indexing words of earlier sources again"))
    done = 0
    while count := ingest_pipeline.index_words(most=BATCH_SIZE):
        done += count
        pending = Source.objects.filter(state=State.PENDING).count()
        progress.show("Indexing words", done, done + pending)
    try:
        _read_documents(added, progress)
        if wait and (text := contexts_ahead()):
            progress.note(text)
        if wait or not WorkerPulse.is_alive():
            deadline = None if wait else time.monotonic() + PATIENCE_SECONDS
            _embed(added, progress, deadline)
    except KeyboardInterrupt:
        progress.note("Stopped. Finished work stays; the rest continues later.")
    merging.merge()
    return _counts(added)


def contexts_plan() -> contextual.ContextPlan:
    """Return what missing contexts take. Raises ``Unavailable`` if the settings turn them off."""
    if not conf.uses_context():
        raise Unavailable(
            "The settings turn contexts off.",
            hint="Contexts need LLM_PROVIDER, and DISABLE_CONTEXTUAL_RETRIEVAL unset.",
        )
    return contextual.plan()


def contexts_ahead() -> str:
    """Return what missing contexts cost; "": there are none."""
    if conf.uses_context() and (plan := contextual.plan()).pieces:
        return f"{costs_of(plan)} DISABLE_CONTEXTUAL_RETRIEVAL=true turns contexts off."
    return ""


def _read_documents(added: QuerySet[Source], progress: TaskProgress) -> None:
    def show(source: Source) -> None:
        progress.show(f"Reading {source.title}", source.done, source.total or None)

    for source in added.filter(state=State.PENDING).order_by("pk"):
        ingest_pipeline.read_document(source.pk, on_progress=show)
        if text := document_note(source):
            progress.note(f"{source.title}: {text}")


def _embed(added: QuerySet[Source], progress: TaskProgress, deadline: float | None) -> None:
    total = added.count()
    while pending := list(
        lanes.waiting().filter(pk__in=added.values("pk"), state=State.WORDS)[:20]
    ):
        last_change = pending[0].updated_at
        for source in pending:
            done = total - added.filter(state=State.WORDS).count()
            progress.show(f"Indexing {source.title}", done, total)
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


def costs_of(plan: contextual.ContextPlan) -> str:
    """Return what the contexts of a plan cost, in a sentence."""
    if not plan.pieces:
        return "Every chunk has its context."
    cost = plan.cost
    cached = f" ({cost.cached:,} of them cached)" if cost.cached else ""
    return (
        f"{plan.pieces:,} chunks of {plan.sources:,} source{'s' * (plan.sources > 1)}"
        f" get a context from {plan.model}: {cost.calls:,} calls,"
        f" about {cost.input:,} tokens of input{cached} and {cost.output:,} of output."
    )


def write_contexts(progress: TaskProgress) -> None:
    """Write the missing contexts."""
    registry.llm()  # raises an error of the settings before any work
    ingest_pipeline.try_again()
    sources = Source.objects.filter(
        contextual.WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    )
    total = sources.count()
    for done, source in enumerate(sources.order_by("pk")):
        progress.show(f"Writing contexts: {source.title}", done, total)
        ingest_pipeline.ingest(source.pk)
        while not _is_free(source):
            time.sleep(POLL_SECONDS)


def _is_free(source: Source) -> bool:
    with source.hold() as is_mine:
        return is_mine
