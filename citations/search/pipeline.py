"""A question becomes passages, stage by stage: expand, look up words and meaning, fuse, re-rank, deduplicate, enrich.

The database is asked by the calling thread alone; what models compute for the question runs beside the look-up of its words. However much a search finds,
it asks the database the same few times.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeVar

from django.contrib.auth.models import User

from citations import conf
from citations.errors import InvalidProvider, ModelError
from citations.lexical import index as lexical_index
from citations.lexical import query as lexical_query
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import EmbeddingSpace
from citations.passages import NearDuplicate, Passage, Results, SearchMode, Stage, TermScore
from citations.providers import registry
from citations.search import candidates, fusion, judgments, rescoring
from citations.search.candidates import Candidate
from citations.search.explanation import CandidateHit, RankedHit, explanation
from citations.search.query_expansion import EMBED, EXPAND, QueryEmbedding, Vector, anticipate
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import EmptyQuery, InvalidInput, Unavailable
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS, matched_spans

MAX_LIMIT = 50
CANDIDATES = 5  # times the limit,
FEWEST_CANDIDATES = 50  # and at least so many, are looked up by each branch;
VERIFIED = 4  # times as many by meaning, where phrases and exclusions will leave few of them
REMOTE = frozenset({"voyage", "openai", "ollama"})  # whose vectors a person waits for
LEXICAL, VECTOR, FUSE, FETCH, RERANK, DEDUPLICATE, ENRICH = (
    "lexical",
    "vector",
    "fuse",
    "fetch",
    "rerank",
    "deduplicate",
    "enrich",
)
STAGES = (EXPAND, EMBED, LEXICAL, VECTOR, FUSE, FETCH, RERANK, DEDUPLICATE, ENRICH)
T = TypeVar("T")


def search(
    scope: Scope,
    query: str,
    *,
    mode: SearchMode = SearchMode.HYBRID,
    limit: int = 10,
    filter: Filter = Filter(),
    explain: bool = False,
    rerank: bool = True,
    user: User | None = None,
    quick: bool = False,
    space: EmbeddingSpace | None = None,
) -> Results:
    """Find the passages that answer a query, best first; equal ones in an order that does not change.

    ``score`` is the cross-encoder's (0–1) where one ran. Else it is the fused score by the most that it can be: the fused score is Σ w/(60 + rank) over
    the branches that were looked up, with w = 1 and no more to it for a single one, and else what ``weighing`` makes of it; the most is their number/61.

    ``user`` fills in what they marked; ``quick`` leaves out what ``slow_stages`` names; ``space`` is looked in instead of the active one.

    Raises ``EmptyQuery``; ``InvalidInput`` for a limit outside 1–50 or a query of more than 1,000 characters; ``EmbeddingMismatch`` unless the mode is
    lexical; what ``filters.resolve`` raises. Without a usable embedding model a hybrid search goes by words, and its notes say so; one by meaning raises
    ``ModelError``, or ``Unavailable`` when nothing is embedded yet.
    """
    asked = _Asked(
        scope=scope,
        query=_understood(query),
        mode=_quick_mode(SearchMode(mode)) if quick else SearchMode(mode),
        limit=_checked(limit),
        filter=filter,
        explain=explain,
        reranks=rerank and not quick,
        expands=conf.uses_hyde() and not quick,
        user=user,
        space=space,
    )
    log = _Log()
    meaning, hits = _find(asked, log)
    ranked = _rerank(asked, hits, log) if asked.reranks else _by_fusion(hits)
    groups = log.timed(DEDUPLICATE, lambda: _deduplicate(ranked, asked.limit))
    passages = log.timed(ENRICH, lambda: _enrich(asked, groups))
    stages = (meaning.stages if meaning else []) + log.stages
    return Results(
        query=asked.query.text,
        mode=asked.mode,
        passages=tuple(passages),
        stages=tuple(stages),
        notes=tuple(dict.fromkeys([stage.note for stage in stages if stage.note] + log.notes)),
        reranked=any(one.rerank_score is not None for one in ranked),
        hypothesis=meaning.hypothesis if meaning else "",
        milliseconds=(perf_counter() - log.started) * 1000,
    )


def slow_stages(*, mode: SearchMode = SearchMode.HYBRID, rerank: bool = True) -> tuple[str, ...]:
    """Name the stages of such a search that take longer than a person notices, as the settings stand: where there are any, show a ``quick`` one first."""
    by_meaning = mode != SearchMode.LEXICAL
    slow = {
        EXPAND: by_meaning and conf.uses_hyde(),
        EMBED: by_meaning and conf.embedding().provider in REMOTE,
        RERANK: rerank and registry.reranker() is not None,
    }
    return tuple(name for name, is_slow in slow.items() if is_slow)


def staged(
    scope: Scope,
    query: str,
    *,
    mode: SearchMode = SearchMode.HYBRID,
    limit: int = 10,
    filter: Filter = Filter(),
    explain: bool = False,
    user: User | None = None,
) -> Iterator[Results]:
    """Yield what is found quickly, if anything of the search is slow, then what is found in the end. Raises what ``search`` raises."""
    if slow_stages(mode=mode):
        yield search(
            scope,
            query,
            mode=mode,
            limit=limit,
            filter=filter,
            explain=explain,
            user=user,
            quick=True,
        )
    yield search(scope, query, mode=mode, limit=limit, filter=filter, explain=explain, user=user)


# What is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    scope: Scope
    query: lexical_query.Query
    mode: SearchMode
    limit: int
    filter: Filter
    explain: bool
    reranks: bool
    expands: bool
    user: User | None
    space: EmbeddingSpace | None

    @property
    def by_meaning(self) -> bool:
        return self.mode != SearchMode.LEXICAL

    @property
    def by_words(self) -> bool:
        return self.mode != SearchMode.VECTOR

    @property
    def breadth(self) -> int:
        """How many each branch looks up."""
        return max(FEWEST_CANDIDATES, CANDIDATES * self.limit)

    @property
    def is_strict(self) -> bool:
        """Whether a passage has to be verified on its text."""
        return bool(self.query.phrases or self.query.excluded)


def _understood(query: str) -> lexical_query.Query:
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"The query is longer than {MAX_QUERY_CHARACTERS:,} characters.",
            hint="Ask more briefly.",
        )
    parsed = lexical_query.parse(query)
    if parsed.is_empty:
        raise EmptyQuery("There is nothing to search for.", hint="Give one or more words.")
    return parsed


def _checked(limit: int) -> int:
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"A search gives 1 to {MAX_LIMIT} passages, not {limit}.")
    return limit


def _quick_mode(mode: SearchMode) -> SearchMode:
    return (
        SearchMode.LEXICAL
        if mode == SearchMode.HYBRID and conf.embedding().provider in REMOTE
        else mode
    )


@dataclass(slots=True)
class _Log:
    """The stages of one search as they happened, and what is to be said about it."""

    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def timed(self, name: str, call: Callable[[], T]) -> T:
        """Run a stage, and write down how long it took and how much came out."""
        started = perf_counter()
        result = call()
        count = len(result) if isinstance(result, list | dict) else 0
        self.stages.append(
            Stage(name=name, milliseconds=(perf_counter() - started) * 1000, count=count)
        )
        return result


_EMBEDDED_LATER = "Add something, or wait until it is indexed; `kb list` shows how far it is."

# Look up


def _meaning(asked: _Asked, log: _Log) -> QueryEmbedding | None:
    """Start to work out what the question means; None where the search has to do without."""
    if not asked.by_meaning:
        return None
    anticipated = None if asked.space or asked.expands else anticipate(asked.query.words)
    space = asked.space or vector_space.active()
    if space is not None:
        return QueryEmbedding(
            asked.query.words, space=space, expands=asked.expands, anticipated=anticipated
        )
    if not asked.by_words:
        raise Unavailable(
            "Nothing is embedded yet, so nothing can be found by meaning.", hint=_EMBEDDED_LATER
        )
    log.notes.append(f"Found by words only: nothing is embedded yet. {_EMBEDDED_LATER}")
    return None


def _vector(asked: _Asked, meaning: QueryEmbedding | None, log: _Log) -> Vector | None:
    if meaning is None:
        return None
    try:
        return meaning.vector()
    except (ModelError, InvalidProvider) as error:
        if not asked.by_words:
            raise
        log.notes.append(f"Found by words only: {error.message} {error.hint}".rstrip())
        return None


def _find(asked: _Asked, log: _Log) -> tuple[QueryEmbedding | None, list[CandidateHit]]:
    """Look up and fuse; once more when a source was cut anew while the index was asked.

    A migration that ends meanwhile does no harm: the vectors of the space that it replaces stay for a while.
    """
    meaning = _meaning(asked, log)
    hits, whole = _look_up(asked, meaning, log)
    if whole:
        return meaning, hits
    log.stages.clear()
    return meaning, _look_up(asked, meaning, log)[0]


def _look_up(
    asked: _Asked, meaning: QueryEmbedding | None, log: _Log
) -> tuple[list[CandidateHit], bool]:
    """Return the candidates, best first, and whether all that the branches found is there."""
    resolved = resolve(asked.scope, asked.filter)
    if resolved.is_empty:
        return [], True
    words = log.timed(LEXICAL, lambda: _by_words(asked, resolved)) if asked.by_words else {}
    vector = _vector(asked, meaning, log)
    near = (
        log.timed(VECTOR, lambda: _by_meaning(asked, resolved, vector, meaning.space))
        if meaning and vector is not None
        else {}
    )
    branches = asked.by_words + (vector is not None)
    fused = log.timed(FUSE, lambda: _fuse(words, near, branches)[: asked.breadth])
    rows = log.timed(FETCH, lambda: candidates.fetch(asked.scope, [one.key for one in fused]))
    weighed = rescoring.neighbour_boosted(fused, _beside(rows)) if branches > 1 else fused
    most = branches / (fusion.RRF_K + 1)
    hits = [
        CandidateHit(rows[one.key], one, words.get(one.key), near.get(one.key), most)
        for one in weighed
        if one.key in rows
    ]
    return hits, len(hits) == len(fused)


def _fuse(
    words: dict[int, float], near: dict[int, float], branches: int
) -> list[rescoring.RescoredHit[int]]:
    """Fuse places by reciprocal rank; the order of one branch alone is its own."""
    fused = fusion.rrf([list(words), list(near)])
    return (
        rescoring.min_max_weighted(fused, [words, near])
        if branches > 1
        else rescoring.unweighted(fused)
    )


def _beside(rows: dict[int, Candidate]) -> dict[int, tuple[int | None, int | None]]:
    """Return the places before and behind each candidate in its source; None where the source ends."""
    places = {(one.source, one.ordinal): place for place, one in rows.items()}
    missing = -1
    return {
        place: (
            places.get((one.source, one.ordinal - 1), missing) if one.ordinal else None,
            places.get((one.source, one.ordinal + 1), missing)
            if one.ordinal + 1 < one.chunks
            else None,
        )
        for place, one in rows.items()
    }


def _by_words(asked: _Asked, resolved: ResolvedFilter) -> dict[int, float]:
    """Find places by the literal query, best first, with their BM25 scores."""
    return {
        one.position: one.score
        for one in lexical_index.search(asked.query, limit=asked.breadth, resolved=resolved)
    }


def _by_meaning(
    asked: _Asked, resolved: ResolvedFilter, vector: Vector, space: EmbeddingSpace
) -> dict[int, float]:
    """Find places by meaning, best first, with their cosines."""
    limit = asked.breadth * VERIFIED if asked.is_strict else asked.breadth
    near = {
        one.position: one.cosine
        for one in vector_search.search(vector, space=space, limit=limit, resolved=resolved)
    }
    if asked.is_strict:
        texts = candidates.texts(near)
        near = {
            place: cosine
            for place, cosine in near.items()
            if asked.query.admits(texts.get(place, ""))
        }
    return dict(list(near.items())[: asked.breadth])


# Re-rank


def _by_fusion(hits: Sequence[CandidateHit]) -> list[RankedHit]:
    return [RankedHit(hit, hit.share) for hit in hits]


def _rerank(asked: _Asked, hits: list[CandidateHit], log: _Log) -> list[RankedHit]:
    """Order the first candidates by the cross-encoder; where there is none, or it fails, the fused order stays and a note says so."""
    reranker = registry.reranker()
    if reranker is None:
        if conf.reranker() != conf.NO_RERANKER:
            log.notes.append(
                f"Not re-ranked: {conf.reranker()} is not on this machine. `kb models fetch` gets it; RERANKER=none goes without."
            )
        return _by_fusion(hits)
    first = hits[: conf.rerank_candidates()]
    try:
        scores = log.timed(
            RERANK,
            lambda: reranker.score(
                asked.query.words, [hit.candidate.indexed_text for hit in first]
            ),
        )
    except ModelError as error:
        log.notes.append(f"Not re-ranked: {error.message} {error.hint}".rstrip())
        return _by_fusion(hits)
    ranked = [RankedHit(hit, score, score) for hit, score in zip(first, scores, strict=True)]
    ranked.sort(key=lambda one: -one.score)  # stable: equal scores stay in fused order
    least = ranked[-1].score if ranked else 1.0
    # Those that it did not look at come below those that it did, in fused order.
    return ranked + [RankedHit(hit, least * hit.share, least=least) for hit in hits[len(first) :]]


# Deduplicate and enrich


class _Group(NamedTuple):
    best: RankedHit
    duplicates: list[tuple[RankedHit, float]]


def _deduplicate(ranked: Sequence[RankedHit], limit: int) -> list[_Group]:
    kept = fusion.deduplicate([one.hit.candidate.text for one in ranked])[:limit]
    return [
        _Group(ranked[place], [(ranked[duplicate], likeness) for duplicate, likeness in dropped])
        for place, dropped in kept
    ]


def _enrich(asked: _Asked, groups: Sequence[_Group]) -> list[Passage]:
    found = [group.best.hit.candidate for group in groups]
    marks = judgments.marks_of(asked.user, asked.query.text, found) if asked.user else {}
    terms = (
        lexical_index.explain(asked.query, [one.position for one in found]) if asked.explain else {}
    )
    return [
        _passage(asked, group, marks.get(group.best.hit.candidate.chunk), terms) for group in groups
    ]


def _passage(
    asked: _Asked, group: _Group, mark: bool | None, terms: dict[int, tuple[TermScore, ...]]
) -> Passage:
    one = group.best.hit.candidate
    return Passage(
        chunk=one.chunk,
        origin=one.origin,
        locator=one.locator,
        text=one.text,
        context=one.context,
        heading=one.heading,
        score=group.best.score,
        link=one.link,
        timestamp_link=one.timestamp_link,
        spans=tuple(matched_spans(one.text, asked.query.words)),
        duplicates=tuple(
            _near_duplicate(duplicate.hit.candidate, likeness)
            for duplicate, likeness in group.duplicates
        ),
        mark=mark,
        explanation=explanation(group.best, terms.get(one.position, ())) if asked.explain else None,
    )


def _near_duplicate(one: Candidate, likeness: float) -> NearDuplicate:
    return NearDuplicate(origin=one.origin, locator=one.locator, link=one.link, similarity=likeness)
