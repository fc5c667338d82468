"""Exact BM25 over the whole library, in plain PostgreSQL.

Each source has an entry in the lexicon, which is searchable once its transaction ends. Merges
gather entries into packs, of which a search reads only the blocks of its words. Scores, order and
statistics (number and length of chunks, document frequencies) are exact at every moment, also
between a deletion and the merge that sweeps it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import F

from citations.errors import SourceNotFound
from citations.lexical import compounds, merging, scoring, snapshot
from citations.lexical.postings import Words
from citations.lexical.query import Query
from citations.lexical.segments import TermFilter, segments
from citations.lexical.snapshot import Snapshot, Terms
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, LexEntry, Source, SourceQuerySet
from citations.passages import TermScore
from transcripts import conf
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.text.bm25 import QueryWord
from transcripts.text.forms import query_words
from transcripts.text.stemming import stem, stemmed_as
from transcripts.text.terms import Codes, terms_of, worth_before, worth_in_any
from transcripts.text.tokenizer import TOKENIZER_VERSION

logger = logging.getLogger(__name__)

MAX_VERIFIED = 5_000  # chunks whose text is verified for a query
_UNMERGED = 256  # sources that a renewal leaves outside the packs
_ATTEMPTS = 3  # while chunks are replaced between reading the lexicon and their texts


class ChunkScore(NamedTuple):
    """The position of a chunk (``Chunk.position``), and its score above zero."""

    position: int
    score: float


class LexicalHits(NamedTuple):
    """The best chunks, and the words of the query that occur nowhere in what may be read."""

    hits: list[ChunkScore]
    unknown: tuple[str, ...]


def index(source_pk: int, texts: Sequence[str]) -> int:
    """Index the chunks of a source in its language, replacing earlier ones; return the first
    position (text i is at first + i).

    Takes effect when the caller's transaction ends. Raises ``SourceNotFound`` when the source is
    gone.
    """
    with transaction.atomic(savepoint=False):
        rows = Source.objects.select_for_update(no_key=True).filter(pk=source_pk).order_by()
        languages = list(rows.values_list("language", flat=True))
        if not languages:
            raise SourceNotFound("The source was removed while it was being indexed.")
        code = stemmed_as(languages[0])
        words = Words.build(texts, code)
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
                code=code,
                tokenizer_version=TOKENIZER_VERSION,
            )
            entry.data = words.to_bytes()
            entry.save(force_insert=True)
    return first


def search(query: Query, *, limit: int, resolved: ResolvedFilter) -> list[ChunkScore]:
    """Return the hits of ``find``."""
    return find(query, limit=limit, resolved=resolved).hits


def find(query: Query, *, limit: int, resolved: ResolvedFilter) -> LexicalHits:
    """Find the ``limit`` best chunks, best first, ties by position. Chunks without a word of the
    query, in any form that has the same stem in the chunk's language, are left out.

    Phrases and exclusions are of exact words. They are verified on the indexed texts of the
    ``MAX_VERIFIED`` best chunks with all words of the phrases; what follows has no form of the
    excluded words. The statistics are those of ``resolved.readable``, whatever the filter.
    Positions are of one moment: a source that is replaced later has others.
    """
    words, terms = query_words(query.words), _term_filter(query)
    needed = [*words, *_phrase_words(query)]
    if limit <= 0 or not words or resolved.is_empty:
        return LexicalHits([], ())
    for _ in range(_ATTEMPTS):
        state = _read(needed, resolved, terms.excluded)
        if not query.phrases and not query.excluded:
            ranking = scoring.rank(state, words, limit=limit, terms=terms, by=conf.bm25())
            return LexicalHits([ChunkScore(*hit) for hit in ranking.hits], ranking.unknown)
        verified, is_gone = _search_verified(query, state, terms, limit)
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
    words = query_words(query.words)
    state = _read(words, resolved)
    explained = scoring.explain(state, words, places, by=conf.bm25())
    rows = Chunk.objects.filter(position__in=explained).order_by()
    languages = dict(rows.values_list("position", "source__language"))
    return {
        place: tuple(
            replace(score, stem=stem(score.term, languages.get(place, ""))) for score in scores
        )
        for place, scores in explained.items()
    }


def word_table(
    words: Sequence[QueryWord], positions: Sequence[int], *, resolved: ResolvedFilter
) -> scoring.WordTable:
    """Describe the chunks at ascending positions by the words of a query."""
    state = _read(words, resolved)
    return scoring.table(state, words, positions, by=conf.bm25())


def _read(
    words: Sequence[QueryWord], resolved: ResolvedFilter, excluded: Sequence[str] = ()
) -> Snapshot:
    """Read what a search for words needs, their forms and the compounds with them, too."""
    within: Terms = {}

    def terms(codes: Codes) -> Terms:
        own = {word: terms_of(word, codes) for word in excluded}
        own |= {word.text: worth_in_any(word, codes) for word in words}
        return own | {word: {**compound, **own[word]} for word, compound in within.items()}

    def before(codes: Codes) -> Terms:
        own = {word: terms_of(word, codes) for word in excluded}
        return own | {word.text: worth_before(word, codes) for word in words}

    state = snapshot.read(terms, resolved, before=before)
    within = compounds.find(words, state)
    return snapshot.read(terms, resolved, before=before) if within else state


def shares(words: Mapping[int, Iterable[str]], *, least: int = 1) -> dict[int, dict[str, float]]:
    """Return for each collection in which share of its chunks its words occur, 0 to 1; collections
    with fewer than ``least`` chunks are left out.
    """
    if not words:
        return {}
    words = {pk: [*own] for pk, own in words.items()}
    every = {*chain.from_iterable(words.values())}
    resolved = ResolvedFilter(
        sources=None, chunks=1, readable=frozenset(words), narrows_sources=False
    )
    state = snapshot.read(lambda codes: {word: terms_of(word, codes) for word in every}, resolved)
    parts = {pk: snapshot.narrowed(state, runs) for pk, runs in snapshot.runs_of(words).items()}
    shares: dict[int, dict[str, float]] = {}
    for pk, part in parts.items():
        if part.chunks >= least:
            own = {word: state.terms[word] for word in words[pk]}
            within = segments(replace(part, terms=own, before=own))
            counts = {word: sum(each.containing(word) for each in within) for word in own}
            shares[pk] = {word: count / part.chunks for word, count in counts.items()}
    return shares


def outdated(sources: SourceQuerySet) -> SourceQuerySet:
    """Return the sources whose entry is missing or of another tokenizer version."""
    current = LexEntry.objects.filter(tokenizer_version=TOKENIZER_VERSION, source__isnull=False)
    return sources.filter(chunk_count__gt=0).exclude(pk__in=current.values("source"))


def renew(on_progress: Callable[[int, int], object] = lambda done, total: None) -> int:
    """Index outdated sources again, from their chunks, unless another process does; return how
    many. ``on_progress`` is called with how many are done, and how many there were.

    Searches find each as it was until then. Each source has its own transaction, so a killed
    renewal is continued by the next. Sources that are being ingested are skipped: the next renewal
    takes them.
    """
    with locks.hold(Lock.LEXICON_RENEWAL) as is_held:
        keys = [*outdated(Source.objects.all()).values_list("pk", flat=True)] if is_held else []
        done = 0
        for key in sorted(keys):
            done += _renew(Source(pk=key))
            on_progress(done, len(keys))
            if done % _UNMERGED == 0:
                merging.merge()
    if done:
        logger.info("The words of %s sources were indexed again.", done)
        merging.merge()
    return done


def _renew(source: Source) -> bool:
    with source.hold() as is_held, transaction.atomic():
        chunks = list(source.chunks.order_by("ordinal")) if is_held else []
        if not chunks:
            return False
        first = index(source.pk, [chunk.indexed_text for chunk in chunks])
        source.chunks.update(position=first + F("ordinal"))
    return True


def _term_filter(query: Query) -> TermFilter:
    """Return what the index can decide about a query's phrases and exclusions by words alone.

    A chunk without a word of a phrase, in any form, cannot have the phrase. A chunk without the
    word that -rain excludes cannot be excluded by it; one with it may have another form, "rains",
    and must be read. -"rain dance" says nothing of its words, which may occur apart.
    """
    excluded = [words for phrase in query.excluded if len(words := query_words(phrase)) == 1]
    return TermFilter(
        required=tuple(dict.fromkeys(word.text for word in _phrase_words(query))),
        excluded=tuple(word.text for [word] in excluded if word.repetitions == 1),
    )


def _phrase_words(query: Query) -> list[QueryWord]:
    """Return the words without which a chunk cannot have the phrases: “c++” if it has no others."""
    phrases = map(query_words, query.phrases)
    return [
        word
        for words in phrases
        for word in [word for word in words if word.beyond is None] or words
    ]


def _search_verified(
    query: Query, state: Snapshot, terms: TermFilter, limit: int
) -> tuple[LexicalHits, bool]:
    """Search, and compare the hits with their text, as the index knows stems and no order of words.

    Also return whether a chunk was deleted meanwhile.
    """
    words, needed = query_words(query.words), replace(terms, excluded=())
    by = conf.bm25()
    for breadth in (8 * limit, max(limit, MAX_VERIFIED)):
        hits, unknown = scoring.rank(state, words, limit=breadth, terms=needed, by=by)
        verified, is_gone = _verified(query, hits, limit)
        if len(verified) == limit or len(hits) < breadth:
            return LexicalHits(verified, unknown), is_gone
    if not terms.excluded:
        return LexicalHits(verified, unknown), is_gone
    hits, _ = scoring.rank(state, words, limit=breadth, terms=terms, by=by)
    others, more_gone = _verified(query, hits, limit)
    best = sorted({*verified, *others}, key=lambda hit: (-hit.score, hit.position))
    return LexicalHits(best[:limit], unknown), is_gone or more_gone


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
