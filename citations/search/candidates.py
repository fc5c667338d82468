"""Candidates: the chunks that words and vectors find, fetched with their sources and fused."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import NamedTuple, TypeVar

from django.contrib.auth.models import User

from citations import conf
from citations.errors import InvalidProvider, ModelError
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, EmbeddingSpace
from citations.passages import SearchMode, Stage
from citations.search import fusion, relevance
from citations.search.chunk_rows import Candidate, fetch
from citations.search.fusion import FusedHit
from citations.search.judge import Relevance
from citations.search.query_expansion import QueryEmbedding, Vector
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import Unavailable
from transcripts.locks import release_connection
from transcripts.scope import Scope
from transcripts.stages import finish

VERIFIED = 4  # times as many by vector, where phrases and exclusions will leave few
LEXICAL, VECTOR, FUSE, FETCH = "lexical", "vector", "fuse", "fetch"  # names of stages
JUDGE = "judge"
_PROGRESS_HINT = "Add a source, or wait until it is indexed; `kb list` shows the progress."
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What to search for, where and how."""

    scope: Scope
    query: Query
    mode: SearchMode
    limit: int
    filter: Filter
    explain: bool
    reranks: bool
    expands: bool
    user: User | None
    space: EmbeddingSpace | None

    @property
    def uses_vectors(self) -> bool:
        return self.mode != SearchMode.WORDS

    @property
    def uses_words(self) -> bool:
        return self.mode != SearchMode.MEANING

    @property
    def breadth(self) -> int:
        """The number of candidates of each branch: more for more than ten results."""
        return conf.search_candidates() * max(10, self.limit) // 10

    @property
    def is_strict(self) -> bool:
        """Whether passages must be verified by their text."""
        return bool(self.query.phrases or self.query.excluded)


@dataclass(slots=True)
class StageLog:
    """The finished stages of a search, notes for the reader, and the query's words that occur
    nowhere in what they may read.
    """

    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unknown: tuple[str, ...] = ()
    started: float = field(default_factory=perf_counter)

    def timed(self, name: str, call: Callable[[], T]) -> T:
        """Run a stage; log its duration and the number of its results."""
        started = perf_counter()
        result = call()
        count = len(result) if isinstance(result, list | dict) else 0
        milliseconds = (perf_counter() - started) * 1000
        self.stages.append(Stage(name=name, milliseconds=milliseconds, count=count))
        finish("search", name, milliseconds=milliseconds)
        return result


class CandidateHit(NamedTuple):
    """A candidate and its scores; ``most`` is the maximum of the fused score.

    ``relevance`` is what the judge says; None in a search of one branch. What ``is_verbatim`` holds
    the query word for word, and needs no estimate of its likelihood.
    """

    candidate: Candidate
    fused: FusedHit[int]
    bm25: float | None
    cosine: float | None
    most: float
    relevance: Relevance | None = None
    is_verbatim: bool = False

    @property
    def likelihood(self) -> float | None:
        return self.relevance.likelihood if self.relevance and not self.is_verbatim else None

    @property
    def is_likely(self) -> bool:
        return self.relevance is None or self.relevance.is_likely or self.is_verbatim

    @property
    def score(self) -> float:
        return self.relevance.order if self.relevance else self.fused.score / self.most


def find(request: SearchRequest, log: StageLog) -> tuple[QueryEmbedding | None, list[CandidateHit]]:
    """Return the query's embedding and the fused candidates, best first.

    Searches again when a source is re-chunked between the branches. A migration that ends meanwhile
    does no harm: the vectors of the replaced space stay for a while.
    """
    embedding = _embedding(request, log)
    hits, is_complete = _look_up(request, embedding, log)
    if is_complete:
        return embedding, hits
    log.stages.clear()
    return embedding, _look_up(request, embedding, log)[0]


def _embedding(request: SearchRequest, log: StageLog) -> QueryEmbedding | None:
    """Start to embed the query; None where the search does without."""
    if not request.uses_vectors:
        return None
    space = request.space or vector_space.active()
    if space is not None:
        return QueryEmbedding(request.query.words, space=space, expands=request.expands)
    if not request.uses_words:
        raise Unavailable(
            "Nothing is embedded yet, so a search by meaning finds nothing.", hint=_PROGRESS_HINT
        )
    log.notes.append(f"Found by words only: nothing is embedded yet. {_PROGRESS_HINT}")
    return None


def _vector(
    request: SearchRequest, embedding: QueryEmbedding | None, log: StageLog
) -> Vector | None:
    if embedding is None:
        return None
    if request.expands:
        release_connection()  # a language model may write for seconds
    try:
        return embedding.vector()
    except (ModelError, InvalidProvider) as error:
        if not request.uses_words:
            raise
        log.notes.append(f"Found by words only: {error.text}")
        return None


def _look_up(
    request: SearchRequest, embedding: QueryEmbedding | None, log: StageLog
) -> tuple[list[CandidateHit], bool]:
    """Return the candidates, best first, and whether all hits of the branches still exist."""
    resolved = resolve(request.scope, request.filter)
    if resolved.is_empty:
        return [], True
    scores: dict[int, float] = {}
    cosines: dict[int, float] = {}
    if request.uses_words:
        scores = dict(log.timed(LEXICAL, lambda: _by_words(request, resolved, log)))
    vector = _vector(request, embedding, log)
    if embedding is not None and vector is not None:
        space = embedding.space
        cosines = log.timed(VECTOR, lambda: _by_vector(request, resolved, vector, space))
    k = conf.rrf_k()
    fused = log.timed(
        FUSE, lambda: fusion.rrf([list(scores), list(cosines)], k=k)[: request.breadth]
    )
    rows = log.timed(FETCH, lambda: fetch(request.scope, [hit.key for hit in fused]))
    most = (request.uses_words + (vector is not None)) / (k + 1)
    hits = [
        CandidateHit(rows[hit.key], hit, scores.get(hit.key), cosines.get(hit.key), most)
        for hit in fused
        if hit.key in rows
    ]
    if request.uses_words and embedding is not None and vector is not None:
        judge = partial(_judged, request, hits, embedding, resolved)
        hits = log.timed(JUDGE, judge)
    return hits, len(hits) == len(fused)


def _by_words(
    request: SearchRequest, resolved: ResolvedFilter, log: StageLog
) -> list[lexical_index.ChunkScore]:
    hits = lexical_index.find(request.query, limit=request.breadth, resolved=resolved)
    log.unknown = hits.unknown
    return hits.hits


def _judged(
    request: SearchRequest,
    hits: list[CandidateHit],
    embedding: QueryEmbedding,
    resolved: ResolvedFilter,
) -> list[CandidateHit]:
    """Order candidates by the judge; ties keep the order of the fused ranks.

    It compares them with the question itself: a hypothetical answer is near to any passage.
    """
    relevances = relevance.judge_candidates(
        request.query.words,
        [hit.candidate for hit in hits],
        vector=embedding.question_vector(),
        space=embedding.space,
        resolved=resolved,
    )
    judged = (
        hit._replace(relevance=own, is_verbatim=_is_verbatim(request.query, hit, own))
        for hit, own in zip(hits, relevances, strict=True)
    )
    return sorted(judged, key=lambda hit: -hit.score)


def _is_verbatim(query: Query, hit: CandidateHit, judged: Relevance) -> bool:
    """Look for the query itself where its likelihood would be shown low."""
    return not judged.is_likely and query.is_verbatim_in(hit.candidate.text)


def _by_vector(
    request: SearchRequest, resolved: ResolvedFilter, vector: Vector, space: EmbeddingSpace
) -> dict[int, float]:
    """Return positions by vector, nearest first, with their cosines."""
    limit = request.breadth * VERIFIED if request.is_strict else request.breadth
    hits = vector_search.search(vector, space=space, limit=limit, resolved=resolved)
    cosines = {hit.position: hit.cosine for hit in hits}
    if request.is_strict:
        chunks = Chunk.objects.filter(position__in=list(cosines)).order_by()
        texts = dict(chunks.values_list("position", "text"))
        cosines = {
            position: cosine
            for position, cosine in cosines.items()
            if request.query.admits(texts.get(position, ""))
        }
    return dict(list(cosines.items())[: request.breadth])
