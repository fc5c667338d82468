"""Exact BM25 over a snapshot: the formula of ``transcripts.bm25``, with the number of chunks, their average length and each term's spread over the library."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citations.lexical.postings import Postings
from citations.lexical.snapshot import Entry, Run, Snapshot
from citations.passages import TermScore
from transcripts.bm25 import K1, B, idf, length_norm, score_formula

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class Asked(NamedTuple):
    """A term of the query: how often it is asked for, and its idf."""

    term: str
    repetitions: int
    weight: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """What scores depend on beside the chunk itself."""

    average: float
    asked: tuple[Asked, ...]


def statistics(snapshot: Snapshot, counts: Mapping[str, int]) -> Statistics:
    """Work out the statistics of a query; ``counts`` says how often it has which (stored) term. Terms that nobody says are left out."""
    chunks = snapshot.chunks
    spread = {term: snapshot.containing(term) for term in counts}
    asked = tuple(Asked(term, repetitions, idf(chunks, spread[term])) for term, repetitions in counts.items() if spread[term] > 0)
    return Statistics(average=snapshot.tokens / chunks if chunks else 0.0, asked=asked)


def rank(snapshot: Snapshot, found: Statistics, *, limit: int) -> list[tuple[int, float]]:
    """Return the ``limit`` best places with their scores, best first, equal ones in the order of places."""
    parts = [(entry.first + best, scores) for entry in snapshot.tail for best, scores in [_best(entry, found, _allowed(snapshot, entry), limit)]]
    if not parts:
        return []
    places, scores = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    order = np.lexsort((places, -scores))[:limit]
    return [(int(places[one]), float(scores[one])) for one in order]


def _best(entry: Entry, found: Statistics, allowed: NDArray[np.bool_] | None, limit: int) -> tuple[Places, Floats]:
    """Score every chunk of an entry; return the slots and scores of the best."""
    scores = np.zeros(entry.count)
    norms = length_norms(entry.words.lengths, found.average)
    for term, postings in _asked(entry, found):
        scores[postings.slots] += term.repetitions * contributions(postings.frequencies, norms[postings.slots], term.weight)
    if allowed is not None:
        scores[~allowed] = 0.0
    slots = np.flatnonzero(scores)
    if len(slots) > limit:
        least = np.partition(scores[slots], len(slots) - limit)[len(slots) - limit]
        slots = slots[scores[slots] >= least]
    return slots, scores[slots]


def _asked(entry: Entry, found: Statistics) -> Iterator[tuple[Asked, Postings]]:
    for term in found.asked:
        postings = entry.words.find(term.term)
        if postings is not None:
            yield term, postings


def _allowed(snapshot: Snapshot, entry: Entry) -> NDArray[np.bool_] | None:
    """Say which slots may be found; None: all of them."""
    if snapshot.runs is None and snapshot.places is None:
        return None
    mask = np.ones(entry.count, bool) if snapshot.runs is None else _covered(snapshot.runs, entry.first, entry.count)
    if snapshot.places is not None:
        single = np.zeros(entry.count, bool)
        single[snapshot.places[(snapshot.places >= entry.first) & (snapshot.places < entry.first + entry.count)] - entry.first] = True
        mask &= single
    return mask


def _covered(runs: list[Run], first: int, count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, bool)
    for start, stop in runs:
        mask[max(0, start - first) : max(0, stop - first)] = True
    return mask


def explain(snapshot: Snapshot, found: Statistics, places: Iterable[int]) -> dict[int, tuple[TermScore, ...]]:
    """Say what each term adds to the score of each place, in the order in which they are added."""
    told: dict[int, tuple[TermScore, ...]] = {}
    for place in places:
        entry = next((entry for entry in snapshot.tail if entry.first <= place < entry.first + entry.count), None)
        if entry is not None and (scores := _terms(entry, found, place - entry.first)):
            told[place] = scores
    return told


def _terms(entry: Entry, found: Statistics, slot: int) -> tuple[TermScore, ...]:
    norm = length_norm(int(entry.words.lengths[slot]), found.average)
    scores = []
    for term, postings in _asked(entry, found):
        at = int(np.searchsorted(postings.slots, slot))
        if at < len(postings.slots) and postings.slots[at] == slot:
            frequency = int(postings.frequencies[at])
            score = term.repetitions * score_formula(frequency, norm, term.weight)
            scores.append(TermScore(term=term.term, frequency=frequency, idf=term.weight, score=score))
    return tuple(scores)


# The formula over arrays: the same operations in the same order as transcripts.bm25's, so that the results are the same to the last bit.


def length_norms(lengths: NDArray[Any], average: float) -> Floats:
    """Weigh lengths as ``transcripts.bm25.length_norm`` does."""
    if not average:
        return np.full(len(lengths), K1 * (1 - B))
    return K1 * (1 - B + B * lengths / average)


def contributions(frequencies: NDArray[Any], norms: Floats, weight: float) -> Floats:
    """Score a term in each of several chunks as ``transcripts.bm25.score_formula`` does."""
    counted = frequencies.astype(np.float64)
    return weight * counted * (K1 + 1) / (counted + norms)
