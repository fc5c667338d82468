"""The signs by which the judge tells how relevant a passage is to a query. Pure.

All are computed from what a search has at hand: words, vectors, and the passages beside a
candidate. Those for the order do not depend on the scale of the embedding model's cosines.
``bench/training/judge.py`` trains with the same functions.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from transcripts.text.bm25 import DEFAULT

Numbers = NDArray[np.float64]

RRF_K: Final = 60  # as trained, whatever K candidates are fused with
NEIGHBOUR_WEIGHT: Final = 0.35  # weight of each neighbour beside a passage
MIN_SPREAD: Final = 0.1  # of cosines; less tells nothing, and is usual among few candidates
FIRST: Final = 20  # candidates of which a source has a share
BEST: Final = 3  # passages that speak for a source
SIZES: Final = (64, 1_024)  # chunks of the smallest and largest library that the judge tells apart

ORDER: Final = (
    "reciprocal ranks",
    "closeness",
    "closeness with neighbours",
    "rank by meaning",
    "rank by words",
    "words",
    "words with neighbours",
    "coverage",
    "coverage with neighbours",
    "coverage by the title",
    "coverage by the heading",
    "rarest word",
    "strength of words",
    "number of words",
    "agreement of branches",
    "length",
)
OF_SOURCE: Final = ("share of the source", "closeness of the source", "words of the source")
ABSOLUTE: Final = (
    "cosine",
    "cosine with neighbours",
    "best cosine",
    "spread of cosines",
    "size of the library",
)
SIGNS: Final = ORDER + OF_SOURCE + ABSOLUTE


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTable:
    """Measurements of n candidates and t words of a query; row i is candidate i.

    A neighbour that does not exist has a cosine and a BM25 score of NaN. Coverage is shared out
    among words by ``weights`` (idf times repetitions).
    """

    weights: Numbers  # (t,)
    has_word: NDArray[np.bool_]  # (n, t): in the passage
    near_word: NDArray[np.bool_]  # (n, t): in the previous or next passage
    title_word: NDArray[np.bool_]  # (n, t): in the source's title
    heading_word: NDArray[np.bool_]  # (n, t): in the heading path
    bm25: Numbers  # (n,)
    cosine: Numbers  # (n,)
    neighbour_bm25: Numbers  # (n, 2)
    neighbour_cosine: Numbers  # (n, 2)
    length: Numbers  # (n,): words, relative to the library's average
    source: NDArray[np.int64]  # (n,)
    k1: float = DEFAULT.k1  # of BM25
    chunks: int = SIZES[-1]  # that were searched


def compute(table: CandidateTable) -> Numbers:
    """Return the signs of each candidate, shape (n, ``len(SIGNS)``)."""
    n = len(table.bm25)
    if not n:
        return np.zeros((0, len(SIGNS)))
    total = max(float(table.weights.sum()), 1e-9)
    share, most = table.weights / total, total * (table.k1 + 1)
    near_cosine = _smoothed(table.cosine, table.neighbour_cosine)
    near_bm25 = _smoothed(table.bm25, table.neighbour_bm25)
    by_meaning, by_words = ranks(table.cosine), ranks(table.bm25)
    has_words = table.bm25 > 0
    reciprocal = 1 / (RRF_K + by_meaning) + np.where(has_words, 1 / (RRF_K + by_words), 0)
    best_bm25 = max(float(table.bm25.max()), 1e-9)
    columns = [
        reciprocal * (RRF_K + 1) / 2,
        _relative(table.cosine),
        _relative(near_cosine),
        1 / by_meaning,
        np.where(has_words, 1 / by_words, 0),
        table.bm25 / best_bm25,
        near_bm25 / max(float(near_bm25.max()), 1e-9),
        table.has_word @ share,
        (table.has_word | table.near_word) @ share,
        table.title_word @ share,
        table.heading_word @ share,
        (table.has_word * share).max(axis=1, initial=0.0),
        np.full(n, best_bm25 / most),
        np.full(n, np.log1p(len(share))),
        np.full(n, _agreement(by_meaning, by_words, has_words)),
        np.log(np.maximum(table.length, 0.05)),
        *_of_source(table, reciprocal, best_bm25),
        table.cosine,
        near_cosine,
        np.full(n, table.cosine.max()),
        np.full(n, table.cosine.max() - np.median(table.cosine)),
        np.full(n, np.log(np.clip(table.chunks, *SIZES))),
    ]
    return np.column_stack(columns)


def ranks(scores: Numbers) -> Numbers:
    """Return ranks from 1, best first; ties in their order."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _smoothed(own: Numbers, neighbours: Numbers) -> Numbers:
    """Return the weighted mean with both neighbours; a missing one counts as the passage itself."""
    beside = np.where(np.isnan(neighbours), own[:, None], neighbours).sum(axis=1)
    return np.asarray((own + NEIGHBOUR_WEIGHT * beside) / (1 + 2 * NEIGHBOUR_WEIGHT))


def _relative(scores: Numbers) -> Numbers:
    """Scale scores so that the best is 1 and the median 0; small differences stay small."""
    median = float(np.median(scores))
    return np.asarray((scores - median) / max(float(scores.max()) - median, MIN_SPREAD))


def _agreement(by_meaning: Numbers, by_words: Numbers, has_words: NDArray[np.bool_]) -> float:
    """Return the share of the ten best by meaning that are among the ten best by words."""
    both = (by_meaning <= 10) & (by_words <= 10) & has_words
    return float(both.sum()) / min(10, len(by_meaning))


def _of_source(table: CandidateTable, reciprocal: Numbers, best_bm25: float) -> list[Numbers]:
    """Return each candidate's source's share of the best, and the means of its best scores."""
    _, owners = np.unique(table.source, return_inverse=True)
    first = np.argsort(-reciprocal, kind="stable")[:FIRST]
    shares = np.bincount(owners[first], minlength=owners.max() + 1) / len(first)
    cosines = _best_means(_relative(table.cosine), owners)
    words = _best_means(table.bm25, owners) / best_bm25
    return [shares[owners], cosines[owners], words[owners]]


def _best_means(scores: Numbers, owners: NDArray[Any]) -> Numbers:
    """Return the mean of each owner's ``BEST`` best scores; missing ones count as its least."""
    means = np.zeros(owners.max() + 1)
    for owner in range(len(means)):
        own = np.sort(scores[owners == owner])[::-1][:BEST]
        means[owner] = (own.sum() + own[-1] * (BEST - len(own))) / BEST
    return means
