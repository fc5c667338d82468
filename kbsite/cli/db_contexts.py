"""Estimate and write the contexts of chunks, with a progress bar."""

import time
from dataclasses import asdict

from citations import conf
from citations.ingest import contextual_costs
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.providers import registry
from kbsite.cli.terminal import bar_label, confirm, note, print_json, progress_bar, say
from transcripts.errors import Unavailable

POLL_SECONDS = 0.5


def write(*, yes: bool, only_estimate: bool, as_json: bool) -> None:
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
        _write(quiet=as_json)
    left = plan.pieces if only_estimate else contextual_costs.plan().pieces
    if as_json:
        counts = {"sources": plan.sources, "pieces": plan.pieces, "left": left}
        print_json({"model": plan.model, **counts, **asdict(plan.cost)})
    elif not is_written:
        say(_summary(plan))
    else:
        say(f"{plan.pieces - left:,} contexts were written.")
        if left:
            note(f"{left:,} are still missing; a later run tries again.", "yellow")


def announce() -> None:
    """Note the cost of missing contexts, if there are any."""
    if conf.uses_context() and (plan := contextual_costs.plan()).pieces:
        note(f"{_summary(plan)} DISABLE_CONTEXTUAL_RETRIEVAL=true turns contexts off.")


def _summary(plan: contextual_costs.ContextPlan) -> str:
    if not plan.pieces:
        return "Every chunk has its context."
    cost = plan.cost
    cached = f" ({cost.cached:,} of them cached)" if cost.cached else ""
    return (
        f"{plan.pieces:,} chunks of {plan.sources:,} source{'s' * (plan.sources > 1)}"
        f" get a context from {plan.model}: {cost.calls:,} calls,"
        f" about {cost.asked:,} tokens of input{cached} and {cost.answered:,} of output."
    )


def _write(*, quiet: bool) -> None:
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
            while _is_held_elsewhere(source):
                time.sleep(POLL_SECONDS)
            progress.advance(bar)


def _is_held_elsewhere(source: Source) -> bool:
    with source.hold() as is_mine:
        return not is_mine
