"""Finds the passages that may answer a question, among chunks and the nodes of the summary tree."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from django.contrib.auth.models import User

from citations.answers import tree_search
from citations.answers.answer import Breadth, Evidence, EvidenceSet, QuestionPart
from citations.answers.tree_search import ChunkEvidence, TreeQuery, is_within
from citations.library.filters import Filter
from citations.models import Chunk
from citations.passages import Passage, Results, Stage
from citations.schemas.filters import MAX_LIMIT
from citations.search import candidates
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope

UNQUOTED: Final = (
    "No passage has the words in quotation marks as they stand; searched without the marks."
)
_QUOTES: Final = dict.fromkeys(map(ord, '"“”„«»'), " ")
_MIN_SUPPORT: Final = 20  # chunks that support nodes of the tree
_READ: Final = 10  # passages that a cross-encoder reads, where there is one


def collect(
    scope: Scope,
    parts: Sequence[QuestionPart],
    *,
    filter: Filter,
    limit: int,
    user: User | None = None,
    expand: bool = True,
) -> EvidenceSet:
    """Find evidence for each part, numbered through; raises what ``find`` raises."""
    sets = [
        find(scope, part, filter=filter, limit=limit, user=user, expand=expand) for part in parts
    ]
    passages = (
        replace(passage, part=number)
        for number, evidence in enumerate(sets)
        for passage in evidence.evidence
    )
    return EvidenceSet(
        evidence=_numbered(list(passages)),
        stages=tuple(stage for evidence in sets for stage in evidence.stages),
        notes=tuple(note for evidence in sets for note in evidence.notes),
        is_fused=sets[-1].is_fused,
    )


def find(
    scope: Scope,
    part: QuestionPart,
    *,
    filter: Filter = Filter(),
    limit: int = 10,
    user: User | None = None,
    expand: bool = True,
) -> EvidenceSet:
    """Find at most ``limit`` (1–50) passages that may answer a part of a question, best first.

    An overview searches the sections and documents of the summary tree, all levels at once (the
    collapsed tree of RAPTOR: Sarthi et al., "RAPTOR: Recursive Abstractive Processing for
    Tree-Organized Retrieval", 2024); without a tree, chunks answer. A fact searches only the
    chunks, where it is found more often (bench/SETTLED.md). Scores are those of ``search``; a node
    is scored like a chunk, by its vector and by the chunks below it that were found. Words in
    quotation marks that occur nowhere are searched without the marks. Raises what
    ``search_pipeline.search`` raises.
    """
    question, query = part.text[:MAX_QUERY_CHARACTERS], TreeQuery(scope, part, filter, limit)
    is_broad = part.breadth == Breadth.BROAD
    if part.is_of_the_whole:
        evidence, stage, note = tree_search.overview_evidence(query)
        if evidence:
            return _set(evidence, (stage,), (note,) if note else ())
    support = max(limit, min(MAX_LIMIT, max(2 * limit, _MIN_SUPPORT)))
    count = support if is_broad else limit
    count = MAX_LIMIT if filter.span else count
    search = partial(_search, scope, filter=filter, user=user)
    results, notes = search(question, limit=count, expand=expand)
    chunks = chunk_evidence(results.passages)
    if span := filter.span:
        chunks = [chunk for chunk in chunks if is_within(chunk.evidence.locator.span, span)]
    if is_broad and not filter.span:
        evidence, stage = tree_search.search(query, chunks)
        return _set(evidence, (*results.stages, stage), notes)
    evidence = [chunk.evidence for chunk in chunks[:limit]]
    return _set(evidence, results.stages, notes)


def chunk_evidence(passages: Sequence[Passage]) -> list[ChunkEvidence]:
    """Return passages as evidence, without those of a source that was chunked again meanwhile."""
    rows = Chunk.objects.filter(pk__in=[passage.chunk for passage in passages]).order_by()
    columns = ("pk", "ordinal", "source_id", "source__digest")
    by_id = {pk: row for pk, *row in rows.values_list(*columns)}
    chunks: list[ChunkEvidence] = []
    for passage in (passage for passage in passages if passage.chunk in by_id):
        ordinal, source, digest = by_id[passage.chunk]
        evidence = Evidence(
            number=0,
            source=source,
            origin=passage.origin,
            locator=passage.locator,
            text=passage.text,
            spans=(passage.locator.span,),
            digest=digest,
            level=0,
            score=passage.score,
            relevance=passage.relevance,
            heading=passage.heading,
            link=passage.link,
        )
        chunks.append(ChunkEvidence(evidence, ordinal))
    return chunks


def _search(scope: Scope, question: str, **options: Any) -> tuple[Results, tuple[str, ...]]:
    def search(text: str) -> Results:
        return search_pipeline.search(scope, text, reads=_READ, **options)

    results = search(question)
    unquoted = question.translate(_QUOTES)
    if results.passages or unquoted == question:
        return results, results.notes
    again = search(unquoted)
    return again, (*again.notes, UNQUOTED) if again.passages else again.notes


def _set(
    evidence: Sequence[Evidence], stages: tuple[Stage, ...], notes: tuple[str, ...]
) -> EvidenceSet:
    is_fused = vector_space.active() is not None and not candidates.is_by_words(stages)
    return EvidenceSet(evidence=_numbered(evidence), stages=stages, notes=notes, is_fused=is_fused)


def _numbered(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(replace(passage, number=number) for number, passage in enumerate(evidence, 1))
