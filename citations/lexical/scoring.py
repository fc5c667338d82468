"""Exact BM25 over a snapshot: the formula of ``transcripts.text.bm25`` with the statistics of what
the caller may read.

Few of the chunks with a word of the query are scored. Each word has a bound in each segment, so
words that together cannot lift a chunk among the best are looked up only for chunks that other
words have raised (MaxScore: Turtle and Flood, "Query evaluation: strategies and optimizations",
1995). The rest is scored in double precision, term by term in the order of the query.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citations.lexical.postings import Postings
from citations.lexical.segments import LexicalSegment, Mask, Slots, TermFilter, allowed, segments
from citations.lexical.snapshot import Snapshot
from citations.passages import TermScore
from transcripts.text.bm25 import (
    MIN_NORM,
    Parameters,
    QueryWord,
    idf,
    length_norm,
    score_formula,
    weights,
)

Floats = NDArray[np.float64]
ApproximateScores = NDArray[np.float32]

FEW = 64  # chunks that are scored without further pruning
_ROUNDING = 1e-6  # the relative error of a rough score is below this for each term


class QueryTerm(NamedTuple):
    """A word of the query, its repetitions, and its idf, or what that is above a general word's."""

    word: str
    repetitions: int
    weight: float
    by: Parameters

    @property
    def most(self) -> float:
        """The score that no chunk quite reaches."""
        return self.repetitions * self.weight * (self.by.k1 + 1)

    def score(self, frequency: float, norm: float) -> float:
        return self.repetitions * score_formula(frequency, norm, self.weight, self.by)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The average length, the query's terms in their order, and the constants of the formula."""

    average: float
    terms: tuple[QueryTerm, ...]
    by: Parameters

    def norm(self, length: int) -> float:
        return length_norm(length, self.average, self.by)


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """What n chunks have of the t words of a query; a chunk without any has the length 1."""

    weights: Floats  # (t,): idf times repetitions
    frequencies: Floats  # (n, t)
    scores: Floats  # (n,): BM25
    lengths: Floats  # (n,): words, relative to the average


class Ranking(NamedTuple):
    """The best positions with their scores, and the query's words that are in no chunk at all."""

    hits: list[tuple[int, float]]
    unknown: tuple[str, ...]


class Term(NamedTuple):
    """A term within a segment: its postings, and the most that it adds to a score."""

    query_term: QueryTerm
    postings: Postings
    bound: float


def statistics(
    snapshot: Snapshot, within: Sequence[LexicalSegment], words: Sequence[QueryWord], by: Parameters
) -> CorpusStatistics:
    """Return the statistics of a query's words, without those that add nothing to any chunk."""
    spread = {word.text: sum(each.containing(word.text) for each in within) for word in words}
    weight = weights(words, spread, snapshot.chunks)
    terms = tuple(
        QueryTerm(word.text, word.repetitions, weight[word.text], by)
        for word in words
        if word.text in weight
    )
    average = snapshot.tokens / snapshot.chunks if snapshot.chunks else 0.0
    return CorpusStatistics(average=average, terms=terms, by=by)


def rank(
    snapshot: Snapshot, words: Sequence[QueryWord], *, limit: int, terms: TermFilter, by: Parameters
) -> Ranking:
    """Find the ``limit`` best positions, best first, ties by position."""
    searched = segments(snapshot)
    corpus, best = statistics(snapshot, searched, words, by), TopHits(limit)
    bounded = [(segment, _terms(segment, corpus)) for segment in searched]
    for segment, own in sorted(bounded, key=lambda pair: -sum(term.bound for term in pair[1])):
        if own and sum(term.bound for term in own) >= best.least * (1 - _ROUNDING):
            _search(segment, own, corpus, best, allowed(snapshot, segment, terms))
    known = {term.word for term in corpus.terms}
    unknown = (word.text for word in words if word.beyond is None and word.text not in known)
    return Ranking(best.hits, tuple(unknown))


def explain(
    snapshot: Snapshot, words: Sequence[QueryWord], positions: Iterable[int], *, by: Parameters
) -> dict[int, tuple[TermScore, ...]]:
    """Return what each term adds to the score of each position, in the order of addition."""
    searched, requested = segments(snapshot), np.array(sorted(set(positions)), np.int64)
    corpus = statistics(snapshot, searched, words, by)
    explained: dict[int, tuple[TermScore, ...]] = {}
    for segment in searched:
        for slot in segment.inside(requested):
            norm = corpus.norm(int(segment.lengths[slot]))
            scores = tuple(
                TermScore(
                    term=term.word,
                    frequency=math.ceil(frequency),
                    idf=term.weight,
                    score=term.score(frequency, norm),
                )
                for term in corpus.terms
                if term.word in segment.postings
                and (frequency := float(segment.postings[term.word].at(np.array([slot]))[0]))
            )
            if scores:
                explained[int(segment.positions(slot))] = scores
    return explained


def table(
    snapshot: Snapshot, words: Sequence[QueryWord], positions: Sequence[int], *, by: Parameters
) -> WordTable:
    """Describe the chunks at ascending positions by a query's words."""
    searched, requested = segments(snapshot), np.array(positions, np.int64)
    corpus = statistics(snapshot, searched, words, by)
    columns = {word.text: column for column, word in enumerate(words)}
    by_word = {term.word: term.repetitions * term.weight for term in corpus.terms}
    absent = idf(snapshot.chunks, 0)
    described = WordTable(
        weights=np.array(
            [
                by_word.get(word.text, 0 if word.beyond else word.repetitions * absent)
                for word in words
            ]
        ),
        frequencies=np.zeros((len(positions), len(words))),
        scores=np.zeros(len(positions)),
        lengths=np.ones(len(positions)),
    )
    for segment in searched:
        slots = segment.inside(requested)
        rows = requested.searchsorted(segment.positions(slots))
        described.scores[rows] = _scores(segment, corpus, slots)
        described.lengths[rows] = segment.lengths[slots] / (corpus.average or 1.0)
        for word, postings in segment.postings.items():
            if word in columns:
                described.frequencies[rows, columns[word]] = postings.at(slots)
    return described


# The best


class TopHits:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._positions = np.empty(0, np.int64)
        self._scores = np.empty(0)
        self.floor = 0.0  # a score that ``limit`` chunks are known to reach

    @property
    def least(self) -> float:
        """The score that a chunk must reach to be among the best."""
        is_full = len(self._scores) == self.limit
        return max(self.floor, float(self._scores[-1])) if is_full else self.floor

    @property
    def hits(self) -> list[tuple[int, float]]:
        return list(zip(self._positions.tolist(), self._scores.tolist(), strict=True))

    def add(self, positions: NDArray[np.int64], scores: Floats) -> None:
        """Keep the best of the old and new hits; no position comes twice."""
        good = np.flatnonzero(scores >= max(self.least, np.nextafter(0, 1)))
        positions = np.concatenate((self._positions, positions[good]))
        scores = np.concatenate((self._scores, scores[good]))
        order = np.lexsort((positions, -scores))[: self.limit]
        self._positions, self._scores = positions[order], scores[order]


# One segment


def _terms(segment: LexicalSegment, corpus: CorpusStatistics) -> list[Term]:
    """Return a segment's terms, those with the highest bound first."""
    terms = [
        Term(query_term, postings, _bound(segment, postings, query_term, corpus))
        for query_term in corpus.terms
        if (postings := segment.postings.get(query_term.word)) is not None
    ]
    return sorted(terms, key=lambda term: -term.bound)


def _bound(
    segment: LexicalSegment, postings: Postings, query_term: QueryTerm, corpus: CorpusStatistics
) -> float:
    skyline = segment.skylines.get(query_term.word)
    if not skyline:
        slots, frequencies = postings.pairs()
        norm = corpus.norm(int(segment.lengths[slots].min()))
        return query_term.score(float(frequencies.max()), norm)
    base, slope = corpus.norm(0), _slope(corpus)
    most: float = max(
        frequency / (frequency + base + slope * length) for frequency, length in skyline
    )
    return query_term.most * most


def _slope(corpus: CorpusStatistics) -> float:
    """Return what each word of a chunk adds to its length norm."""
    return corpus.by.k1 * corpus.by.b / corpus.average if corpus.average else 0.0


def _search(
    segment: LexicalSegment,
    terms: Sequence[Term],
    corpus: CorpusStatistics,
    best: TopHits,
    mask: Mask | None,
) -> None:
    if mask is not None:
        chosen = np.flatnonzero(mask)
        if len(chosen) * 16 < segment.size or len(chosen) <= FEW:
            return _score_exactly(segment, corpus, best, chosen)
    norms = _norms(segment, corpus)
    if not best.least:
        best.floor = _floor(segment, terms, corpus, norms, best.limit, mask)
    least = best.least * (1 - _ROUNDING * (len(terms) + 4))
    # What the terms from each one on can add; a chunk needs one of the leading terms.
    rests = [*accumulate((term.bound for term in reversed(terms)), initial=0.0)][::-1]
    leading = sum(rest >= least for rest in rests[:-1])
    slots, rough = _leading_candidates(segment, terms[:leading], norms, least - rests[leading])
    if mask is not None:
        inside = mask[slots]
        slots, rough = slots[inside], rough[inside]
    for term, rest in zip(terms[leading:], rests[leading + 1 :], strict=True):
        if len(slots) <= FEW:
            return _score_exactly(segment, corpus, best, slots)
        rough = rough + _approximate_scores(term.query_term, term.postings.at(slots), norms[slots])
        good = rough >= least - rest
        slots, rough = slots[good], rough[good]
    return _score_exactly(segment, corpus, best, _prune(slots, rough, best.limit, len(terms)))


def _score_exactly(
    segment: LexicalSegment, corpus: CorpusStatistics, best: TopHits, slots: Slots
) -> None:
    if len(slots):
        best.add(segment.positions(slots), _scores(segment, corpus, slots))


def _floor(
    segment: LexicalSegment,
    terms: Sequence[Term],
    corpus: CorpusStatistics,
    norms: ApproximateScores,
    limit: int,
    mask: Mask | None,
) -> float:
    """Return a score that ``limit`` promising chunks reach, or 0 if that is not easily known."""
    promising: list[Slots] = []
    for term in terms:
        slots, frequencies = term.postings.pairs()
        if mask is not None:
            inside = mask[slots]
            slots, frequencies = slots[inside], frequencies[inside]
        rough = _approximate_scores(term.query_term, frequencies, norms[slots])
        promising.append(_prune(slots, rough, limit + FEW // 2, 1)[: 4 * limit + FEW])
        if sum(map(len, promising)) >= 2 * limit:
            break
    candidates = np.unique(np.concatenate(promising))
    if len(candidates) < limit:
        return 0.0
    scores = _scores(segment, corpus, candidates)
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _prune(slots: Slots, rough: ApproximateScores, limit: int, terms: int) -> Slots:
    """Drop chunks whose rough score is not among the best."""
    if len(slots) <= 2 * limit:
        return slots
    least = float(np.partition(rough, len(rough) - limit)[len(rough) - limit])
    good: Slots = slots[rough >= least * (1 - 2 * _ROUNDING * (terms + 4))]
    return good


def _leading_candidates(
    segment: LexicalSegment, terms: Sequence[Term], norms: ApproximateScores, least: float
) -> tuple[Slots, ApproximateScores]:
    """Return chunks with any of these terms, and their rough scores, where at least ``least``."""
    if len(terms) == 1:
        slots, frequencies = terms[0].postings.pairs(_fewest(terms[0].query_term, least))
        rough = _approximate_scores(terms[0].query_term, frequencies, norms[slots])
        good = np.flatnonzero(rough >= least)
        return slots[good], rough[good]
    sums: ApproximateScores = np.zeros(segment.size, np.float32)
    for term in terms:
        slots, frequencies = term.postings.pairs()
        sums[slots] += _approximate_scores(term.query_term, frequencies, norms[slots])
    reached: Slots = np.flatnonzero(sums >= least) if least > 0 else np.flatnonzero(sums)
    return reached, sums[reached]


def _fewest(query_term: QueryTerm, least: float) -> int:
    """Return how often the shortest chunk must have a term for it to add at least ``least``."""
    most, norm = query_term.most, query_term.by.k1 * (1 - query_term.by.b)
    if least <= 0:
        return 1
    if least >= most:
        return 1 << 31
    return max(1, int(least * norm / (most - least) * (1 - _ROUNDING)))


# The formula over arrays


def _scores(segment: LexicalSegment, corpus: CorpusStatistics, slots: Slots) -> Floats:
    """Score chunks as ``transcripts.text.bm25``, operation by operation, for identical bits."""
    norms = _exact_norms(segment.lengths[slots], corpus)
    scores = np.zeros(len(slots))
    for query_term in corpus.terms:
        if query_term.word in segment.postings:
            frequencies = segment.postings[query_term.word].at(slots).astype(np.float64)
            score = query_term.weight * frequencies * (corpus.by.k1 + 1) / (frequencies + norms)
            scores += query_term.repetitions * score
    return scores


def _exact_norms(lengths: NDArray[Any], corpus: CorpusStatistics) -> Floats:
    if not corpus.average:
        return np.full(len(lengths), corpus.norm(0))
    k1, b = corpus.by.k1, corpus.by.b
    norms = k1 * (1 - b + b * lengths.astype(np.float64) / corpus.average)
    return np.maximum(norms, MIN_NORM)


def _approximate_scores(
    query_term: QueryTerm, frequencies: NDArray[Any], norms: ApproximateScores
) -> ApproximateScores:
    counted = frequencies.astype(np.float32)
    scores: ApproximateScores = counted * np.float32(query_term.most)
    counted += norms
    scores /= counted
    return scores


def _norms(segment: LexicalSegment, corpus: CorpusStatistics) -> ApproximateScores:
    norms: ApproximateScores = segment.lengths * np.float32(_slope(corpus))
    norms += np.float32(corpus.norm(0))
    return norms
