"""Look up candidates by words and by vectors, and fuse them."""

from citations.errors import InvalidProvider, ModelError
from citations.lexical import index as lexical_index
from citations.library.filters import ResolvedFilter, resolve
from citations.models import EmbeddingSpace
from citations.search import candidates, fusion, rescoring
from citations.search.candidates import Candidate
from citations.search.explanation import CandidateHit
from citations.search.query_expansion import QueryEmbedding, Vector, anticipate
from citations.search.request import SearchRequest, StageLog
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import Unavailable

VERIFIED = 4  # times as many by vector, where phrases and exclusions will leave few
LEXICAL, VECTOR, FUSE, FETCH = "lexical", "vector", "fuse", "fetch"  # names of stages

_PROGRESS_HINT = "Add a source, or wait until it is indexed; `kb list` shows the progress."


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
    words, expands = request.query.words, request.expands
    anticipated = None if request.space or expands else anticipate(words)
    space = request.space or vector_space.active()
    if space is not None:
        return QueryEmbedding(words, space=space, expands=expands, anticipated=anticipated)
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
    try:
        return embedding.vector()
    except (ModelError, InvalidProvider) as error:
        if not request.uses_words:
            raise
        log.notes.append(f"Found by words only: {error.message} {error.hint}".rstrip())
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
        scores = log.timed(LEXICAL, lambda: _by_words(request, resolved))
    vector = _vector(request, embedding, log)
    if embedding is not None and vector is not None:
        space = embedding.space
        cosines = log.timed(VECTOR, lambda: _by_vector(request, resolved, vector, space))
    branches = request.uses_words + (vector is not None)
    fused = log.timed(FUSE, lambda: _fuse(scores, cosines, branches)[: request.breadth])
    rows = log.timed(FETCH, lambda: candidates.fetch(request.scope, [hit.key for hit in fused]))
    if branches > 1:
        fused = rescoring.neighbour_boosted(fused, _neighbours(rows))
    most = branches / (fusion.RRF_K + 1)
    hits = [
        CandidateHit(rows[hit.key], hit, scores.get(hit.key), cosines.get(hit.key), most)
        for hit in fused
        if hit.key in rows
    ]
    return hits, len(hits) == len(fused)


def _fuse(
    scores: dict[int, float], cosines: dict[int, float], branches: int
) -> list[rescoring.RescoredHit[int]]:
    """Fuse positions by reciprocal rank; a single branch keeps its order."""
    fused = fusion.rrf([list(scores), list(cosines)])
    if branches > 1:
        return rescoring.min_max_weighted(fused, [scores, cosines])
    return rescoring.unweighted(fused)


def _neighbours(rows: dict[int, Candidate]) -> dict[int, tuple[int | None, int | None]]:
    """Return the positions before and after each candidate; None at an end of its source."""
    positions = {(row.source, row.ordinal): position for position, row in rows.items()}
    missing = -1

    def position_of(row: Candidate, ordinal: int) -> int | None:
        is_inside = 0 <= ordinal < row.chunks
        return positions.get((row.source, ordinal), missing) if is_inside else None

    return {
        position: (position_of(row, row.ordinal - 1), position_of(row, row.ordinal + 1))
        for position, row in rows.items()
    }


def _by_words(request: SearchRequest, resolved: ResolvedFilter) -> dict[int, float]:
    """Return positions by the literal query, best first, with their BM25 scores."""
    return dict(lexical_index.search(request.query, limit=request.breadth, resolved=resolved))


def _by_vector(
    request: SearchRequest, resolved: ResolvedFilter, vector: Vector, space: EmbeddingSpace
) -> dict[int, float]:
    """Return positions by vector, nearest first, with their cosines."""
    limit = request.breadth * VERIFIED if request.is_strict else request.breadth
    hits = vector_search.search(vector, space=space, limit=limit, resolved=resolved)
    cosines = {hit.position: hit.cosine for hit in hits}
    if request.is_strict:
        texts = candidates.texts(cosines)
        cosines = {
            position: cosine
            for position, cosine in cosines.items()
            if request.query.admits(texts.get(position, ""))
        }
    return dict(list(cosines.items())[: request.breadth])
