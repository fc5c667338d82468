"""Estimate the cost of missing contexts."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F, Q

from citations.ingest import contextual
from citations.models import Chunk, Source, State
from citations.providers import registry
from citations.readers import source_blocks
from citations.text import blocks
from transcripts.core.errors import Unavailable

WITHOUT_CONTEXTS = Q(chunk_count__gt=0) & ~Q(contexts_digest=F("digest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The missing contexts, and their cost with the configured language model."""

    model: str
    sources: int
    pieces: int
    cost: contextual.Cost


def plan() -> ContextPlan:
    """Estimate the cost of missing contexts. Raises ``Unavailable`` without a language model."""
    llm = registry.llm()
    if llm is None:
        raise Unavailable("No language model is configured.", hint="Set LLM_PROVIDER.")
    sources = pieces = 0
    cost = contextual.Cost()
    for source in Source.objects.filter(
        WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    ).order_by("pk"):
        requests = requests_for(Chunk.objects.filter(source=source, context=""))
        cost += contextual.estimate(
            title=source.title,
            text=blocks.text_of(source_blocks.read(source)),
            pieces=requests,
            budget=llm.budget,
        )
        sources += 1
        pieces += len(requests)
    return ContextPlan(model=llm.name, sources=sources, pieces=pieces, cost=cost)


def requests_for(chunks: Iterable[Chunk]) -> list[contextual.ContextRequest]:
    """Return a context request for each chunk."""
    return [
        contextual.ContextRequest(
            key=chunk.pk, text=chunk.text, start=chunk.span_start, end=chunk.span_end
        )
        for chunk in chunks
    ]
