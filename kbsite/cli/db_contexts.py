"""What `kb db write-contexts` does: it says what the contexts will cost, asks, and writes them with a bar."""

import time
from dataclasses import asdict

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from citations import conf
from citations.ingest import contextual_costs
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from citations.providers import registry
from kbsite.cli.terminal import confirm, err, note, print_json, printable, say
from transcripts.errors import Unavailable

EVERY_SECONDS = 0.5


def write(*, yes: bool, only_estimate: bool, as_json: bool) -> None:
    """Say the cost, ask, and write. Raises ``Unavailable`` where nobody writes contexts."""
    if not conf.uses_context():
        raise Unavailable(
            "No contexts are written as the settings stand.",
            hint="They need LLM_PROVIDER, and DISABLE_CONTEXTUAL_RETRIEVAL unset.",
        )
    planned = contextual_costs.plan()
    if not only_estimate and planned.pieces:
        confirm(f"{_sentence(planned)} Write them?", yes=yes)
        _write(quiet=as_json)
    left = contextual_costs.plan().pieces if not only_estimate else planned.pieces
    if as_json:
        print_json(
            {
                "model": planned.model,
                "sources": planned.sources,
                "pieces": planned.pieces,
                "left": left,
                **asdict(planned.cost),
            }
        )
    elif only_estimate or not planned.pieces:
        say(_sentence(planned))
    else:
        say(f"{planned.pieces - left:,} contexts were written.")
        if left:
            note(f"{left:,} are still missing; they are tried again later.", "yellow")


def announce() -> None:
    """Say beforehand what contexts will cost, where some are to be written; nothing else."""
    if conf.uses_context() and (planned := contextual_costs.plan()).pieces:
        note(f"{_sentence(planned)} DISABLE_CONTEXTUAL_RETRIEVAL=true does without them.")


def _sentence(planned: contextual_costs.ContextPlan) -> str:
    if not planned.pieces:
        return "Every chunk has its context."
    cost = planned.cost
    cheap = f" ({cost.cached:,} of them kept from the question before)" if cost.cached else ""
    return (
        f"{planned.pieces:,} chunks of {planned.sources:,} source{'s' * (planned.sources > 1)} get a context from {planned.model}:"
        f" {cost.calls:,} questions of about {cost.asked:,} tokens in all{cheap}, and {cost.answered:,} tokens of answers."
    )


def _write(*, quiet: bool) -> None:
    registry.llm()  # raises what is wrong with the settings, before anything starts
    ingest_pipeline.try_again()
    sources = Source.objects.filter(
        contextual_costs.WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    )
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err(), transient=True, disable=quiet) as progress:
        bar = progress.add_task("Writing contexts", total=sources.count())
        for source in sources.order_by("pk"):
            progress.update(
                bar,
                description=printable(f"Writing contexts: {source.title}")[:60].replace("[", "("),
            )
            ingest_pipeline.ingest(source.pk)
            while _is_at_work(source):
                time.sleep(EVERY_SECONDS)
            progress.advance(bar)


def _is_at_work(source: Source) -> bool:
    """Say whether another process writes them at present."""
    with source.hold() as mine:
        return not mine
