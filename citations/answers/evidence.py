"""Search over levels of detail: all at once, or from the whole downwards."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from time import perf_counter
from typing import Final, NamedTuple

from django.contrib.auth.models import User

from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.errors import InvalidProvider, ModelError
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, EmbeddingSpace, Level
from citations.outline import overview as outline_overview
from citations.outline import search as outline_search
from citations.outline.search import NodeFilter, Summary
from citations.passages import Passage, Results, Stage
from citations.providers import registry
from citations.search import fusion, rescoring
from citations.search import pipeline as search_pipeline
from citations.search.query_expansion import Vector
from citations.vectors import space as vector_space
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

UNQUOTED: Final = "No passage holds the words in quotation marks as they stand; they were looked for without the marks."
LEVELS: Final = "levels"  # a stage
LIFT: Final = 0.2  # what the document that a chunk stands in adds to the chunk's score, in terms of the document's
GROUPED: Final = 0.6  # what a group counts for where a fact is wanted: its summary may leave out the sentence that says it
NEAREST: Final = 50  # nodes of each level that are looked at
BEAM: Final[Mapping[Level, int]] = {
    Level.DOCUMENT: 8,
    Level.SECTION: 12,
    Level.GROUP: 24,
}  # nodes of each level below which a descent looks
SAID: Final = 0.5  # of a passage's characters that better ones have: it is left out
_QUOTES: Final = dict.fromkeys(map(ord, '"“”„«»'), " ")
_SUPPORTED_BY: Final = 20  # passages, at least


class Strategy(StrEnum):
    """How levels are gone through: all at once, from the whole downwards, or the chunks alone."""

    COLLAPSED = "collapsed"
    DESCENT = "descent"
    FLAT = "flat"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSet:
    """Passages of any level, best first and numbered from 1, and how they were found. ``notes`` are sentences for people."""

    evidence: tuple[Evidence, ...]
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()


def find(
    scope: Scope,
    part: QuestionPart,
    *,
    filter: Filter = Filter(),
    limit: int = 10,
    strategy: Strategy | None = None,
    user: User | None = None,
) -> EvidenceSet:
    """Find what may answer a question, at most ``limit`` (1–50) passages.

    On levels a fact gets chunks and groups, an overview sections and documents.
    Without a ``strategy`` an overview is looked for on all levels, and a fact among the chunks alone, which finds it more often: bench/answers.py.
    Where there are no levels yet, chunks answer. A question that is longer than a search takes is cut. Words in quotation marks that occur nowhere are
    looked for without the marks. Scores are those of ``retrieval.search``; a node's is made like a chunk's, from where it stands among the nodes of its
    level by its vector and by the chunks below it that were found. Raises what ``retrieval.search`` raises.
    """
    strategy = strategy or (Strategy.COLLAPSED if part.breadth == Breadth.BROAD else Strategy.FLAT)
    asked = _Asked(scope, part, filter, limit, user)
    if (
        asked.part.is_of_the_whole
        and strategy == Strategy.COLLAPSED
        and (whole := _whole(asked)).evidence
    ):
        return whole
    results, notes = _passages(
        asked,
        limit
        if strategy == Strategy.FLAT
        else max(limit, min(search_pipeline.MAX_LIMIT, max(2 * limit, _SUPPORTED_BY))),
    )
    chunks = _chunks(results.passages)
    if strategy == Strategy.FLAT:
        return EvidenceSet(
            evidence=_numbered([one.evidence for one in chunks[:limit]]),
            stages=results.stages,
            notes=notes,
        )
    started = perf_counter()
    look = _descended if strategy == Strategy.DESCENT else _collapsed
    evidence = _numbered(look(asked, chunks, reranked=results.reranked)[:limit])
    stage = Stage(
        name=LEVELS,
        milliseconds=(perf_counter() - started) * 1000,
        count=sum(one.level > 0 for one in evidence),
    )
    return EvidenceSet(evidence=evidence, stages=(*results.stages, stage), notes=notes)


class _Asked(NamedTuple):
    scope: Scope
    part: QuestionPart
    filter: Filter
    limit: int
    user: User | None

    @property
    def question(self) -> str:
        return self.part.text[:MAX_QUERY_CHARACTERS]

    @property
    def subject(self) -> str:
        return self.part.about[:MAX_QUERY_CHARACTERS] or self.question

    @property
    def is_broad(self) -> bool:
        return self.part.breadth == Breadth.BROAD


# Chunks


class _Chunk(NamedTuple):
    evidence: Evidence
    ordinal: int


def _passages(asked: _Asked, limit: int) -> tuple[Results, tuple[str, ...]]:
    results = search_pipeline.search(
        asked.scope, asked.question, limit=limit, filter=asked.filter, user=asked.user
    )
    unquoted = asked.question.translate(_QUOTES)
    if results.passages or unquoted == asked.question:
        return results, results.notes
    results = search_pipeline.search(
        asked.scope, unquoted, limit=limit, filter=asked.filter, user=asked.user
    )
    return results, (*results.notes, *((UNQUOTED,) if results.passages else ()))


def _chunks(passages: Sequence[Passage]) -> list[_Chunk]:
    """Make evidence of passages; those that were cut anew a moment ago are left out, since their characters may be others now."""
    rows = (
        Chunk.objects.filter(pk__in=[one.chunk for one in passages])
        .order_by()
        .values_list("pk", "ordinal", "source_id", "source__digest")
    )
    known = {pk: (ordinal, source, digest) for pk, ordinal, source, digest in rows}
    return [_chunk(one, *known[one.chunk]) for one in passages if one.chunk in known]


def _chunk(one: Passage, ordinal: int, source: int, digest: str) -> _Chunk:
    evidence = Evidence(
        number=0,
        source=source,
        origin=one.origin,
        locator=one.locator,
        text=one.text,
        spans=(one.locator.span,),
        digest=digest,
        level=0,
        score=one.score,
        heading=one.heading,
        link=one.link,
    )
    return _Chunk(evidence, ordinal)


def _numbered(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(replace(one, number=number) for number, one in enumerate(evidence, start=1))


# Levels, all at once


def _whole(asked: _Asked) -> EvidenceSet:
    started = perf_counter()
    whole = outline_overview.of(
        asked.scope, resolve(asked.scope, asked.filter), asked.question, limit=asked.limit
    )
    evidence = _numbered(_distinct(_told(whole.nodes)))
    stage = Stage(name=LEVELS, milliseconds=(perf_counter() - started) * 1000, count=len(evidence))
    return EvidenceSet(
        evidence=evidence, stages=(stage,), notes=(whole.note,) if whole.note else ()
    )


def _collapsed(asked: _Asked, chunks: Sequence[_Chunk], *, reranked: bool) -> list[Evidence]:
    reach = resolve(asked.scope, asked.filter)
    nodes = _nodes(
        asked,
        reach,
        chunks,
        levels=(Level.SECTION, Level.DOCUMENT) if asked.is_broad else (Level.GROUP, Level.DOCUMENT),
    )
    shares = _shares(nodes, chunks)
    own = [one.evidence for one in chunks] if reranked else _lifted(chunks, nodes, shares)
    return _merged(asked, own, nodes, _reranked(asked, nodes, shares) if reranked else shares)


def _nodes(
    asked: _Asked, reach: ResolvedFilter, chunks: Sequence[_Chunk], *, levels: Collection[Level]
) -> list[Summary]:
    """Return the nodes near the question, and those above the chunks that were found."""
    near = _near(asked, NodeFilter(asked.scope, reach, levels), limit=NEAREST)
    over = outline_search.over(
        NodeFilter(
            asked.scope, reach, levels, above=[(one.evidence.source, one.ordinal) for one in chunks]
        )
    )
    nodes = list({one.node: one for one in (*over, *near)}.values())
    return outline_overview.in_its_language(nodes, asked.question) if asked.is_broad else nodes


def _near(asked: _Asked, wanted: NodeFilter, *, limit: int) -> list[Summary]:
    space = vector_space.active()
    vector = _vector(asked.subject, space) if space else None
    return (
        outline_search.near(wanted, vector, space=space, limit=limit)
        if space and vector is not None
        else []
    )


def _vector(question: str, space: EmbeddingSpace) -> Vector | None:
    try:
        return registry.embedder(
            space.provider, model=space.model, dimensions=space.dimensions
        ).embed_query(question)
    except (ModelError, InvalidProvider):
        return None  # the search for chunks has said so


def _merged(
    asked: _Asked, own: Iterable[Evidence], nodes: Sequence[Summary], scores: Mapping[int, float]
) -> list[Evidence]:
    """Put chunks and nodes in one order. For an overview sections and documents come first; for a fact groups stand among the chunks."""
    level = (Level.SECTION, Level.DOCUMENT) if asked.is_broad else (Level.GROUP,)
    fitting = sorted(
        ((one, scores.get(one.node, 0.0)) for one in nodes if one.level in level),
        key=lambda pair: (-pair[1], *outline_search.place(pair[0])),
    )
    chosen = _told(
        [
            (one, score if asked.is_broad else GROUPED * score)
            for one, score in fitting[: 2 * asked.limit]
            if score > 0
        ]
    )
    rest = sorted(own, key=lambda one: -one.score)
    if not asked.is_broad:
        return _distinct(sorted([*rest, *chosen], key=lambda one: -one.score))
    least = min((one.score for one in chosen), default=1.0)
    return _distinct([*chosen, *(replace(one, score=min(least, one.score)) for one in rest)])


# From the whole downwards


def _descended(asked: _Asked, chunks: Sequence[_Chunk], *, reranked: bool) -> list[Evidence]:
    """Look below the nearest documents alone, there below the nearest sections, and there below the nearest groups."""
    reach = resolve(asked.scope, asked.filter)
    passed: list[Summary] = []
    above: list[int] | None = None
    for level, width in BEAM.items():
        nearest = _near(asked, NodeFilter(asked.scope, reach, (level,), parents=above), limit=width)
        passed += nearest
        above = [one.node for one in nearest]
    if not passed:
        return [one.evidence for one in chunks]
    groups = [one for one in passed if one.level == Level.GROUP]
    below = [
        chunk
        for chunk in _within(asked, passed, chunks)
        if any(_holds(one, chunk) for one in groups)
    ]
    shares = _shares(passed, below)
    return _merged(
        asked,
        [one.evidence for one in below],
        passed,
        _reranked(asked, passed, shares) if reranked else shares,
    )


def _within(asked: _Asked, passed: Sequence[Summary], chunks: Sequence[_Chunk]) -> list[_Chunk]:
    """Return the chunks that a search of the documents that were passed finds, and those of them that were found before."""
    sources = dict.fromkeys(str(one.told.uuid) for one in passed if one.level == Level.DOCUMENT)
    narrowed = asked._replace(filter=replace(asked.filter, sources=tuple(sources)))
    again = _chunks(_passages(narrowed, search_pipeline.MAX_LIMIT)[0].passages)
    return (
        list({(one.evidence.source, one.ordinal): one for one in (*chunks, *again)}.values())
        if len(sources) == 1
        else again
    )


# Scores


def _shares(nodes: Iterable[Summary], chunks: Sequence[_Chunk]) -> dict[int, float]:
    """Score nodes level by level as a search scores chunks: fused ranks by closeness and by support, as a share of the most that can be.

    A node is supported by the squares of the scores of the chunks below it that were found: one that fits counts for more than several that hardly do.
    """
    levels: defaultdict[int, list[Summary]] = defaultdict(list)
    for node in nodes:
        levels[node.level].append(node)
    shares: dict[int, float] = {}
    for own in levels.values():
        near = _ranking({one.node: one.cosine for one in own if one.cosine is not None})
        support = _ranking(
            {
                one.node: sum(chunk.evidence.score**2 for chunk in chunks if _holds(one, chunk))
                for one in own
            }
        )
        branches = [ranking for ranking in (near, support) if ranking]
        most = len(branches) / (fusion.RRF_K + 1)
        shares |= {
            one.key: one.score / most
            for one in rescoring.by_closeness(
                fusion.rrf([list(ranking) for ranking in branches]), branches
            )
        }
    return shares


def _ranking(scores: Mapping[int, float]) -> dict[int, float]:
    return dict(
        sorted(
            ((node, score) for node, score in scores.items() if score > 0),
            key=lambda pair: (-pair[1], pair[0]),
        )
    )


def _lifted(
    chunks: Iterable[_Chunk], nodes: Sequence[Summary], shares: Mapping[int, float]
) -> list[Evidence]:
    """Add to each chunk's score what its document comes to, as a share of what the two can come to."""
    documents = {
        one.told.source: shares.get(one.node, 0.0) for one in nodes if one.level == Level.DOCUMENT
    }
    if not documents:
        return [one.evidence for one in chunks]
    return [
        replace(one, score=(one.score + LIFT * documents.get(one.source, 0.0)) / (1 + LIFT))
        for one, _ in chunks
    ]


def _reranked(
    asked: _Asked, nodes: Sequence[Summary], shares: Mapping[int, float]
) -> dict[int, float]:
    """Score the first nodes with the cross-encoder that scored the chunks, where it can be had."""
    reranker = registry.reranker()
    first = sorted(nodes, key=lambda one: -shares.get(one.node, 0.0))[: 2 * asked.limit]
    if reranker is None or not first:
        return dict(shares)
    try:
        scores = reranker.score(
            asked.question, [f"{one.told.heading}\n\n{one.told.text}" for one in first]
        )
    except ModelError:
        return dict(shares)
    return {one.node: score for one, score in zip(first, scores, strict=True)}


# Evidence


def _told(scored: Sequence[tuple[Summary, float]]) -> list[Evidence]:
    """Make evidence of nodes, of those whose sentences still stand where they say."""
    digests = outline_search.as_it_stands([one for one, _ in scored])
    return [_summary(one, score, digests[one.node]) for one, score in scored if one.node in digests]


def _summary(one: Summary, score: float, digest: str) -> Evidence:
    return Evidence(
        number=0,
        source=one.told.source,
        origin=one.told.origin,
        locator=one.told.locator,
        text=one.told.text,
        spans=one.spans,
        digest=digest,
        level=one.level,
        score=score,
        heading=one.told.heading,
        link=one.told.link,
    )


def _holds(node: Summary, chunk: _Chunk) -> bool:
    return node.told.source == chunk.evidence.source and node.first <= chunk.ordinal <= node.last


def _distinct(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Keep, of passages in order, those that say something new: summaries repeat sentences of chunks, and of one another."""
    kept: list[Evidence] = []
    for one in evidence:
        said = [
            span
            for other in kept
            if other.source == one.source and (other.level or one.level)
            for span in other.spans
        ]
        if _common(one.spans, said) < SAID * sum(last - first for first, last in one.spans):
            kept.append(one)
    return kept


def _common(spans: Iterable[tuple[int, int]], said: Sequence[tuple[int, int]]) -> int:
    """Count the characters of spans, which do not overlap, that others have, each once."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(said):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return sum(
        max(0, min(last, until) - max(first, since))
        for first, last in spans
        for since, until in merged
    )
