"""Windows of speech become citations, stage by stage; each stage is one function, and timed.

Where to look, what is said (a vector), whether it is about the subject at all, what is looked for (a vector), the nearest passages, how relevant they are,
storing the best, and, where they were not looked for, the keywords. Models work while no row is locked. Whatever fails, the window gets an outcome and a
note; only while the database is away it keeps waiting.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from threading import Lock
from time import perf_counter
from typing import Any, Final

import numpy as np
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import InterfaceError, OperationalError
from django.db.models import Sum

from citations import conf
from citations.lectures import window_analysis
from citations.lectures.citation_storage import (
    STORE,
    CitationMatch,
    StoredWindow,
    Vector,
    WindowRun,
    each,
    note_keywords,
    settle,
    timed,
    unstored,
)
from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace, LectureSession, Source, Window, WindowOutcome
from citations.providers import registry, tokens
from citations.providers.embedding import Embedder
from citations.providers.reranking import QUERY_TOKENS
from citations.search import candidates
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import KnowledgeBaseError
from transcripts.scope import Scope

logger = logging.getLogger(__name__)

NEAREST: Final = 5  # passages that are looked at for a window
CITED: Final = 3  # of them at most
MOST_TOKENS: Final = 199  # of what is looked for, those that a model puts around it included
_AROUND: Final = 2  # tokens that it puts around it
_KEPT: Final = 512  # vectors of what was looked for of late

REACH, EMBED, SEARCH, RERANK = "reach", "embed", "search", "rerank"
STAGES: Final = (REACH, *window_analysis.STAGES, EMBED, SEARCH, RERANK, STORE)

NOT_INDEXED: Final = "The documents are still being indexed."
UNEXPECTED: Final = "It could not be cited, for an unexpected reason; the server's log says more."


class WindowQueryForm(StrEnum):
    """What is looked for: a window's text with its keywords behind it, or its text alone."""

    ENRICHED = "enriched"
    PLAIN = "plain"


FORM: Final[WindowQueryForm] = (
    WindowQueryForm.PLAIN
)  # finds the right page more often on all pairs of lectures and books that were measured: bench/lectures.py


def describe(runs: Sequence[WindowRun]) -> None:
    """Find the keywords of windows that were cited without, and store them."""
    window_analysis.find_keywords(runs)
    note_keywords(runs)


def cite(
    windows: Sequence[Window],
    *,
    form: WindowQueryForm = FORM,
    describing: Callable[[Sequence[WindowRun]], None] = describe,
) -> list[StoredWindow]:
    """Cite windows that wait, together; return what came of each, in their order. Nothing is raised: what fails becomes their outcome.

    A window that somebody else has finished meanwhile stays as it is; its citations are returned. Where keywords are not looked for, they are left to
    ``describing``, which is given those that are about the subject, once they are stored.
    """
    runs = [WindowRun(window, perf_counter()) for window in windows]
    with _surviving_the_database(runs):
        _look_where(runs)
        window_analysis.make_sense(runs)
        window_analysis.leave_out_asides(runs)
        settle(runs)  # what is decided does not wait for a model's server
        spoken = [run for run in runs if run.is_open]
        if form is WindowQueryForm.ENRICHED:
            window_analysis.find_keywords(spoken)
        space = _embed(runs, form)
        for run in runs:
            _look_up(run, space)
            settle(runs)
        if (
            form is WindowQueryForm.PLAIN
        ):  # no citation waits for keywords that nothing is looked for with
            describing(spoken)
    return [run.result or unstored(run) for run in runs]


# Trouble


@contextmanager
def _surviving_the_database(runs: Sequence[WindowRun]) -> Iterator[None]:
    """Let windows wait when the database goes away under them."""
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        for run in runs:
            if run.result is None:
                run.lose_database(error)


def _fail(run: WindowRun) -> None:
    run.decide(WindowOutcome.FAILED, UNEXPECTED)


# Where to look


def _look_where(runs: Sequence[WindowRun]) -> None:
    with timed(REACH, runs) as open_:
        found = reaches({run.window.session_id for run in open_})
        for run in open_:
            run.reach = found[run.window.session_id]
            if run.reach.is_empty:
                run.decide(WindowOutcome.NO_DOCUMENTS)


def reaches(sessions: Collection[int]) -> dict[int, ResolvedFilter]:
    """Return what each session (by primary key) cites: the sources that it names, or all of its collection; never the recording that it replays."""
    columns = ("pk", "collection", "names_sources", "transcript__video")
    rows = LectureSession.objects.filter(pk__in=sessions).values_list(*columns)
    return {pk: _reach_of(pk, *about) for pk, *about in rows}


def _reach_of(pk: int, collection: int, names_sources: bool, video: int | None) -> ResolvedFilter:
    own = Source.objects.visible(Scope(readable=frozenset({collection}))).filter(chunk_count__gt=0)
    if video is not None:
        own = own.exclude(video=video)
    if names_sources:
        own = own.filter(lectures=pk)
    totals = own.order_by().aggregate(keys=ArrayAgg("pk"), chunks=Sum("chunk_count"))
    return ResolvedFilter(sources=frozenset(totals["keys"] or ()), chunks=totals["chunks"] or 0)


# What is looked for


def enriched(text: str, keywords: Sequence[str]) -> str:
    """Write “text keywords” in at most ``MOST_TOKENS`` tokens: what is too much is left out at the beginning, which the window before has told already."""
    terms = " ".join(keywords)
    room = MOST_TOKENS - _AROUND - (tokens.count(terms) if terms else 0)
    return f"{tokens.keep_end(text, most=max(room, MOST_TOKENS // 2))} {terms}".strip()


def _embed(runs: Sequence[WindowRun], form: WindowQueryForm) -> EmbeddingSpace | None:
    """Embed what is looked for in the library's space, which is returned; None where nothing can be looked up."""
    with timed(EMBED, runs) as open_:
        try:
            return _embedded(open_, form) if open_ else None
        except (OperationalError, InterfaceError):
            raise
        except KnowledgeBaseError as error:
            logger.warning("Lectures cite nothing: %s %s", error.message, error.hint)
            note = f"{error.message} {error.hint}".strip()
        except Exception:
            logger.exception("lectures cite nothing")
            note = UNEXPECTED
        for run in open_:
            run.decide(WindowOutcome.FAILED, note)
        return None


def _embedded(runs: Sequence[WindowRun], form: WindowQueryForm) -> EmbeddingSpace | None:
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
    _fill(runs, space, form)
    return space


def _fill(runs: Sequence[WindowRun], space: EmbeddingSpace, form: WindowQueryForm) -> None:
    model = vector_space.embedder_of(space)
    if form is WindowQueryForm.PLAIN and model is registry.live_encoder():
        for run in runs:
            run.vector = run.sense
    missing = [run for run in runs if run.vector is None]
    for run, vector in zip(
        missing, _recent.vectors(model, [run.text for run in missing]), strict=True
    ):
        run.vector = vector


class _Recent:
    """The vectors of what was looked for of late. Thread safe."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Vector] = OrderedDict()
        self._lock = Lock()

    def vectors(self, model: Embedder, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of texts; those that are not known are made in one go."""
        keys = [(model.provider, model.model, model.dimensions, text) for text in texts]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        made: Sequence[Vector] = (
            list(model.embed_queries([key[-1] for key in missing])) if missing else []
        )
        known |= {
            key: np.array(vector) for key, vector in zip(missing, made, strict=True)
        }  # copies: a row would keep the batch
        self._keep(known)
        return [known[key] for key in keys]

    def _keep(self, known: dict[Any, Vector]) -> None:
        with self._lock:
            for key, vector in known.items():
                self._kept[key] = vector
                self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


_recent: Final = _Recent()


# The passages


def _look_up(run: WindowRun, space: EmbeddingSpace | None) -> None:
    """Find the nearest passages; stop where even the nearest is too far, else order them and choose."""
    if space is not None:
        with timed(SEARCH, [run]) as open_:
            each(open_, lambda one: _search(one, space), failing=_fail)
        with timed(RERANK, [run]) as open_:
            each(open_, lambda one: _choose(one, max_distance(space)), failing=_fail)


def max_distance(space: EmbeddingSpace) -> float:
    """Return the squared L2 distance beyond which a space's passages are not cited: what was calibrated, or else the setting."""
    return conf.live_distance() if space.max_distance is None else space.max_distance


def distance_of(cosine: float) -> float:
    """Return the squared L2 distance of two vectors of length 1: 2 − 2·cosine, 0 to 4."""
    return min(4.0, max(0.0, 2 - 2 * cosine))


def _search(run: WindowRun, space: EmbeddingSpace) -> None:
    assert run.vector is not None
    assert run.reach is not None
    near = vector_search.search(run.vector, space=space, limit=NEAREST, resolved=run.reach)
    if not near:
        run.decide(WindowOutcome.NO_DOCUMENTS, NOT_INDEXED)
        return
    run.window.distance = distance_of(near[0].cosine)
    if run.window.distance > max_distance(space):
        run.decide(WindowOutcome.TOO_FAR)
        return
    rows = candidates.fetch(
        Scope(readable=frozenset({run.window.session.collection_id})),
        [one.position for one in near],
    )
    run.near = [(rows[one.position], one.cosine) for one in near if one.position in rows]


def _choose(run: WindowRun, limit: float) -> None:
    """Order the passages by the cross-encoder and keep those that are relevant enough; without it by similarity, those that are near enough."""
    scores = _scores(run)
    if scores is None:
        found = [
            CitationMatch(one, min(1.0, max(0.0, cosine)))
            for one, cosine in run.near
            if distance_of(cosine) <= limit
        ]
    else:
        ranked = [
            CitationMatch(one, score)
            for (one, _), score in zip(run.near, scores, strict=True)
            if score >= conf.live_relevance()
        ]
        found = sorted(
            ranked, key=lambda one: -one.score
        )  # stable: equal scores stay in the order of their similarity
    run.found = found[:CITED]
    run.decide(
        WindowOutcome.CITED
        if found
        else WindowOutcome.TOO_WEAK
        if run.near
        else WindowOutcome.TOO_FAR
    )


def _scores(run: WindowRun) -> list[float] | None:
    """Return the cross-encoder's scores, 0 to 1; None where there is none or it fails, which is noted."""
    reranker = registry.live_reranker()
    if reranker is None:
        run.notes.append(_by_similarity())
        return None
    try:
        newest = tokens.keep_end(
            run.text, most=QUERY_TOKENS
        )  # it reads no more of it, and the window before has told how this one begins
        return reranker.score(newest, [one.indexed_text for one, _ in run.near])
    except Exception as error:
        told_ = (
            f"{error.message} {error.hint}".rstrip()
            if isinstance(error, KnowledgeBaseError)
            else "it failed unexpectedly; the server's log says more."
        )
        logger.warning(
            "A window is not re-ranked: %s",
            told_,
            exc_info=not isinstance(error, KnowledgeBaseError),
        )
        run.notes.append(f"Ordered by similarity, not re-ranked: {told_}")
        return None


def _by_similarity() -> str:
    name = conf.live_reranker()
    if name == conf.NO_RERANKER:
        return "Ordered by similarity: re-ranking is off."
    return f"Ordered by similarity: {name} is not on this machine. `kb models fetch` gets it; LIVE_RERANKER=none goes without."
