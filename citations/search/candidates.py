"""Candidates: the chunks that words and vectors find, fetched with their sources and fused."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection

from citations.errors import InvalidProvider, ModelError
from citations.lexical import index as lexical_index
from citations.lexical.query import Query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, EmbeddingSpace, path_to, visible_sources_sql
from citations.passages import Locator, PassageSource, SearchMode, Stage
from citations.search import fusion
from citations.search.query_expansion import QueryEmbedding, Vector
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import Unavailable
from transcripts.locks import release_connection
from transcripts.scope import Scope
from transcripts.stages import finish
from transcripts.timecodes import watch_url

CANDIDATES, FEWEST_CANDIDATES = 5, 50  # of each branch: times the limit, and at least so many
VERIFIED = 4  # times as many by vector, where phrases and exclusions will leave few
LEXICAL, VECTOR, FUSE, FETCH = "lexical", "vector", "fuse", "fetch"  # names of stages
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
        return self.mode != SearchMode.LEXICAL

    @property
    def uses_words(self) -> bool:
        return self.mode != SearchMode.VECTOR

    @property
    def breadth(self) -> int:
        """The number of candidates of each branch."""
        return max(FEWEST_CANDIDATES, CANDIDATES * self.limit)

    @property
    def is_strict(self) -> bool:
        """Whether passages must be verified by their text."""
        return bool(self.query.phrases or self.query.excluded)


@dataclass(slots=True)
class StageLog:
    """The finished stages of a search, and notes for the reader."""

    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
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


class Candidate(NamedTuple):
    """A chunk with its source: one row of one query."""

    position: int
    chunk: int
    ordinal: int
    text: str
    context: str
    heading: str
    span_start: int
    span_end: int
    start: int | None
    end: int | None
    page: int | None
    last_page: int | None
    source: int
    chunks: int  # of the source
    digest: str  # of the source's text that the span counts in
    uuid: UUID
    kind: str
    title: str
    author: str
    url: str
    language: str
    tags: list[str]
    collection: str
    video: int | None
    key: str | None
    youtube_id: str | None

    @property
    def indexed_text(self) -> str:
        """The text that was embedded and indexed, as ``Chunk.indexed_text``."""
        return f"{self.context}\n\n{self.text}" if self.context else self.text

    @property
    def locator(self) -> Locator:
        return Locator(
            span=(self.span_start, self.span_end),
            start=self.start,
            end=self.end,
            page=self.page,
            last_page=self.last_page,
        )

    @property
    def origin(self) -> PassageSource:
        return PassageSource(
            id=self.uuid,
            kind=self.kind,
            title=self.title,
            author=self.author,
            url=self.url,
            language=self.language,
            collection=self.collection,
            tags=tuple(self.tags),
            key=self.key or "",
            video_pk=self.video,
        )

    @property
    def link(self) -> str:
        """The path of the page here that opens at the position."""
        start = (self.start or 0) // 1000 * 1000
        locator = Locator(span=(self.span_start, self.span_end), start=start, page=self.page)
        return path_to(self.uuid, self.video, locator, language=self.language)

    @property
    def timestamp_link(self) -> str:
        """The address on YouTube at that second; for other sources the page here."""
        if self.youtube_id:
            return watch_url(self.youtube_id, at_ms=self.start or 0)
        return self.link


class CandidateHit(NamedTuple):
    """A candidate and its scores; ``most`` is the maximum of the fused score."""

    candidate: Candidate
    fused: fusion.RescoredHit[int]
    bm25: float | None
    cosine: float | None
    most: float

    @property
    def share(self) -> float:
        return min(1.0, self.fused.score / self.most)


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
        search = partial(
            lexical_index.search, request.query, limit=request.breadth, resolved=resolved
        )
        scores = dict(log.timed(LEXICAL, search))
    vector = _vector(request, embedding, log)
    if embedding is not None and vector is not None:
        space = embedding.space
        cosines = log.timed(VECTOR, lambda: _by_vector(request, resolved, vector, space))
    branches = request.uses_words + (vector is not None)
    fused = log.timed(FUSE, lambda: _fuse(scores, cosines, branches)[: request.breadth])
    rows = log.timed(FETCH, lambda: fetch(request.scope, [hit.key for hit in fused]))
    if branches > 1:
        fused = fusion.neighbour_boosted(fused, _neighbours(rows))
    most = branches / (fusion.RRF_K + 1)
    hits = [
        CandidateHit(rows[hit.key], hit, scores.get(hit.key), cosines.get(hit.key), most)
        for hit in fused
        if hit.key in rows
    ]
    return hits, len(hits) == len(fused)


def _fuse(
    scores: dict[int, float], cosines: dict[int, float], branches: int
) -> list[fusion.RescoredHit[int]]:
    """Fuse positions by reciprocal rank; a single branch keeps its order."""
    fused = fusion.rrf([list(scores), list(cosines)])
    if branches > 1:
        return fusion.min_max_weighted(fused, [scores, cosines])
    return fusion.unweighted(fused)


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


# Raw SQL, because every search runs it and the ORM would take longer than the database. The chunks
# are materialized first: the planner would otherwise scan every visible source.
_FETCH = """
    WITH chunk AS MATERIALIZED (SELECT * FROM citations_chunk WHERE position = ANY(%(positions)s))
    SELECT chunk.position, chunk.id, chunk.ordinal, chunk.text, chunk.context, chunk.heading,
        chunk.span_start, chunk.span_end, chunk.start, chunk.end, chunk.page, chunk.last_page,
        source.id, source.chunk_count, source.digest, source.uuid, source.kind, source.title,
        source.author, source.url, source.language, source.tags, collection.slug, video.id,
        video.key, video.youtube_id
    FROM chunk
    JOIN citations_source source ON source.id = chunk.source_id
    JOIN transcripts_collection collection ON collection.id = source.collection_id
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    WHERE source.id IN ({visible})
"""


def fetch(scope: Scope, positions: Iterable[int]) -> dict[int, Candidate]:
    """Return the chunks at these positions, in one query, without those outside the scope."""
    visible, values = visible_sources_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_FETCH.format(visible=visible), {"positions": list(positions), **values})
        return {
            row[0]: Candidate._make((*row[:_TAGS], json.loads(row[_TAGS]), *row[_TAGS + 1 :]))
            for row in cursor.fetchall()
        }


_TAGS: Final = Candidate._fields.index("tags")
