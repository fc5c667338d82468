"""Turn windows of speech into citations, stage by stage.

Stages: the sources to search, the speech's embedding, the gate, the query's embedding, the nearest
passages, their relevance, storage, and keywords. Models run while no row is locked. Each window
gets an outcome and, after a failure, a note; it keeps waiting only if the database is unavailable.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final, TypeVar

import numpy as np
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import InterfaceError, OperationalError
from django.db.models import Sum

from citations import conf
from citations.caches import Cache
from citations.lectures import citation_storage, window_analysis
from citations.lectures.citation_storage import StoredWindow
from citations.lectures.sessions import CITABLE, citable_sources, sources_of
from citations.lectures.stages import (
    EMBED,
    RERANK,
    RESOLVE,
    SEARCH,
    CitableSources,
    CitationMatch,
    Decision,
    NearestPassages,
    NearPassage,
    Vector,
    WindowQuery,
    WindowSpeech,
    decide,
    timed,
    undecided,
)
from citations.library.filters import ResolvedFilter
from citations.models import UNFINISHED, LectureSession, Window, WindowOutcome
from citations.providers import encoders, registry
from citations.providers.embedding import Embedder
from citations.providers.reranking import QUERY_TOKENS
from citations.search import chunk_rows, judge
from citations.search.relevance import judge_candidates
from citations.vectors import space as vector_space
from transcripts.core.errors import KnowledgeBaseError, UnexpectedError
from transcripts.core.scope import Scope
from transcripts.core.work.models import keep_alive

logger = logging.getLogger(__name__)
Step = TypeVar("Step", WindowQuery, NearestPassages)
Value = TypeVar("Value")

CANDIDATES: Final = 10  # passages per window
READ: Final = 5  # of them, that a cross-encoder reads
CITED: Final = 3  # of them, at most

# Of the best passage's order, that another cited one needs. No setting: it was chosen with the
# judge's weights, on whose scale it is (bench/lectures.py).
RUNNER_UP: Final = 0.8


def cite(windows: Sequence[Window]) -> list[StoredWindow]:
    """Cite waiting windows of one lease together; return their results in order.

    A window that is already finished is left as it is, and its citations are returned. No error of
    a model or of the database is raised. ``describe`` extracts the keywords afterwards.
    """
    waiting = Window.objects.waiting().filter(pk__in=[window.pk for window in windows])
    stored: dict[int, StoredWindow] = {}
    try:
        with keep_alive(waiting, windows[0].holder):
            decisions = _decide(windows, farthest=conf.live_distance())
            for result in citation_storage.store_in_order(windows, decisions):
                stored[result.window.pk] = result
    except (OperationalError, InterfaceError) as error:
        count = len(windows) - len(stored)
        logger.warning("Database unavailable; %s windows of lectures wait: %s", count, error)
    return [
        stored.get(window.pk) or StoredWindow(window=window, is_stored=False) for window in windows
    ]


def describe(cited: StoredWindow) -> None:
    """Extract and store the keywords of a window, unless it has some or needs none."""
    if cited.vector is None or cited.window.keywords:
        return
    started = perf_counter()
    if keywords := window_analysis.find_keywords(cited.window, cited.vector):
        milliseconds = (perf_counter() - started) * 1000
        citation_storage.store_keywords(cited, keywords, milliseconds=milliseconds)


def _decide(windows: Sequence[Window], *, farthest: float) -> Iterator[Decision]:
    """Yield what becomes of each window as soon as it is known: decided ones wait for no model."""
    citable = yield from undecided(_resolve(windows))
    spoken = yield from undecided(
        window_analysis.drop_off_topic(window_analysis.embed_speech(citable))
    )
    queries = yield from undecided(_embed(spoken))
    for query in queries:
        near = yield from undecided(_search([query], farthest=farthest))
        yield from _choose(near, farthest=farthest)


# Sources


@timed(RESOLVE)
def _resolve(windows: Sequence[Window]) -> list[CitableSources | Decision]:
    sources = resolve_sources({window.session_id for window in windows})
    results: list[CitableSources | Decision] = []
    for window in windows:
        if (resolved := sources[window.session_id]).is_empty:
            coming = citable_sources(window.session).filter(state__in=UNFINISHED).exists()
            outcome = WindowOutcome.NOT_INDEXED if coming else WindowOutcome.NO_DOCUMENTS
            results.append(Decision(window=window, outcome=outcome))
        else:
            results.append(CitableSources(window=window, resolved=resolved))
    return results


def resolve_sources(sessions: Collection[int]) -> dict[int, ResolvedFilter]:
    """Return what each session may cite: its sources or collection, less its recording."""
    resolved = {}
    for columns in LectureSession.objects.filter(pk__in=sessions).values_list(*CITABLE):
        pk, collection, *_ = columns
        citable = sources_of(*columns).filter(chunk_count__gt=0).order_by()
        totals = citable.aggregate(keys=ArrayAgg("pk"), chunks=Sum("chunk_count"))
        keys, chunks = frozenset(totals["keys"] or ()), totals["chunks"] or 0
        resolved[pk] = ResolvedFilter(sources=keys, chunks=chunks, readable=frozenset({collection}))
    return resolved


# Queries


@timed(EMBED)
def _embed(spoken: Sequence[WindowSpeech]) -> list[WindowQuery | Decision]:
    try:
        return _build_queries(spoken) if spoken else []
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        note, is_known = _explain(error), isinstance(error, KnowledgeBaseError)
        logger.warning("Lectures cannot cite: %s", note, exc_info=not is_known)
        return [decide(speech, speech, WindowOutcome.FAILED, note) for speech in spoken]


def _build_queries(spoken: Sequence[WindowSpeech]) -> list[WindowQuery | Decision]:
    """Search for the window alone: with its keywords, no better pages are found (docs/live.md)."""
    space = vector_space.active()
    if space is None:
        return [decide(speech, speech, WindowOutcome.NOT_INDEXED) for speech in spoken]
    model = vector_space.embedder_of(space)
    is_embedded = model is registry.live_encoder()
    spoken_vectors = {each.window.text: each.vector for each in spoken if is_embedded}
    vectors = {text: vector for text, vector in spoken_vectors.items() if vector is not None}
    texts = {each.window.text for each in spoken}
    vectors |= _query_vectors(model, texts - vectors.keys())
    return [
        WindowQuery(
            window=speech.window,
            stages=speech.stages,
            speech=speech,
            vector=vectors[speech.window.text],
            space=space,
        )
        for speech in spoken
    ]


def _query_vectors(model: Embedder, texts: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of texts; embed unknown ones in one batch."""
    keys = {text: (model.provider, model.model, model.dimensions, text) for text in texts}
    vectors: dict[str, Vector] = {text: query_cache.get(key) for text, key in keys.items()}
    if missing := [text for text, vector in vectors.items() if vector is None]:
        for text, vector in zip(missing, model.embed_queries(missing), strict=True):
            vectors[text] = np.array(vector)  # a view would keep the whole batch in memory
            query_cache.keep(keys[text], vectors[text], vectors[text].nbytes)
    return vectors


query_cache: Final = Cache(1 << 20)  # vectors of recent queries: about 700 of 384 dimensions


# Passages


def distance_of(cosine: float) -> float:
    """Return the squared L2 distance of two unit vectors with this cosine: 0 to 4."""
    return min(4.0, max(0.0, 2 - 2 * cosine))


@timed(SEARCH)
def _search(queries: Sequence[WindowQuery], *, farthest: float) -> list[NearestPassages | Decision]:
    return [_or_failed(query, lambda each: _find_nearest(each, farthest)) for query in queries]


def _find_nearest(query: WindowQuery, farthest: float) -> NearestPassages | Decision:
    speech, window, resolved = query.speech, query.window, query.speech.resolved
    hits = vector_space.nearest(
        query.vector, space=query.space, limit=CANDIDATES, resolved=resolved
    )
    if not hits:
        return decide(speech, query, WindowOutcome.NOT_INDEXED)
    distance = distance_of(hits[0].cosine)
    if distance > farthest:
        return decide(speech, query, WindowOutcome.TOO_FAR, distance=distance)
    scope = Scope(readable=frozenset({window.session.collection_id}))
    rows = chunk_rows.fetch(scope, [hit.position for hit in hits])
    near = [(rows[hit.position], hit.cosine) for hit in hits if hit.position in rows]
    relevances = judge_candidates(
        window.text,
        [candidate for candidate, _ in near],
        vector=query.vector,
        space=query.space,
        resolved=resolved,
        is_live=True,
    )
    recent = window_analysis.recent_citations(window)
    passages = (
        NearPassage(
            candidate,
            cosine,
            window_analysis.preferred(
                relevance, window_analysis.nearness(candidate, recent), model=query.space.model
            ),
        )
        for (candidate, cosine), relevance in zip(near, relevances, strict=True)
    )
    return NearestPassages(
        window=window,
        stages=query.stages,
        speech=speech,
        distance=distance,
        model=query.space.model,
        passages=tuple(passages),
    )


@timed(RERANK)
def _choose(nearest: Sequence[NearestPassages], *, farthest: float) -> list[Decision]:
    return [_or_failed(near, lambda each: _decide_on(each, farthest)) for near in nearest]


def _decide_on(near: NearestPassages, farthest: float) -> Decision:
    """Cite the relevant passages by the judge, and by a cross-encoder as one of its signs."""
    passages, note = _read(near)
    matches = rank_by_judge(passages, farthest)
    if matches:
        outcome = WindowOutcome.CITED
    else:
        outcome = WindowOutcome.TOO_WEAK if near.passages else WindowOutcome.TOO_FAR
    cited, distance = by_score(matches[:CITED]), near.distance
    return decide(near.speech, near, outcome, note, distance=distance, matches=cited)


def by_score(matches: Sequence[CitationMatch]) -> tuple[CitationMatch, ...]:
    """Order what is cited by the score that is sent with it: equal ones stay as they are."""
    return tuple(sorted(matches, key=lambda match: -match.score))


def rank_by_judge(passages: Sequence[NearPassage], farthest: float) -> list[CitationMatch]:
    """Return the passages that are near enough and likely, and almost as good as the best, in the
    judge's order.
    """
    near = [passage for passage in passages if distance_of(passage.cosine) <= farthest]
    likely = [passage for passage in near if passage.relevance.is_likely]
    best = max((passage.relevance.order for passage in likely), default=0.0)
    close = [passage for passage in likely if passage.relevance.order >= RUNNER_UP * best]
    ranked = sorted(close, key=lambda passage: -passage.relevance.order)
    return [CitationMatch(passage.candidate, passage.score) for passage in ranked]


def _read(near: NearestPassages) -> tuple[Sequence[NearPassage], str]:
    """Let a cross-encoder, if there is one, read the best passages, and add its sign; if it fails,
    return a note, too.
    """
    reranker = registry.live_reranker()
    if reranker is None or not near.passages:  # `kb doctor` and `kb models` say so
        return near.passages, ""
    passages = sorted(near.passages, key=lambda passage: -passage.relevance.order)
    try:
        # The model reads no more; the previous window covers the beginning.
        newest = encoders.keep_end(near.window.text, most=QUERY_TOKENS)
        most = min(READ, conf.rerank_candidates())
        scores = reranker.score(newest, [each.candidate.indexed_text for each in passages[:most]])
    except Exception as error:
        reason, is_known = _explain(error), isinstance(error, KnowledgeBaseError)
        logger.warning("A window was not re-ranked: %s", reason, exc_info=not is_known)
        return near.passages, f"Ordered by the judge, not re-ranked: {reason}"
    head = judge.trained(near.model).live
    relevances = head.read([passage.relevance for passage in passages], scores)
    return [
        replace(passage, relevance=relevance)
        for passage, relevance in zip(passages, relevances, strict=True)
    ], ""


# Failures


def _or_failed(step: Step, work: Callable[[Step], Value]) -> Value | Decision:
    """Take a step of one window; after an unexpected error, that window has failed."""
    try:
        return work(step)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("Window %s of lecture %s", step.window.index, step.window.session_id)
        return decide(step.speech, step, WindowOutcome.FAILED, _explain(UnexpectedError()))


def _explain(error: Exception) -> str:
    return (error if isinstance(error, KnowledgeBaseError) else UnexpectedError()).text
