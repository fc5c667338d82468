"""Exact BM25 over a snapshot: the formula of ``transcripts.bm25``, with the number of chunks, their average length and each term's spread over the library.

Of all chunks that say a word of the query only few are scored. A score is a sum over words, and of each word a bound is known for each part: words that
together cannot lift a chunk among the best need not be looked up until another word has brought the chunk up (Turtle and Flood, "Query evaluation:
strategies and optimizations", 1995). What is left is scored in double precision, term by term in the order of the query.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citations.caches import CACHE
from citations.lexical.postings import Postings
from citations.lexical.segments import LexicalSegment, Mask, Slots, TermFilter, allowed, parts
from citations.lexical.snapshot import Snapshot
from citations.passages import TermScore
from transcripts.bm25 import K1, B, idf, length_norm, score_formula

Floats = NDArray[np.float64]
Rough = NDArray[np.float32]

FEW = 64  # chunks that are scored at once, rather than looked at more closely
_PAIR = struct.Struct("<II")
_ROUNDING = 1e-6  # a sum of rough scores errs by less than this share of it for each term


class QueryTerm(NamedTuple):
    """A term of the query: how often it is asked for, and its idf."""

    term: str
    repetitions: int
    weight: float

    def score(self, frequency: int, norm: float) -> float:
        """Score a chunk that says it."""
        return self.repetitions * score_formula(frequency, norm, self.weight)


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """What scores depend on beside the chunk itself. Terms stand in the order of the query."""

    average: float
    asked: tuple[QueryTerm, ...]


class Term(NamedTuple):
    """A term within a part: where it is said, and the most that it adds to any score."""

    asked: QueryTerm
    postings: Postings
    bound: float


def statistics(snapshot: Snapshot, counts: Mapping[str, int]) -> CorpusStatistics:
    """Work out the statistics of a query; ``counts`` says how often it has which (stored) term. Terms that nobody says are left out."""
    chunks = snapshot.chunks
    spread = {term: snapshot.containing(term) for term in counts}
    asked = tuple(
        QueryTerm(term, repetitions, idf(chunks, spread[term]))
        for term, repetitions in counts.items()
        if spread[term] > 0
    )
    return CorpusStatistics(average=snapshot.tokens / chunks if chunks else 0.0, asked=asked)


def rank(
    snapshot: Snapshot, counts: Mapping[str, int], *, limit: int, wanted: TermFilter
) -> list[tuple[int, float]]:
    """Return the ``limit`` best places with their scores, best first, equal ones in the order of places."""
    found, best = statistics(snapshot, counts), Best(limit)
    weighed = [
        (part, _terms(part, found))
        for part in parts(snapshot, {*counts, *wanted.required, *wanted.excluded})
    ]
    for part, terms in sorted(weighed, key=lambda pair: -sum(term.bound for term in pair[1])):
        if terms and sum(term.bound for term in terms) >= best.least * (1 - _ROUNDING):
            _search(part, terms, found, best, allowed(snapshot, part, wanted))
    return best.hits


def explain(
    snapshot: Snapshot, counts: Mapping[str, int], places: Iterable[int]
) -> dict[int, tuple[TermScore, ...]]:
    """Say what each term adds to the score of each place, in the order in which they are added."""
    found, asked_for = statistics(snapshot, counts), np.array(sorted(set(places)), np.int64)
    told: dict[int, tuple[TermScore, ...]] = {}
    for part in parts(snapshot, counts):
        mask = allowed(snapshot, part, TermFilter())
        slots = part.inside(asked_for)
        for slot in slots if mask is None else slots[mask[slots]]:
            if scores := _explained(part, found, slot):
                told[int(part.places(slot))] = scores
    return told


def _explained(part: LexicalSegment, found: CorpusStatistics, slot: int) -> tuple[TermScore, ...]:
    norm = length_norm(int(part.lengths[slot]), found.average)
    said = [
        (asked, int(part.postings[asked.term].at(np.array([slot]))[0]))
        for asked in found.asked
        if asked.term in part.postings
    ]
    return tuple(
        TermScore(
            term=asked.term, frequency=times, idf=asked.weight, score=asked.score(times, norm)
        )
        for asked, times in said
        if times
    )


# The best


class Best:
    """The best places so far."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._places = np.empty(0, np.int64)
        self._scores = np.empty(0)
        self.floor = 0.0  # that many chunks are known to resolved this

    @property
    def limit(self) -> int:
        """How many are wanted."""
        return self._limit

    @property
    def least(self) -> float:
        """The score that a chunk has to resolved: 0 as long as any will do."""
        return (
            max(self.floor, float(self._scores[-1]))
            if len(self._scores) == self._limit
            else self.floor
        )

    @property
    def hits(self) -> list[tuple[int, float]]:
        """The best, best first."""
        return list(zip(self._places.tolist(), self._scores.tolist(), strict=True))

    def add(self, places: NDArray[np.int64], scores: Floats) -> None:
        """Take what is among the best; no place twice."""
        good = np.flatnonzero(scores >= max(self.least, np.nextafter(0, 1)))
        places, scores = (
            np.concatenate((self._places, places[good])),
            np.concatenate((self._scores, scores[good])),
        )
        order = np.lexsort((places, -scores))[: self._limit]
        self._places, self._scores = places[order], scores[order]


# One part


def _terms(part: LexicalSegment, found: CorpusStatistics) -> list[Term]:
    """Return a part's terms, those that can add the most first."""
    terms = []
    for asked in found.asked:
        postings = part.postings.get(asked.term)
        if postings is not None:
            terms.append(Term(asked, postings, _bound(part, postings, asked, found.average)))
    return sorted(terms, key=lambda term: -term.bound)


def _bound(part: LexicalSegment, postings: Postings, asked: QueryTerm, average: float) -> float:
    sky = part.skies.get(asked.term)
    if not sky:
        slots, frequencies = postings.pairs()
        return asked.score(
            int(frequencies.max()), length_norm(int(part.lengths[slots].min()), average)
        )
    base, slope = length_norm(0, average), K1 * B / average if average else 0.0
    most: float = max(
        [
            frequency / (frequency + base + slope * length)
            for frequency, length in _PAIR.iter_unpack(sky)
        ]
    )
    return asked.repetitions * asked.weight * (K1 + 1) * most


def _search(
    part: LexicalSegment,
    terms: Sequence[Term],
    found: CorpusStatistics,
    best: Best,
    mask: Mask | None,
) -> None:
    """Add a part's best chunks."""
    if mask is not None:
        chosen = np.flatnonzero(mask)
        if len(chosen) * 16 < part.size or len(chosen) <= FEW:
            return _settle(part, found, best, chosen)
    norms = _norms(part, found.average)
    if not best.least:
        best.floor = _floor(part, terms, found, norms, best.limit, mask)
    least = best.least * (1 - _ROUNDING * (len(terms) + 4))
    rests = [*accumulate((term.bound for term in reversed(terms)), initial=0.0)][
        ::-1
    ]  # what the terms from here on can add
    leading = sum(
        rest >= least for rest in rests[:-1]
    )  # a chunk that says none of these terms cannot resolved it
    slots, rough = _brought_up(part, terms[:leading], norms, least - rests[leading])
    if mask is not None:
        inside = mask[slots]
        slots, rough = slots[inside], rough[inside]
    for term, rest in zip(terms[leading:], rests[leading + 1 :], strict=True):
        if len(slots) <= FEW:
            return _settle(part, found, best, slots)
        rough = rough + _rough(term.asked, term.postings.at(slots), norms[slots])
        good = rough >= least - rest
        slots, rough = slots[good], rough[good]
    return _settle(part, found, best, _thinned(slots, rough, best.limit, len(terms)))


def _settle(part: LexicalSegment, found: CorpusStatistics, best: Best, slots: Slots) -> None:
    """Score chunks exactly and keep what is good."""
    if len(slots):
        best.add(part.places(slots), _scores(part, found, slots))


def _floor(
    part: LexicalSegment,
    terms: Sequence[Term],
    found: CorpusStatistics,
    norms: Rough,
    limit: int,
    mask: Mask | None,
) -> float:
    """Return a score that ``limit`` chunks of the part resolved: 0 if that is not easily known. The most promising chunks of the best terms are scored for it."""
    promising: list[Slots] = []
    for term in terms:
        slots, frequencies = term.postings.pairs()
        if mask is not None:
            inside = mask[slots]
            slots, frequencies = slots[inside], frequencies[inside]
        promising.append(
            _thinned(slots, _rough(term.asked, frequencies, norms[slots]), limit + FEW // 2, 1)[
                : 4 * limit + FEW
            ]
        )
        if sum(map(len, promising)) >= 2 * limit:
            break
    candidates = np.unique(np.concatenate(promising))
    if len(candidates) < limit:
        return 0.0
    scores = _scores(part, found, candidates)
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _thinned(slots: Slots, rough: Rough, limit: int, terms: int) -> Slots:
    """Leave out what is, by its whole rough score, not among the best."""
    if len(slots) <= 2 * limit:
        return slots
    least = float(np.partition(rough, len(rough) - limit)[len(rough) - limit])
    good: Slots = slots[rough >= least * (1 - 2 * _ROUNDING * (terms + 4))]
    return good


def _brought_up(
    part: LexicalSegment, terms: Sequence[Term], norms: Rough, least: float
) -> tuple[Slots, Rough]:
    """Return the chunks that say any of these terms, with what the terms add, where that is at least so much."""
    if len(terms) == 1:
        slots, frequencies = terms[0].postings.pairs(_fewest(terms[0].asked, least, norms))
        rough = _rough(terms[0].asked, frequencies, norms[slots])
        good = np.flatnonzero(rough >= least)
        return slots[good], rough[good]
    sums: Rough = np.zeros(part.size, np.float32)
    for term in terms:
        slots, frequencies = term.postings.pairs()
        sums[slots] += _rough(term.asked, frequencies, norms[slots])
    reached: Slots = np.flatnonzero(sums >= least) if least > 0 else np.flatnonzero(sums)
    return reached, sums[reached]


def _fewest(asked: QueryTerm, least: float, norms: Rough) -> int:
    """Return how often a chunk must at least say a term for that to add so much, were it the shortest chunk."""
    most, norm = asked.repetitions * asked.weight * (K1 + 1), K1 * (1 - B)
    if least <= 0:
        return 1
    if least >= most:
        return 1 << 31
    return max(1, int(least * norm / (most - least) * (1 - _ROUNDING)))


# The formula over arrays


def _scores(part: LexicalSegment, found: CorpusStatistics, slots: Slots) -> Floats:
    """Score chunks: the operations of ``transcripts.bm25`` in the same order, so that the results are the same to the last bit."""
    norms = _exact_norms(part.lengths[slots], found.average)
    scores = np.zeros(len(slots))
    for asked in found.asked:
        if asked.term in part.postings:
            frequencies = part.postings[asked.term].at(slots).astype(np.float64)
            scores += asked.repetitions * (
                asked.weight * frequencies * (K1 + 1) / (frequencies + norms)
            )
    return scores


def _exact_norms(lengths: NDArray[Any], average: float) -> Floats:
    """Weigh lengths as ``transcripts.bm25.length_norm`` does."""
    return (
        K1 * (1 - B + B * lengths.astype(np.float64) / average)
        if average
        else np.full(len(lengths), K1 * (1 - B))
    )


def _rough(asked: QueryTerm, frequencies: NDArray[Any], norms: Rough) -> Rough:
    counted = frequencies.astype(np.float32)
    scores: Rough = counted * np.float32(asked.repetitions * asked.weight * (K1 + 1))
    counted += norms
    scores /= counted
    return scores


def _norms(part: LexicalSegment, average: float) -> Rough:
    """Weigh the lengths of all of a part's chunks, or remember how they were weighed."""
    key = ("norms", *part.key)
    known, norms = CACHE.get(key) or (None, None)
    if norms is None or known != average:
        norms = _exact_norms(part.lengths, average).astype(np.float32)
        CACHE.keep(key, (average, norms), norms.nbytes)
    return norms
