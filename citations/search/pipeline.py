"""Turn a query into passages: expand, look up, fuse, re-rank, deduplicate, enrich.

Only the calling thread uses the database; models compute beside the lexical look-up. The number of
database queries does not depend on the number of results.
"""

from collections.abc import Sequence, Set
from itertools import zip_longest
from time import perf_counter
from typing import Final

from django.contrib.auth.models import User

from citations import conf
from citations.errors import ModelError
from citations.lexical import index as lexical_index
from citations.lexical import query as lexical_query
from citations.lexical import spelling
from citations.library.filters import Filter, matching, resolve
from citations.models import EmbeddingSpace
from citations.passages import (
    Explanation,
    NearDuplicate,
    Passage,
    PassagePart,
    Results,
    SearchMode,
    Stage,
    TermScore,
)
from citations.providers import registry
from citations.providers.languages import SURE, probabilities, stop_words, telling_words
from citations.schemas.filters import MAX_LIMIT
from citations.search import candidates, judge, judgments, selection
from citations.search.candidates import (
    FETCH,
    FUSE,
    JUDGE,
    LEXICAL,
    VECTOR,
    CandidateSet,
    SearchRequest,
    timed,
)
from citations.search.chunk_rows import Candidate
from citations.search.query_expansion import EMBED, EXPAND
from citations.search.selection import HitGroup, RankedHit
from citations.search.tracing import SearchTrace
from citations.vectors import language_gap
from transcripts.core.errors import InvalidInput
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.text.queries import empty_query

RERANK, DEDUPLICATE, ENRICH, SPELL = "rerank", "deduplicate", "enrich", "spell"  # of stages
STAGES = (EXPAND, EMBED, LEXICAL, VECTOR, FUSE, FETCH, JUDGE, RERANK, DEDUPLICATE, ENRICH)
BY_WORDS_NOTE = (
    "Which passages are likely was judged by their words alone: their meaning was not compared."
)
MAX_READ: Final = 20  # passages that a cross-encoder reads
SIGNS_NOTE = "Signs and emoji are searched for as they are written, and no passage has these."
SPEAKER_NOTE = (
    "Of a speaker, only passages are searched in which nobody else speaks; a talk in short turns"
    " may have none."
)


def search(
    scope: Scope,
    query: str,
    *,
    mode: SearchMode = SearchMode.BOTH,
    limit: int = 10,
    filter: Filter = Filter(),
    explain: bool = False,
    rerank: bool = True,
    reads: int = MAX_READ,
    expand: bool = True,
    user: User | None = None,
    quick: bool = False,
    for_readers: bool = False,
    space: EmbeddingSpace | None = None,
    shown: slice = slice(None),
    find: str = "",
) -> Results:
    """Find the passages that answer a query, best first; ties have a stable order.

    ``score`` is the judge's (0 to 1), which orders passages that both branches look for; of the
    best, a cross-encoder reads ``reads`` at most, where there is one, and its scores count as a
    sign. With a single branch, ``score`` is Σ 1/(60 + rank) divided by its maximum, 1/61.
    ``relevance`` is how likely a passage is on the query's subject, where that is known.

    ``user`` fills in their marks; ``quick`` leaves out the stages of ``slow_stages``; ``space``
    replaces the active one. ``for_readers``: neighbouring passages are one, before ``limit``
    counts; what two hits share stands in the better one alone; and words that occur nowhere are
    corrected in a ``suggestion``; and the list has the room of ``selection.room_for_readers``. Of
    all passages, the ``shown`` ones are returned, which are chosen from as many candidates as if
    there were no more. ``explain`` says how scores came about, and why other hits are not listed;
    ``find`` what became of one passage: see ``tracing.passage_named``.

    Raises ``EmptyQuery``; ``InvalidInput`` for a limit outside 1 to 50 or a query of more than
    1,000 characters; ``EmbeddingMismatch`` unless it is by words; what ``filters.resolve``
    raises. Without a usable embedding model a search by both uses words alone and adds a note;
    one by meaning raises ``ModelError``, or ``Unavailable`` before anything is embedded. A search
    by words judges by these alone which passages are likely, and says so where some are not.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"A search gives 1 to {MAX_LIMIT} passages, not {limit}.")
    is_slow = mode == SearchMode.BOTH and conf.embedding().provider in conf.EMBEDDING_SERVICES
    parsed = _parsed(query)
    by_words = (quick and is_slow) or not parsed.has_words
    request = SearchRequest(
        scope=scope,
        query=parsed,
        mode=SearchMode.WORDS if by_words else SearchMode(mode),
        limit=limit if shown.stop is None else shown.stop - (shown.start or 0),
        filter=filter,
        explain=explain,
        reads=min(reads, conf.rerank_candidates()) if rerank and not quick else 0,
        expands=expand and conf.uses_hyde() and not quick,
        user=user,
        space=space,
    )
    started = perf_counter()
    result = candidates.find(request)
    ranked, reranking, failed = _rank(request, result)
    every, deduplicated = timed(DEDUPLICATE, lambda: selection.grouped(ranked, joins=for_readers))
    likely = candidates.likely_chunks([group.best.hit for group in every], request.query.words)
    room = selection.ListRoom()
    if for_readers:
        is_one_source = len(filter.sources) == 1
        room = selection.room_for_readers(limit=request.limit, is_one_source=is_one_source)
    groups, left = selection.spread(every, likely, limit=limit, room=room)
    trace = SearchTrace(
        request=request, candidates=result, ranked=ranked, groups=every, listed=groups, left=left
    )
    listed = selection.apart(groups[: shown.stop]) if for_readers else groups
    passages, enriched = timed(ENRICH, lambda: _enrich(request, listed[shown], likely))
    stages = (*result.stages, *reranking, deduplicated, enriched)
    suggestion = ""
    if for_readers and result.unknown:
        suggestion, spelled = timed(
            SPELL, lambda: _suggestion(request, result.unknown), count=lambda _: 0
        )
        stages = (*stages, spelled)
    is_irrelevant = bool(result.hits) and not likely
    advice = ""
    if is_irrelevant:
        advice = language_gap.advice(request.query.words, matching(scope, filter))
    floor = ""
    are_likely = all(group.best.hit.candidate.chunk in likely for group in groups)
    if candidates.is_by_words(stages) and not are_likely:
        floor = BY_WORDS_NOTE
    alone = SPEAKER_NOTE if filter.speakers and len(groups) < limit else ""
    absent = SIGNS_NOTE if not (groups or parsed.has_words) else ""
    notes = (*(stage.note for stage in stages), *result.notes, failed, floor, advice, alone, absent)
    return Results(
        query=request.query.text,
        mode=request.mode,
        passages=tuple(passages),
        total=len(groups),
        dropped=trace.dropped() if explain else (),
        traced=trace.find(find) if find else None,
        stages=stages,
        notes=tuple(dict.fromkeys(note for note in (*parsed.notes, *notes) if note)),
        reranked=any(hit.rerank_score is not None for hit in ranked),
        nothing_relevant=is_irrelevant,
        suggestion=suggestion,
        hypothesis=result.embedding.hypothesis if result.embedding else "",
        milliseconds=(perf_counter() - started) * 1000,
    )


def slow_stages(*, mode: SearchMode = SearchMode.BOTH) -> tuple[str, ...]:
    """Name the stages that take noticeably long with the present settings."""
    uses_vectors = mode != SearchMode.WORDS
    slow = {
        EXPAND: uses_vectors and conf.uses_hyde(),
        EMBED: uses_vectors and conf.embedding().provider in conf.EMBEDDING_SERVICES,
        RERANK: mode == SearchMode.BOTH and registry.reranker() is not None,
    }
    return tuple(name for name, is_slow in slow.items() if is_slow)


def _parsed(query: str) -> lexical_query.Query:
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"The query is longer than {MAX_QUERY_CHARACTERS:,} characters.", hint="Shorten it."
        )
    parsed = lexical_query.parse(query)
    if parsed.is_empty:
        raise empty_query()
    return parsed


def _suggestion(request: SearchRequest, unknown: Sequence[str]) -> str:
    """Correct the words that no source has, unless they are common in the query's own language."""
    text = request.query.text
    code, probability = next(iter(probabilities(text).items()), ("", 0.0))
    common = stop_words(code) if probability >= SURE else frozenset()
    wrong = [word for word in unknown if word not in common]
    return spelling.correct(text, wrong, resolved=resolve(request.scope, Filter()))


# Re-rank


def _rank(request: SearchRequest, result: CandidateSet) -> tuple[list[RankedHit], list[Stage], str]:
    """Let a cross-encoder, if there is one, read the first candidates that the judge has ordered,
    and order all of them again with its sign.

    Return its stage, too, and a note if it failed.
    """
    hits = result.hits
    ranked = [RankedHit(hit, hit.score) for hit in hits]
    relevances = [hit.relevance for hit in hits if hit.relevance]
    reranker = registry.reranker() if request.reads and relevances else None
    if reranker is None or result.embedding is None:  # `kb doctor` and `kb models` say so
        return ranked, [], ""
    texts = [hit.candidate.indexed_text for hit in hits[: request.reads]]
    try:
        scores, stage = timed(RERANK, lambda: reranker.score(request.query.words, texts))
    except ModelError as error:
        return ranked, [], f"The best passages were not read again: {error.text}"
    head = judge.trained(result.embedding.space.model).search
    ranked = [
        RankedHit(hit._replace(relevance=relevance), relevance.order, score)
        for hit, relevance, score in zip_longest(hits, head.read(relevances, scores), scores)
    ]
    # Stable: equal scores keep the order of before.
    return sorted(ranked, key=lambda hit: -hit.score), [stage], ""


# Enrich


def _enrich(request: SearchRequest, groups: Sequence[HitGroup], likely: Set[int]) -> list[Passage]:
    best = [group.best.hit.candidate for group in groups]
    marks: dict[int, bool] = {}
    terms: dict[int, tuple[TermScore, ...]] = {}
    if request.user:
        marks = judgments.marks_of(request.user, request.query.text, best)
    if request.explain:
        positions, everything = [row.position for row in best], resolve(request.scope, Filter())
        terms = lexical_index.explain(request.query, positions, resolved=everything)
    return [_passage(request, group, marks, terms, likely) for group in groups]


def _passage(
    request: SearchRequest,
    group: HitGroup,
    marks: dict[int, bool],
    terms: dict[int, tuple[TermScore, ...]],
    likely: Set[int],
) -> Passage:
    row = group.shown
    opens_at = row.opens_at(request.query.text)
    explained = _explanation(group.best, terms.get(row.position, ())) if request.explain else None
    return Passage(
        chunk=row.chunk,
        origin=row.origin,
        locator=row.locator,
        text=row.text,
        context=row.context,
        heading=row.heading,
        speaker=row.speaker,
        score=group.best.score,
        relevance=group.best.hit.likelihood,
        is_likely=row.chunk in likely,
        folded=group.folded,
        link=row.link(opens_at),
        timestamp_link=row.timestamp_link(opens_at),
        opens_at=opens_at,
        spans=tuple(row.read.marked(telling_words(request.query.words, row.language))),
        duplicates=tuple(
            NearDuplicate(
                origin=other.origin, locator=other.locator, link=other.link(), similarity=similarity
            )
            for other, similarity in group.duplicates
        ),
        parts=tuple(_part(part, request.query.text) for part in group.parts),
        mark=marks.get(row.chunk),
        explanation=explained,
    )


def _part(row: Candidate, query: str) -> PassagePart:
    opens_at = row.opens_at(query)
    return PassagePart(
        chunk=row.chunk,
        locator=row.locator,
        text=row.text,
        link=row.link(opens_at),
        timestamp_link=row.timestamp_link(opens_at),
        opens_at=opens_at,
    )


def _explanation(ranked: RankedHit, terms: tuple[TermScore, ...]) -> Explanation:
    """Explain a score; ``terms`` are the query's words in the passage."""
    hit = ranked.hit
    lexical_rank, vector_rank = hit.fused.ranks
    rrf_lexical, rrf_vector = hit.fused.parts
    judged = hit.relevance
    return Explanation(
        lexical_rank=lexical_rank,
        bm25=hit.bm25,
        terms=terms if lexical_rank else (),
        vector_rank=vector_rank,
        cosine=hit.cosine,
        rrf_lexical=rrf_lexical,
        rrf_vector=rrf_vector,
        rrf=rrf_lexical + rrf_vector,
        base=judged.base if judged else 0.0,
        signs=judged.shares if judged else (),
        rerank_score=ranked.rerank_score,
        formula=ranked.formula,
    )
