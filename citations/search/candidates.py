"""Candidates: the chunks that words and vectors find, fetched with their sources and fused."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeVar

from django.contrib.auth.models import User

from citations import conf
from citations.errors import InvalidProvider, ModelError
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, EmbeddingSpace, State
from citations.passages import SearchMode, Stage
from citations.providers.languages import telling_words
from citations.search import fusion, relevance
from citations.search.chunk_rows import Candidate, fetch
from citations.search.fusion import FusedHit
from citations.search.judge import Estimate, Relevance
from citations.search.query_expansion import QueryEmbedding, Vector
from citations.vectors import space as vector_space
from transcripts.core.errors import Unavailable
from transcripts.core.locks import release_connection
from transcripts.core.scope import Scope
from transcripts.core.stages import finish
from transcripts.text.terms import query_terms

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
    limit: int  # passages that are shown at once
    filter: Filter
    explain: bool
    reads: int  # passages that a cross-encoder reads
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


def timed(
    name: str, call: Callable[[], T], *, count: Callable[[Any], int] = len
) -> tuple[T, Stage]:
    """Run a stage; return its result, and how long it took and how many results it has."""
    started = perf_counter()
    result = call()
    milliseconds = (perf_counter() - started) * 1000
    finish("search", name, milliseconds=milliseconds)
    return result, Stage(name=name, milliseconds=milliseconds, count=count(result))


def is_by_words(stages: Iterable[Stage]) -> bool:
    """Tell from its stages whether a search compared words and no meaning, as it was asked to or
    as the embedding model was late or not there.
    """
    names = {stage.name for stage in stages}
    return LEXICAL in names and VECTOR not in names


class CandidateHit(NamedTuple):
    """A candidate and its scores; ``most`` is the maximum of the fused score.

    ``relevance`` is what the judge says; None in a search of one branch. One by meaning has no
    ``estimate`` either; what holds the query word for word needs none.
    """

    candidate: Candidate
    fused: FusedHit[int]
    bm25: float | None
    cosine: float | None
    most: float
    relevance: Relevance | None = None
    estimate: Estimate | Relevance = Estimate()

    @property
    def likelihood(self) -> float | None:
        return self.estimate.likelihood

    @property
    def is_likely(self) -> bool:
        return self.estimate.is_likely

    @property
    def score(self) -> float:
        return self.relevance.order if self.relevance else self.fused.score / self.most


class CandidateSet(NamedTuple):
    """The candidates of a search, best first, and the stages that found them.

    ``unknown`` are the query's words that occur nowhere in what may be read. ``fused`` is all that
    the branches found, best first: candidates are the first of it. ``rejected`` are positions that
    are near in meaning, but have not what the query asks for in quotation marks, or what it
    excludes.
    """

    hits: list[CandidateHit]
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    fused: Sequence[FusedHit[int]] = ()
    rejected: Sequence[int] = ()
    embedding: QueryEmbedding | None = None


def find(request: SearchRequest) -> CandidateSet:
    """Find the candidates of words and vectors, and fuse them.

    Searches again when a source is re-chunked between the branches. A migration that ends meanwhile
    does no harm: the vectors of the replaced space stay for a while.
    """
    embedding, notes = _embedding(request)
    candidates, is_complete = _look_up(request, embedding)
    if not is_complete:
        candidates, _ = _look_up(request, embedding)
    stages = (*(embedding.stages if embedding else ()), *candidates.stages)
    return candidates._replace(stages=stages, notes=notes + candidates.notes, embedding=embedding)


def _embedding(request: SearchRequest) -> tuple[QueryEmbedding | None, tuple[str, ...]]:
    """Start to embed the query; None where the search does without, and a note on it."""
    if not request.uses_vectors:
        return None, ()
    space = request.space or vector_space.active()
    if space is not None:
        return QueryEmbedding(request.query.words, space=space, expands=request.expands), ()
    if not request.uses_words:
        raise Unavailable(
            "Nothing is embedded yet, so a search by meaning finds nothing.", hint=_PROGRESS_HINT
        )
    return None, (f"Found by words only: nothing is embedded yet. {_PROGRESS_HINT}",)


def _vector(
    request: SearchRequest, embedding: QueryEmbedding | None
) -> tuple[Vector | None, tuple[str, ...]]:
    """Wait for the vector; None where the search does without, and a note if a model failed."""
    if embedding is None:
        return None, ()
    if request.expands:
        release_connection()  # a language model may write for seconds
    try:
        return embedding.vector(), ()
    except (ModelError, InvalidProvider) as error:
        if not request.uses_words:
            raise
        return None, (f"Found by words only: {error.text}",)


def _look_up(request: SearchRequest, embedding: QueryEmbedding | None) -> tuple[CandidateSet, bool]:
    """Return the candidates, and whether all hits of the branches still exist."""
    resolved = resolve(request.scope, request.filter)
    if resolved.is_empty:
        return CandidateSet([]), True
    stages: list[Stage] = []

    def run(name: str, call: Callable[[], T], *, count: Callable[[Any], int] = len) -> T:
        result, stage = timed(name, call, count=count)
        stages.append(stage)
        return result

    by_words = lexical_index.LexicalHits([], ())
    cosines: dict[int, float] = {}
    rejected: list[int] = []
    if request.uses_words:
        by_words = run(
            LEXICAL,
            lambda: lexical_index.find(request.query, limit=request.breadth, resolved=resolved),
            count=lambda result: len(result.hits),
        )
    vector, notes = _vector(request, embedding)
    if embedding is not None and vector is not None:
        space = embedding.space
        cosines, rejected = run(
            VECTOR,
            lambda: _by_vector(request, resolved, vector, space),
            count=lambda result: len(result[0]),
        )
    scores, k = dict(by_words.hits), conf.rrf_k()
    every = run(
        FUSE,
        lambda: fusion.rrf([list(scores), list(cosines)], k=k),
        count=lambda result: min(len(result), request.breadth),
    )
    fused = every[: request.breadth]
    rows = run(FETCH, lambda: fetch(request.scope, [hit.key for hit in fused]))
    most = (request.uses_words + (vector is not None)) / (k + 1)
    hits = [
        CandidateHit(rows[hit.key], hit, scores.get(hit.key), cosines.get(hit.key), most)
        for hit in fused
        if hit.key in rows
    ]
    is_complete = len(hits) == len(fused)
    if vector is None:
        hits = run(JUDGE, lambda: _estimated_by_words(request, hits, resolved))
    elif request.uses_words and embedding is not None:
        hits = run(JUDGE, lambda: _judged(request, hits, embedding, resolved))
    candidates = CandidateSet(hits, tuple(stages), notes, by_words.unknown, every, rejected)
    return candidates, is_complete


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
    judged = _estimated(request.query, hits, relevances, relevances)
    order = sorted(range(len(hits)), key=[-own.order for own in relevances].__getitem__)
    return [judged[index] for index in order]


def _estimated_by_words(
    request: SearchRequest, hits: list[CandidateHit], resolved: ResolvedFilter
) -> list[CandidateHit]:
    """Estimate how likely candidates are where their meaning is not compared; keep their order."""
    rows = [hit.candidate for hit in hits]
    estimates = relevance.estimate_by_words(request.query.words, rows, resolved=resolved)
    return _estimated(request.query, hits, estimates, [None] * len(hits))


def _estimated(
    query: Query,
    hits: Sequence[CandidateHit],
    estimates: Sequence[Estimate | Relevance],
    relevances: Sequence[Relevance | None],
) -> list[CandidateHit]:
    """Look for the query itself where a likelihood would be shown low."""
    return [
        CandidateHit._make(
            (
                *hit[:_MEASURED],
                relevance,
                Estimate()
                if not estimate.is_likely and query.is_verbatim_in(hit.candidate.read)
                else estimate,
            )
        )
        for hit, estimate, relevance in zip(hits, estimates, relevances, strict=True)
    ]


_MEASURED: Final = CandidateHit._fields.index("relevance")


def _by_vector(
    request: SearchRequest, resolved: ResolvedFilter, vector: Vector, space: EmbeddingSpace
) -> tuple[dict[int, float], list[int]]:
    """Return positions by vector, nearest first, with their cosines, and those nearest that the
    query does not admit.
    """
    limit = request.breadth * VERIFIED if request.is_strict else request.breadth
    hits = vector_space.nearest(vector, space=space, limit=limit, resolved=resolved)
    cosines = {hit.position: hit.cosine for hit in hits}
    if request.is_strict:
        chunks = Chunk.objects.filter(position__in=list(cosines)).order_by()
        texts = dict(chunks.values_list("position", "text"))
        admitted = {
            position: cosine
            for position, cosine in cosines.items()
            if request.query.admits(texts.get(position, ""))
        }
    else:
        admitted = cosines
    nearest = list(cosines)[: request.breadth]
    rejected = [position for position in nearest if position not in admitted]
    return dict(list(admitted.items())[: request.breadth]), rejected


# Which candidates are listed as likely, on every door


def likely_chunks(hits: Sequence[CandidateHit], words: str) -> set[int]:
    """Return the chunks of hits, best first, that are likely, that have all words of the query
    where these alone count, or that rank above such a one. If none is likely, two words count: what
    stands there is never denied.
    """
    judged = [hit.is_likely for hit in hits]
    is_denied = not any(judged)

    def stands_there(hit: CandidateHit) -> bool:
        counts_words = hit.relevance is None or hit.candidate.state == State.WORDS
        least = 1 if counts_words else 2
        return (counts_words or is_denied) and _has_all_words(hit.candidate, words, least=least)

    likely = [index for index, hit in enumerate(hits) if judged[index] or stands_there(hit)]
    first = likely[0] if likely else 0
    return {hits[index].candidate.chunk for index in (*range(first), *likely)}


def _has_all_words(row: Candidate, words: str, *, least: int) -> bool:
    """Tell whether a chunk has every telling word of a query, and so many, in whatever form."""
    telling = query_terms(telling_words(words, row.language), row.language)
    general = [word for word in telling if word.beyond is None] or telling
    return len(general) >= least and all(map(row.read.has, general))
