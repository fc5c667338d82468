"""Exact BM25 over the whole library, in plain PostgreSQL.

Each source has an entry in the lexicon, which is searchable once its transaction ends. Merges
gather entries into packs, of which a search reads only the blocks of its words. Scores, order and
statistics (number and length of chunks, document frequencies) are exact at every moment, also
between a deletion and the merge that sweeps it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection, transaction

from citations.errors import SourceNotFound
from citations.lexical import scoring, snapshot
from citations.lexical.postings import Words, stored
from citations.lexical.query import Query
from citations.lexical.segments import TermFilter
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, LexEntry, Source
from citations.passages import TermScore
from transcripts.tokenizer import TOKENIZER_VERSION, query_counts

MOST_VERIFIED = 5_000  # chunks whose text is verified for a query
_ATTEMPTS = 3  # while chunks are replaced between reading the lexicon and their texts


class ChunkScore(NamedTuple):
    """The position of a chunk (``Chunk.position``), and its score above zero."""

    position: int
    score: float


def index(source_pk: int, texts: Sequence[str]) -> int:
    """Index the chunks of a source, replacing earlier ones; return the first position (text i is at
    first + i).

    Takes effect when the caller's transaction ends. Raises ``SourceNotFound`` when the source is
    gone.
    """
    words = Words.build(texts)
    with transaction.atomic():
        rows = Source.objects.select_for_update(no_key=True).filter(pk=source_pk).order_by()
        if not rows.values_list("pk"):
            raise SourceNotFound("The source was removed while it was being indexed.")
        LexEntry.objects.filter(source=source_pk).update(source=None)
        with connection.cursor() as cursor:
            cursor.execute("SELECT citations_take_places(%s)", [max(1, len(texts))])
            first = int(cursor.fetchone()[0])
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
    """Find the ``limit`` best chunks, best first, ties by position. Chunks without a word of the
    query are left out.

    Phrases and exclusions are verified on the indexed texts of the ``MOST_VERIFIED`` best chunks
    with all words of the phrases. The statistics are those of ``resolved.readable``, whatever the
    filter. Positions are of one moment: a source that is replaced later has others.
    """
    counts, terms = _counts(query.words), _term_filter(query)
    if limit <= 0 or not counts or resolved.is_empty:
        return []
    for _ in range(_ATTEMPTS):
        state = snapshot.read({*counts, *terms.required, *terms.excluded}, resolved)
        if not query.phrases and not query.excluded:
            hits = scoring.rank(state, counts, limit=limit, terms=terms)
            return [ChunkScore(*hit) for hit in hits]
        for breadth in (8 * limit, max(limit, MOST_VERIFIED)):
            hits = scoring.rank(state, counts, limit=breadth, terms=terms)
            verified, is_gone = _verified(query, hits, limit)
            if len(verified) == limit or len(hits) < breadth:
                break
        if not is_gone:
            break
    return verified


def explain(
    query: Query, places: Iterable[int], *, resolved: ResolvedFilter
) -> dict[int, tuple[TermScore, ...]]:
    """Return what each word adds to the scores of chunks.

    Added in this order, it is exactly the score of ``search``. Positions without a chunk or a word,
    and those that may not be read, are missing.
    """
    counts = _counts(query.words)
    return scoring.explain(snapshot.read(counts, resolved), counts, places)


def rebuild(*, all_sources: bool = False) -> int:
    """Re-index sources whose entry is missing or of another tokenizer version, from their chunks;
    return how many.

    Each source has its own transaction, so a rebuild can be resumed. Sources that are being
    ingested are skipped.
    """
    current = LexEntry.objects.filter(tokenizer_version=TOKENIZER_VERSION, source__isnull=False)
    sources = Source.objects.filter(chunk_count__gt=0).order_by("pk")
    if not all_sources:
        sources = sources.exclude(pk__in=current.values("source"))
    return sum(map(_rebuild, sources))


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


def _term_filter(query: Query) -> TermFilter:
    """Return the terms that admitted chunks need or must not have."""
    excluded = [
        terms for phrase in query.excluded if len(terms := [*query_counts(phrase).items()]) == 1
    ]
    return TermFilter(
        required=tuple(dict.fromkeys(term for phrase in query.phrases for term in _counts(phrase))),
        excluded=tuple(stored(term) for [(term, repetitions)] in excluded if repetitions == 1),
    )


def _verified(
    query: Query, hits: Sequence[tuple[int, float]], limit: int
) -> tuple[list[ChunkScore], bool]:
    """Keep admitted hits until there are enough; tell whether a chunk was gone meanwhile."""
    admitted: list[ChunkScore] = []
    start, step, is_gone = 0, 4 * limit, False
    while start < len(hits) and len(admitted) < limit:
        batch = hits[start : start + step]
        chunks = Chunk.objects.order_by().in_bulk(
            [position for position, _ in batch], field_name="position"
        )
        admitted += [
            ChunkScore(position, score)
            for position, score in batch
            if position in chunks and query.admits(chunks[position].indexed_text)
        ]
        is_gone = is_gone or len(chunks) < len(batch)
        start, step = start + step, step * 2
    return admitted[:limit], is_gone
