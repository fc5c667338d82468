"""The judge of relevance: orders candidates, and tells whether any is on the query's subject.

Two heads read the signs of ``signs``. The order is a listwise ranker of gradient-boosted trees
(LambdaMART: Burges, "From RankNet to LambdaRank to LambdaMART", 2010). The likelihood that a
passage is on the subject is a logistic regression over signs that do not depend on how a library
is cut into sources. Both hold for the embedding model that they were trained with and are in the
file that has its name, ``judge_….json``. Questions in languages that a model was not made for, and
searches by words, have the likelihood of ``words_floor.json``, which reads no cosine;
``bench/training/words_floor.py`` writes that. Pure.

A prediction of trees (Friedman, "Greedy function approximation: a gradient boosting machine", 2001)
is the sum of one leaf of each. It is shared out among the signs along each tree's path: a split
adds the difference of the means below and above it (Saabas, 2014), so that the parts add up.

A cross-encoder, if there is one, is one more sign: its order of the best passages, and how far
each is from the best of them. Its weights are learnt beside those of the trees, which know nothing
of it (``bench/training/judge.py``).
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from citations.passages import SignShare
from citations.search import signs
from citations.search.signs import SIGNS, CandidateTable

Numbers = NDArray[np.float64]

BUILT_IN: Final = "all-MiniLM-L6-v2"  # whose judge serves models that have none of their own
WORDS: Final = Path(__file__).with_name("words_floor.json")  # the floor that reads no cosine
CROSS_ENCODER: Final = "cross-encoder"  # the sign of the model that reads passages


class Estimate(NamedTuple):
    """How likely a candidate is on the query's subject (0–1; None: not known), and whether that is
    enough.
    """

    likelihood: float | None = None
    is_likely: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """What the judge says of a candidate: ``order`` (0–1, for comparing the candidates of one
    query), ``likelihood`` (0–1; None if it is not known for the embedding model), and the signs.

    ``is_likely`` is also true where the likelihood is not known.
    """

    order: float
    likelihood: float | None
    is_likely: bool
    base: float
    signs: tuple[str, ...] = ()  # their names,
    values: Sequence[float] = ()  # their values for the candidate,
    added: Sequence[float] = ()  # and what they add to the sum

    @property
    def shares(self) -> tuple[SignShare, ...]:
        return tuple(map(SignShare, self.signs, self.values, self.added))

    @property
    def sum(self) -> float:
        """The sum whose logistic function is ``order``."""
        return self.base + sum(self.added)


@dataclass(frozen=True, slots=True, eq=False)
class TreeEnsemble:
    """All nodes of all trees in one array each; a leaf is its own child.

    Rows go to ``left`` where their sign is at most the threshold. ``value`` is the mean of a
    node's training rows, for a leaf what it adds.
    """

    roots: NDArray[np.int32]
    sign: NDArray[np.int32]
    threshold: Numbers
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Numbers
    depth: int

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read what ``bench/training/judge.py`` writes; signs are numbered by its list of names.

        Raises ``KeyError`` and ``ValueError``.
        """
        columns = np.array([SIGNS.index(name) for name in stored["signs"]], np.int32)
        return cls(
            roots=np.array(stored["roots"], np.int32),
            sign=columns[stored["sign"]],
            threshold=np.array(stored["threshold"], np.float64),
            left=np.array(stored["left"], np.int32),
            right=np.array(stored["right"], np.int32),
            value=np.array(stored["value"], np.float64),
            depth=int(stored["depth"]),
        )

    @property
    def base(self) -> float:
        """The mean prediction."""
        return float(self.value[self.roots].sum())

    def shares(self, rows: Numbers) -> Numbers:
        """Return what each sign adds to each prediction, shape (n, signs); the rest is ``base``."""
        nodes = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        owners = np.broadcast_to(np.arange(len(rows))[:, None], nodes.shape)
        added = np.zeros_like(rows)
        for _ in range(self.depth):
            own = np.take_along_axis(rows, self.sign[nodes], axis=1)
            below = np.where(own <= self.threshold[nodes], self.left[nodes], self.right[nodes])
            change = self.value[below] - self.value[nodes]
            np.add.at(added, (owners, self.sign[nodes]), change)
            nodes = below
        return added


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodModel:
    """A logistic regression over some of the signs."""

    columns: NDArray[np.int64]
    weights: Numbers
    bias: float

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(
            columns=np.array([SIGNS.index(name) for name in stored["signs"]]),
            weights=np.array(stored["weights"], np.float64),
            bias=float(stored["bias"]),
        )

    def predict(self, rows: Numbers) -> Numbers:
        return _logistic(rows[:, self.columns] @ self.weights + self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """How likely candidates are on the query's subject, and how likely one must be to count."""

    likelihood: LikelihoodModel
    least: float

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(
            likelihood=LikelihoodModel.from_json(stored["likelihood"]), least=float(stored["floor"])
        )

    def estimates(self, rows: Numbers) -> list[Estimate]:
        """Estimate from their signs how likely candidates are."""
        likelihoods = self.likelihood.predict(rows).tolist()
        return [Estimate(likelihood, likelihood >= self.least) for likelihood in likelihoods]


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """The weights of a cross-encoder that has read the first passages: of how close a score's
    log-odds are to the best, relative to the worst, and of the reciprocal rank.
    """

    closeness: float
    rank: float

    def shares(self, scores: Sequence[float]) -> Numbers:
        """Return what scores of 0 to 1, one or more, add: 0 for the best, less for the others."""
        limited = np.clip(np.array(scores, np.float64), _EPSILON, 1 - _EPSILON)
        odds = np.log(limited / (1 - limited))
        distances: Numbers = (odds.max() - odds) / max(float(np.ptp(odds)), _EPSILON)
        return self.rank * (1 / signs.ranks(odds) - 1) - self.closeness * distances

    @property
    def least(self) -> float:
        """What a passage that was not read has."""
        return -self.closeness - self.rank


@dataclass(frozen=True, slots=True, eq=False)
class RelevanceHead:
    """The judge of one kind of query. One whose candidates are all below ``floor`` has none that
    is relevant.
    """

    order: TreeEnsemble
    floor: Floor
    reader: ReaderWeights

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(
            order=TreeEnsemble.from_json(stored["order"]),
            floor=Floor.from_json(stored),
            reader=ReaderWeights(**stored["reader"]),
        )

    def read(self, relevances: Sequence[Relevance], scores: Sequence[float]) -> list[Relevance]:
        """Add to the judgements of passages, the best first, the scores of a cross-encoder that has
        read the first of them, one or more; likelihoods stay.
        """
        read = zip(scores, self.reader.shares(scores).tolist(), strict=True)
        unread = repeat((0.0, self.reader.least))
        return [
            _with_sign(relevance, SignShare(CROSS_ENCODER, *own))
            for relevance, own in zip(relevances, chain(read, unread), strict=False)
        ]

    def judge(self, table: CandidateTable, floor: Floor | None) -> list[Relevance]:
        """Judge candidates by a floor; without one all of them count as likely."""
        rows = signs.compute(table)
        shares, used = self.order.shares(rows), np.unique(self.order.sign)
        base, names = self.order.base, tuple(SIGNS[sign] for sign in used)
        orders = _logistic(base + shares.sum(axis=1)).tolist()
        estimates = floor.estimates(rows) if floor else [Estimate()] * len(rows)
        values, added = rows[:, used].tolist(), shares[:, used].tolist()
        return [
            Relevance(order, *estimate, base, names, *own)
            for order, estimate, *own in zip(orders, estimates, values, added, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The judge of questions, and the one of windows of speech, without signs of the source."""

    model: str  # whose cosines it was trained with
    search: RelevanceHead
    live: RelevanceHead

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(
            model=str(stored["model"]),
            search=RelevanceHead.from_json(stored["search"]),
            live=RelevanceHead.from_json(stored["live"]),
        )

    def judge(
        self, table: CandidateTable, *, model: str, is_live: bool = False, by_words: bool = False
    ) -> list[Relevance]:
        """Judge the candidates of a query or window; ``model`` made the cosines. ``by_words``:
        they do not tell how likely a candidate is, and words do.
        """
        head = self.live if is_live else self.search
        own = head.floor if model == self.model else None
        return head.judge(table, floor_of_words() if by_words else own)


@lru_cache(maxsize=8)
def trained(model: str) -> Judge:
    """Return the judge that was trained with an embedding model, else that of the built-in one."""
    path = path_of(model)
    if not path.exists():
        path = path_of(BUILT_IN)
    return Judge.from_json(json.loads(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def floor_of_words() -> Floor:
    """Return the floor where words alone tell how likely a candidate is."""
    return Floor.from_json(json.loads(WORDS.read_text(encoding="utf-8")))


def path_of(model: str) -> Path:
    """Return where the judge of an embedding model is kept."""
    return Path(__file__).with_name(f"judge_{model.rpartition('/')[2]}.json")


def raised(relevance: Relevance, sign: SignShare, log_odds: float, *, floor: float) -> Relevance:
    """Add a sign to a judgement: its share to the order's sum, ``log_odds`` to the likelihood,
    which must then reach ``floor``.
    """
    judgement = _with_sign(relevance, sign)
    if relevance.likelihood is None:
        return judgement
    own = min(max(relevance.likelihood, _EPSILON), 1 - _EPSILON)
    likelihood = float(_logistic(np.float64(math.log(own / (1 - own)) + log_odds)))
    return replace(judgement, likelihood=likelihood, is_likely=likelihood >= floor)


def _with_sign(relevance: Relevance, sign: SignShare) -> Relevance:
    return replace(
        relevance,
        order=float(_logistic(np.float64(relevance.sum + sign.share))),
        signs=(*relevance.signs, sign.name),
        values=(*relevance.values, sign.value),
        added=(*relevance.added, sign.share),
    )


_EPSILON: Final = 1e-9  # a likelihood with finite log-odds


def _logistic(sums: Numbers | np.float64) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-np.clip(sums, -50, 50))))
