"""Searches the summary tree for an overview: its sections and documents at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final, NamedTuple

from citations import conf
from citations.answers.answer import Evidence, QuestionPart
from citations.errors import InvalidProvider, ModelError
from citations.library.filters import Filter, resolve
from citations.models import Level
from citations.outline import search as outline_search
from citations.outline.search import NodeFilter, Summary
from citations.passages import Stage
from citations.search import fusion
from citations.vectors import space as vector_space
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.core.stages import finish

LEVELS: Final = "levels"  # a stage
BROAD: Final = (Level.SECTION, Level.DOCUMENT)
DOCUMENT_WEIGHT: Final = 0.2  # of a document's score in that of its chunks
NEAREST: Final = 50  # nodes of each level that are scored
MAX_OVERLAP: Final = 0.5  # of a passage's characters that better ones may have


class TreeQuery(NamedTuple):
    scope: Scope
    part: QuestionPart
    filter: Filter
    limit: int

    @property
    def question(self) -> str:
        return self.part.text[:MAX_QUERY_CHARACTERS]

    @property
    def subject(self) -> str:
        return self.part.about[:MAX_QUERY_CHARACTERS] or self.question


class ChunkEvidence(NamedTuple):
    """A chunk as evidence, and its ordinal in the source."""

    evidence: Evidence
    ordinal: int


def is_within(span: tuple[int, int], section: tuple[int, int]) -> bool:
    """Tell whether most of a span lies in a section."""
    shared = min(span[1], section[1]) - max(span[0], section[0])
    return 2 * shared >= span[1] - span[0]


def overview_evidence(query: TreeQuery) -> tuple[list[Evidence], Stage, str]:
    """Return evidence for what the sources are about, and a note on how it was chosen."""
    started = perf_counter()
    resolved = resolve(query.scope, query.filter)
    if span := query.filter.span:
        of_sections = NodeFilter(query.scope, resolved, (Level.SECTION,))
        sections = outline_search.largest(of_sections, limit=outline_search.MAX_SECTIONS)
        inside = [node for node in sections if is_within(node.passage.locator.span, span)]
        evidence = _node_evidence([(node, 1.0) for node in inside])
        return evidence, _stage(evidence, started), ""
    whole = outline_search.overview(query.scope, resolved, query.question, limit=query.limit)
    evidence = _node_evidence(whole.nodes)
    return evidence, _stage(evidence, started), whole.note


def search(query: TreeQuery, chunks: Sequence[ChunkEvidence]) -> tuple[list[Evidence], Stage]:
    """Rank sections and documents before ``chunks``."""
    started = perf_counter()
    node_filter = NodeFilter(query.scope, resolve(query.scope, query.filter), BROAD)
    near = _near(query, node_filter)
    above = [(chunk.evidence.source, chunk.ordinal) for chunk in chunks]
    over = outline_search.over(node_filter._replace(above=above))
    nodes = list({node.node: node for node in (*over, *near)}.values())
    nodes = outline_search.in_its_language(nodes, query.question)
    scores = _scores(nodes, chunks)
    own = _with_documents(chunks, nodes, scores)
    evidence = _merged(query, own, nodes, scores)[: query.limit]
    return evidence, _stage(evidence, started)


def _stage(evidence: Sequence[Evidence], started: float) -> Stage:
    count = sum(passage.level > 0 for passage in evidence)
    milliseconds = (perf_counter() - started) * 1000
    finish("answer", LEVELS, milliseconds=milliseconds)
    return Stage(name=LEVELS, milliseconds=milliseconds, count=count)


def _near(query: TreeQuery, node_filter: NodeFilter) -> list[Summary]:
    space = vector_space.active()
    if space is None:
        return []
    try:
        vector = vector_space.embedder_of(space).embed_query(query.subject)
    except (ModelError, InvalidProvider):
        return []  # the search for chunks has noted it
    return outline_search.near(node_filter, vector, space=space, limit=NEAREST)


# Scores


def _scores(nodes: Iterable[Summary], chunks: Sequence[ChunkEvidence]) -> dict[int, float]:
    """Score the nodes of each level, 0 to 1, by the fused ranks of closeness and support.

    A node's support is the sum of the squared scores of the chunks below it: one that fits counts
    for more than several that hardly do.
    """
    k = conf.rrf_k()
    levels: defaultdict[int, list[Summary]] = defaultdict(list)
    for node in nodes:
        levels[node.level].append(node)
    scores: dict[int, float] = {}
    for own in levels.values():
        near = {node.node: node.cosine for node in own if node.cosine is not None}
        support = {
            node.node: sum(
                chunk.evidence.score**2
                for chunk in chunks
                if node.passage.source == chunk.evidence.source
                and node.first <= chunk.ordinal <= node.last
            )
            for node in own
        }
        branches = [ranking for ranking in map(_ranking, (near, support)) if ranking]
        most = len(branches) / (k + 1)
        fused = fusion.rrf([list(ranking) for ranking in branches], k=k)
        weighted = fusion.min_max_weighted(fused, branches)
        scores |= {node: score / most for node, score in weighted.items()}
    return scores


def _ranking(scores: Mapping[int, float]) -> dict[int, float]:
    positive = ((node, score) for node, score in scores.items() if score > 0)
    return dict(sorted(positive, key=lambda pair: (-pair[1], pair[0])))


def _with_documents(
    chunks: Iterable[ChunkEvidence], nodes: Sequence[Summary], scores: Mapping[int, float]
) -> list[Evidence]:
    """Add a share of each chunk's document to its score."""
    documents = {
        node.passage.source: DOCUMENT_WEIGHT * scores.get(node.node, 0.0)
        for node in nodes
        if node.level == Level.DOCUMENT
    }
    evidence = [chunk.evidence for chunk in chunks]
    if not documents:
        return evidence
    return [
        replace(own, score=(own.score + documents.get(own.source, 0.0)) / (1 + DOCUMENT_WEIGHT))
        for own in evidence
    ]


# Evidence


def _merged(
    query: TreeQuery, own: Iterable[Evidence], nodes: Sequence[Summary], scores: Mapping[int, float]
) -> list[Evidence]:
    """Put sections and documents before chunks, which then score at most as much."""
    scored = ((node, scores.get(node.node, 0.0)) for node in nodes)
    fitting = sorted(scored, key=lambda pair: (-pair[1], *outline_search.sort_key(pair[0])))
    chosen = _node_evidence([pair for pair in fitting[: 2 * query.limit] if pair[1] > 0])
    rest = sorted(own, key=lambda passage: -passage.score)
    least = min((passage.score for passage in chosen), default=1.0)
    others = (replace(passage, score=min(least, passage.score)) for passage in rest)
    return _distinct([*chosen, *others])


def _node_evidence(scored: Sequence[tuple[Summary, float]]) -> list[Evidence]:
    """Return nodes as evidence, without those whose sentences have changed since."""
    digests = outline_search.current_digests([node for node, _ in scored])
    return [
        Evidence(
            number=0,
            source=node.passage.source,
            origin=node.passage.origin,
            locator=node.passage.locator,
            text=node.passage.text,
            spans=node.spans,
            digest=digests[node.node],
            level=node.level,
            score=score,
            heading=node.passage.heading,
            link=node.passage.link(),
        )
        for node, score in scored
        if node.node in digests
    ]


def _distinct(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Leave out summaries that repeat the sentences of better passages."""
    distinct: list[Evidence] = []
    for passage in evidence:
        spans = [
            span
            for other in distinct
            if other.source == passage.source and (other.level or passage.level)
            for span in other.spans
        ]
        length = sum(last - first for first, last in passage.spans)
        if _overlap(passage.spans, spans) < MAX_OVERLAP * length:
            distinct.append(passage)
    return distinct


def _overlap(spans: Iterable[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Count the characters of disjoint spans that others have, each once."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(others):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return sum(
        max(0, min(last, until) - max(first, since))
        for first, last in spans
        for since, until in merged
    )
