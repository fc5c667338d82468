"""Search by words over the whole library: exact BM25 in plain PostgreSQL.

Every source has an entry in the lexicon, which is found from the moment its transaction ends; merges gather entries into packs, from which a search reads
no more than the blocks of its words. Scores, their order and the statistics behind them (how many chunks there are, how long they are, how many say a
word) are exact at every moment, also between a delete and the merge that sweeps up after it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection, transaction

from citations.errors import SourceNotFound
from citations.lexical import merging, scoring, snapshot
from citations.lexical.postings import Words, stored
from citations.lexical.query import Query
from citations.lexical.segments import TermFilter
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, LexEntry, Source
from citations.passages import TermScore
from transcripts.tokenizer import TOKENIZER_VERSION, query_counts

__all__ = ["MOST_VERIFIED", "SPARE", "ChunkScore", "explain", "index", "merge", "rebuild", "search"]

SPARE = 32  # entries outside the packs that searches put up with
MOST_VERIFIED = 5_000  # chunks whose text is looked at for one query's phrases and exclusions
_ATTEMPTS = 3  # when chunks are replaced between reading the lexicon and reading them


class ChunkScore(NamedTuple):
    """A chunk that a search found: its position (``Chunk.position``), and its score above zero."""

    position: int
    score: float


def index(source_pk: int, texts: Sequence[str]) -> int:
    """Make a source's chunks known, in place of what was known of it, and return the first place: text i is at place first + i.

    Counts from the end of the caller's transaction on, together with what else it stores. Raises ``SourceNotFound`` when the source is gone.
    """
    words = Words.build(texts)
    with transaction.atomic():
        if (
            not Source.objects.select_for_update(no_key=True)
            .filter(pk=source_pk)
            .order_by()
            .values_list("pk")
        ):
            raise SourceNotFound("The source was removed while it was being indexed.")
        LexEntry.objects.filter(source=source_pk).update(source=None)
        first = _take_places(len(texts))
        if texts:
            entry = LexEntry(
                source_id=source_pk,
                first=first,
                count=len(texts),
                tokens=words.tokens,
                tokenizer_version=TOKENIZER_VERSION,
            )
            entry.data = words.to_bytes()
            entry.save(force_insert=True)
    return first


def search(query: Query, *, limit: int, resolved: ResolvedFilter) -> list[ChunkScore]:
    """Find the ``limit`` best chunks, best first, equal ones in the order of their places; chunks without any word of the query are left out.

    Phrases and exclusions are verified on what was indexed of the chunks: of the ``MOST_VERIFIED`` best that say all words of the phrases. Statistics are
    those of the whole library, whatever the resolved. The places are those of one moment: a source that is replaced in the next has others, and is to be
    searched anew.
    """
    counts, wanted = _counts(query.words), _wanted(query)
    if limit <= 0 or not counts or resolved.is_empty:
        return []
    for _ in range(_ATTEMPTS):
        seen = snapshot.read({*counts, *wanted.required, *wanted.excluded}, resolved)
        if not query.phrases and not query.excluded:
            return [
                ChunkScore(*hit) for hit in scoring.rank(seen, counts, limit=limit, wanted=wanted)
            ]
        for breadth in (8 * limit, max(limit, MOST_VERIFIED)):
            hits = scoring.rank(seen, counts, limit=breadth, wanted=wanted)
            found, gone = _verified(query, hits, limit)
            if len(found) == limit or len(hits) < breadth:
                break
        if not gone:
            break
    return found


def explain(query: Query, places: Iterable[int]) -> dict[int, tuple[TermScore, ...]]:
    """Say what each word of a query adds to the scores of chunks; added up in this order, it is exactly the score that ``search`` gives at this moment.

    Places where there is no chunk, or none of the words, are missing.
    """
    counts = _counts(query.words)
    return scoring.explain(snapshot.read(counts), counts, places)


def merge(*, spare: int = SPARE) -> int:
    """Gather entries into the packs and sweep deleted ones out of them, once there are more than ``spare`` of both or they are large; return how many were.

    Searches go on meanwhile and find the same before, during and after. It takes a transaction for about 65,000 chunks; one that is killed has done nothing.
    While another process merges, this one does nothing.
    """
    return merging.merge(spare=spare)


def rebuild(*, all_sources: bool = False) -> int:
    """Index anew, from their chunks, the sources whose entry is missing or was made by another tokenizer; return how many were.

    Each has a transaction of its own, so that it can be ended and begun again. A source that is just being ingested is left to that.
    """
    current = LexEntry.objects.filter(
        tokenizer_version=TOKENIZER_VERSION, source__isnull=False
    ).values("source")
    wanted = Source.objects.filter(chunk_count__gt=0).order_by("pk")
    return sum(map(_rebuild, wanted if all_sources else wanted.exclude(pk__in=current)))


def _rebuild(source: Source) -> bool:
    with source.hold() as held, transaction.atomic():
        chunks = list(source.chunks.order_by("ordinal")) if held else []
        if not chunks:
            return False
        first = index(source.pk, [chunk.indexed_text for chunk in chunks])
        for position, chunk in enumerate(chunks, first):
            chunk.position = position
        Chunk.objects.bulk_update(chunks, ["position"], batch_size=1000)
    return True


def _counts(words: str) -> dict[str, int]:
    return {stored(term): repetitions for term, repetitions in query_counts(words).items()}


def _wanted(query: Query) -> TermFilter:
    """Say what the chunks' words must be for the query to admit them: all words of its phrases, and no excluded single word."""
    excluded = [
        terms for phrase in query.excluded if len(terms := [*query_counts(phrase).items()]) == 1
    ]
    return TermFilter(
        required=tuple(dict.fromkeys(term for phrase in query.phrases for term in _counts(phrase))),
        excluded=tuple(stored(term) for [(term, repetitions)] in excluded if repetitions == 1),
    )


def _take_places(count: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT citations_take_places(%s)", [max(1, count)])
        return int(cursor.fetchone()[0])


def _verified(
    query: Query, hits: Sequence[tuple[int, float]], limit: int
) -> tuple[list[ChunkScore], bool]:
    """Keep the hits that a query admits, until there are enough; and say whether a chunk was gone when its text was to be read."""
    kept: list[ChunkScore] = []
    start, step, gone = 0, 4 * limit, False
    while start < len(hits) and len(kept) < limit:
        batch = hits[start : start + step]
        chunks = Chunk.objects.order_by().in_bulk(
            [position for position, _ in batch], field_name="position"
        )
        kept += [
            ChunkScore(position, score)
            for position, score in batch
            if position in chunks and query.admits(chunks[position].indexed_text)
        ]
        gone = gone or len(chunks) < len(batch)
        start, step = start + step, step * 2
    return kept[:limit], gone
