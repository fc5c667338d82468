"""Turn windows of speech into citations, stage by stage.

Stages: the sources to search, the speech's embedding, the gate, the query's embedding, the nearest
passages, their relevance, storage, and keywords, unless the query needs them earlier. Models run
while no row is locked. Each window gets an outcome and, after a failure, a note; it keeps waiting
only if the database is unavailable.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from time import perf_counter
from typing import Final

import numpy as np
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import InterfaceError, OperationalError
from django.db.models import Sum

from citations import conf
from citations.caches import Cache
from citations.lectures import continuity, window_analysis
from citations.lectures.citation_storage import (
    CitationMatch,
    NearPassage,
    StoredWindow,
    Vector,
    WindowRun,
    for_each,
    store_in_order,
    store_keywords,
    timed,
    unstored_result,
)
from citations.lectures.sessions import CITABLE, sources_of
from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace, LectureSession, Window, WindowOutcome
from citations.providers import registry, tokens
from citations.providers.embedding import Embedder
from citations.providers.reranking import QUERY_TOKENS
from citations.search import chunk_rows
from citations.search.relevance import judge_candidates
from citations.vectors import space as vector_space
from transcripts.errors import KnowledgeBaseError, UnexpectedError
from transcripts.scope import Scope
from transcripts.work.heartbeat import keep_alive

logger = logging.getLogger(__name__)

CANDIDATES: Final = 10  # passages per window
CITED: Final = 3  # of them, at most
RUNNER_UP: Final = 0.8  # of the best passage's order, that another cited one needs
MAX_TOKENS: Final = 199  # of a query, with the model's special tokens
_SPECIAL_TOKENS: Final = 2  # special tokens of a query

REACH, EMBED, SEARCH, RERANK = "reach", "embed", "search", "rerank"

NOT_INDEXED: Final = "The documents are still being indexed."


class WindowQueryForm(StrEnum):
    """The query of a window: its text with its keywords appended, or its text alone."""

    ENRICHED = "enriched"
    PLAIN = "plain"


# Better on all measured pairs of lectures and books: bench/lectures.py.
FORM: Final[WindowQueryForm] = WindowQueryForm.PLAIN


def describe(runs: Sequence[WindowRun]) -> None:
    """Extract and store the keywords of windows that were cited without."""
    window_analysis.find_keywords(runs)
    store_keywords(runs)


def cite(
    windows: Sequence[Window],
    *,
    form: WindowQueryForm = FORM,
    describing: Callable[[Sequence[WindowRun]], None] = describe,
) -> list[StoredWindow]:
    """Cite waiting windows of one lease together; return their results in order. Raises nothing.

    A window that is already finished is left as it is, and its citations are returned. Unless
    the query needs keywords, ``describing`` receives the windows that lack them, once these are
    stored.
    """
    runs = [WindowRun(window, perf_counter()) for window in windows]
    waiting = Window.objects.waiting().filter(pk__in=[window.pk for window in windows])
    with _tolerating_outages(runs), keep_alive(waiting, windows[0].holder):
        _resolve(runs)
        window_analysis.embed_speech(runs)
        window_analysis.drop_off_topic(runs)
        store_in_order(runs)  # decided windows do not wait for a model server
        spoken = [run for run in runs if run.is_open]
        if form is WindowQueryForm.ENRICHED:
            window_analysis.find_keywords(spoken)
        space = _embed(runs, form)
        for run in runs:
            _find_passages(run, space)
            store_in_order(runs)
        if form is WindowQueryForm.PLAIN:  # no citation waits for keywords
            describing(spoken)
    return [run.result or unstored_result(run) for run in runs]


@contextmanager
def _tolerating_outages(runs: Sequence[WindowRun]) -> Iterator[None]:
    """Let runs wait on if the database becomes unavailable."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        for run in runs:
            if run.result is None:
                run.lose_database(error)


def _fail(run: WindowRun) -> None:
    run.decide(WindowOutcome.FAILED, _explain(UnexpectedError()))


def _explain(error: Exception) -> str:
    return (error if isinstance(error, KnowledgeBaseError) else UnexpectedError()).text


def _resolve(runs: Sequence[WindowRun]) -> None:
    with timed(REACH, runs) as open_runs:
        resolved = resolve_sources({run.window.session_id for run in open_runs})
        for run in open_runs:
            run.resolved = resolved[run.window.session_id]
            if run.resolved.is_empty:
                run.decide(WindowOutcome.NO_DOCUMENTS)


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


def enriched(text: str, keywords: Sequence[str]) -> str:
    """Append keywords to a text, truncated from the left to ``MAX_TOKENS`` tokens in all."""
    terms = " ".join(keywords)
    room = MAX_TOKENS - _SPECIAL_TOKENS - (tokens.count(terms) if terms else 0)
    return f"{tokens.keep_end(text, most=max(room, MAX_TOKENS // 2))} {terms}".strip()


def _embed(runs: Sequence[WindowRun], form: WindowQueryForm) -> EmbeddingSpace | None:
    """Embed the queries in the library's space and return it; None if nothing can be searched."""
    with timed(EMBED, runs) as open_runs:
        try:
            return _build_queries(open_runs, form) if open_runs else None
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:
            note, is_known = _explain(error), isinstance(error, KnowledgeBaseError)
            logger.warning("Lectures cannot cite: %s", note, exc_info=not is_known)
            for run in open_runs:
                run.decide(WindowOutcome.FAILED, note)
            return None


def _build_queries(runs: Sequence[WindowRun], form: WindowQueryForm) -> EmbeddingSpace | None:
    space = vector_space.active()
    if space is None:
        for run in runs:
            run.decide(WindowOutcome.NO_DOCUMENTS, NOT_INDEXED)
        return None
    for run in runs:
        run.text = (
            enriched(run.window.text, run.window.keywords)
            if form is WindowQueryForm.ENRICHED
            else run.window.text
        )
    model = vector_space.embedder_of(space)
    if form is WindowQueryForm.PLAIN and model is registry.live_encoder():
        for run in runs:
            run.vector = run.embedding
    missing = [run for run in runs if run.vector is None]
    vectors = _query_vectors(model, {run.text for run in missing})
    for run in missing:
        run.vector = vectors[run.text]
    return space


def _query_vectors(model: Embedder, texts: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of texts; embed unknown ones in one batch."""
    keys = {text: (model.provider, model.model, model.dimensions, text) for text in texts}
    vectors: dict[str, Vector] = {text: _query_cache.get(key) for text, key in keys.items()}
    if missing := [text for text, vector in vectors.items() if vector is None]:
        for text, vector in zip(missing, model.embed_queries(missing), strict=True):
            vectors[text] = np.array(vector)  # a view would keep the whole batch in memory
            _query_cache.keep(keys[text], vectors[text], vectors[text].nbytes)
    return vectors


_query_cache: Final = Cache(1 << 20)  # vectors of recent queries: about 700 of 384 dimensions


def _find_passages(run: WindowRun, space: EmbeddingSpace | None) -> None:
    """Find the nearest passages, then choose; stop if even the nearest is too far."""
    if space is not None:
        with timed(SEARCH, [run]) as open_runs:
            for_each(open_runs, lambda run_: _search(run_, space), failing=_fail)
        with timed(RERANK, [run]) as open_runs:
            for_each(open_runs, _choose, failing=_fail)


def distance_of(cosine: float) -> float:
    """Return the squared L2 distance of two unit vectors with this cosine: 0 to 4."""
    return min(4.0, max(0.0, 2 - 2 * cosine))


def _search(run: WindowRun, space: EmbeddingSpace) -> None:
    assert run.vector is not None
    assert run.resolved is not None
    hits = vector_space.nearest(run.vector, space=space, limit=CANDIDATES, resolved=run.resolved)
    if not hits:
        run.decide(WindowOutcome.NO_DOCUMENTS, NOT_INDEXED)
        return
    run.window.distance = distance_of(hits[0].cosine)
    if run.window.distance > conf.live_distance():
        run.decide(WindowOutcome.TOO_FAR)
        return
    rows = chunk_rows.fetch(
        Scope(readable=frozenset({run.window.session.collection_id})),
        [hit.position for hit in hits],
    )
    near = [(rows[hit.position], hit.cosine) for hit in hits if hit.position in rows]
    relevances = judge_candidates(
        run.text,
        [candidate for candidate, _ in near],
        vector=run.vector,
        space=space,
        resolved=run.resolved,
        is_live=True,
    )
    recent = continuity.recent_citations(run.window)
    run.candidates = [
        NearPassage(
            candidate,
            cosine,
            continuity.preferred(
                relevance, continuity.nearness(candidate, recent), model=space.model
            ),
        )
        for (candidate, cosine), relevance in zip(near, relevances, strict=True)
    ]


def _choose(run: WindowRun) -> None:
    """Rank passages and keep the relevant: by the cross-encoder, or else by the judge."""
    scores = _scores(run)
    if scores is None:
        limit = conf.live_distance()
        near = [passage for passage in run.candidates if distance_of(passage.cosine) <= limit]
        likely = [passage for passage in near if passage.relevance.is_likely]
        best = max((passage.relevance.order for passage in likely), default=0.0)
        close = [passage for passage in likely if passage.relevance.order >= RUNNER_UP * best]
        ranked = sorted(close, key=lambda passage: -passage.relevance.order)
        matches = [CitationMatch(passage.candidate, passage.score) for passage in ranked]
    else:
        relevant = [
            CitationMatch(passage.candidate, score)
            for passage, score in zip(run.candidates, scores, strict=True)
            if score >= conf.live_relevance()
        ]
        # Stable: equal scores keep the order of similarity.
        matches = sorted(relevant, key=lambda match: -match.score)
    run.matches = matches[:CITED]
    run.decide(
        WindowOutcome.CITED
        if matches
        else WindowOutcome.TOO_WEAK
        if run.candidates
        else WindowOutcome.TOO_FAR
    )


def _scores(run: WindowRun) -> list[float] | None:
    """Return the cross-encoder's scores, 0 to 1; None without one or, with a note, if it fails."""
    reranker = registry.live_reranker()
    if reranker is None:  # `kb doctor` and `kb models` say so
        return None
    try:
        # The model reads no more; the previous window covers the beginning.
        newest = tokens.keep_end(run.text, most=QUERY_TOKENS)
        return reranker.score(
            newest, [passage.candidate.indexed_text for passage in run.candidates]
        )
    except Exception as error:
        reason, is_known = _explain(error), isinstance(error, KnowledgeBaseError)
        logger.warning("A window was not re-ranked: %s", reason, exc_info=not is_known)
        run.notes.append(f"Ordered by the judge, not re-ranked: {reason}")
        return None
