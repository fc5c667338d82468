"""Search by words over the whole library: exact BM25 in plain PostgreSQL.

Every source has an entry in the lexicon, which is found from the moment its transaction ends; merges gather entries into packs, from which a search reads
no more than the blocks of its words. Scores, their order and the statistics behind them (how many chunks there are, how long they are, how many say a
word) are exact at every moment, also between a delete and the merge that sweeps up after it.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import connection, transaction

from citations.errors import SourceNotFound
from citations.filters import Reach
from citations.lexical import ranking, snapshot
from citations.lexical.postings import Words, stored
from citations.models import Chunk, LexEntry, Source
from citations.passages import TermScore
from citations.queries import Query
from transcripts.words import TOKENIZER_VERSION, query_counts

__all__ = ["MOST_VERIFIED", "Scored", "explain", "index", "search"]

MOST_VERIFIED = 5_000  # chunks whose text is looked at for one query's phrases and exclusions


class Scored(NamedTuple):
    """A chunk that a search found: its place (``Chunk.place``), and its score above zero."""

    place: int
    score: float


def index(source_pk: int, texts: Sequence[str]) -> int:
    """Make a source's chunks known, in place of what was known of it, and return the first place: text i is at place first + i.

    Counts from the end of the caller's transaction on, together with what else it stores. Raises ``SourceNotFound`` when the source is gone.
    """
    words = Words.build(texts)
    with transaction.atomic():
        if not Source.objects.select_for_update(no_key=True).filter(pk=source_pk).order_by().values_list("pk"):
            raise SourceNotFound("The source was removed while it was being indexed.")
        LexEntry.objects.filter(source=source_pk).update(source=None)
        first = _take_places(len(texts))
        if texts:
            entry = LexEntry(source_id=source_pk, first=first, count=len(texts), tokens=words.tokens, tokenizer_version=TOKENIZER_VERSION)
            entry.data = words.to_bytes()
            entry.save(force_insert=True)
    return first


def search(query: Query, *, limit: int, reach: Reach) -> list[Scored]:
    """Find the ``limit`` best chunks, best first, equal ones in the order of their places; chunks without any word of the query are left out.

    Phrases and exclusions are verified on the chunks' own text, for the best ``MOST_VERIFIED`` chunks. Statistics are those of the whole library, whatever
    the reach. The places are those of one moment: a source that is replaced in the next has others, and its chunks are to be looked for anew.
    """
    counts = _counts(query)
    if limit <= 0 or not counts or reach.is_empty:
        return []
    seen = snapshot.read(counts, reach)
    found = ranking.statistics(seen, counts)
    if not query.phrases and not query.excluded:
        return [Scored(*hit) for hit in ranking.rank(seen, found, limit=limit)]
    hits = ranking.rank(seen, found, limit=MOST_VERIFIED)
    return _verified(query, [Scored(*hit) for hit in hits], limit)


def explain(query: Query, places: Iterable[int]) -> dict[int, tuple[TermScore, ...]]:
    """Say what each word of a query adds to the scores of chunks; added up in this order, it is exactly the score that ``search`` gives at this moment.

    Places where there is no chunk, or none of the words, are missing.
    """
    counts = _counts(query)
    seen = snapshot.read(counts)
    return ranking.explain(seen, ranking.statistics(seen, counts), places)


def _counts(query: Query) -> dict[str, int]:
    return {stored(term): repetitions for term, repetitions in query_counts(query.words).items()}


def _take_places(count: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT citations_take_places(%s)", [max(1, count)])
        return int(cursor.fetchone()[0])


def _verified(query: Query, hits: list[Scored], limit: int) -> list[Scored]:
    """Keep the hits that a query admits, until there are enough."""
    kept: list[Scored] = []
    step = 4 * limit
    while hits and len(kept) < limit:
        batch, hits = hits[:step], hits[step:]
        texts = dict(Chunk.objects.filter(place__in=[hit.place for hit in batch]).order_by().values_list("place", "text"))
        kept += [hit for hit in batch if query.admits(texts.get(hit.place, ""))]
        step *= 2
    return kept[:limit]
