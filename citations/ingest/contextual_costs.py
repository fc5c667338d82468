"""What the contexts that are missing will cost."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, Q

from citations.ingest import contextual
from citations.models import Chunk, Source, State
from citations.providers import registry
from citations.readers import source_blocks
from citations.text import blocks
from transcripts.errors import Unavailable

WITHOUT_CONTEXTS = Q(chunk_count__gt=0) & ~Q(contexts_digest=F("digest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """What is missing, and what it will cost with the language model that the settings name."""

    model: str
    sources: int
    pieces: int
    cost: contextual.Cost


def plan() -> ContextPlan:
    """Estimate the contexts that are missing; those of sources that are found only by words so far come to about the same when they are cut by meaning.

    Reads the texts of these sources. Raises ``Unavailable`` without a language model.
    """
    llm = registry.llm()
    if llm is None:
        raise Unavailable("There is no language model.", hint="Set LLM_PROVIDER.")
    sources = pieces = 0
    cost = contextual.Cost()
    for source in Source.objects.filter(
        WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    ).order_by("pk"):
        wanted = pieces_of(Chunk.objects.filter(source=source, context=""))
        cost += contextual.estimate(
            title=source.title,
            text=blocks.text_of(source_blocks.read(source)),
            pieces=wanted,
            budget=llm.budget,
        )
        sources += 1
        pieces += len(wanted)
    return ContextPlan(model=llm.name, sources=sources, pieces=pieces, cost=cost)


def pieces_of(chunks: Iterable[Chunk]) -> list[contextual.ContextRequest]:
    """Return chunks as what contexts are written for."""
    return [
        contextual.ContextRequest(key=one.pk, text=one.text, start=one.span_start, end=one.span_end)
        for one in chunks
    ]
