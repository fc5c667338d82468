"""The weights of a cross-encoder's sign in the judge.

No cross-encoder is at hand to learn them with, so a stand-in is drawn by chance: its log-odds are
``RIGHT`` for a passage that answers, plus those of words and meaning, plus noise. ``RIGHT`` is such
that its order alone is as much better than BM25 as a published one is on collections that it was
not made for: 11 % in nDCG@10 (BM25+CE of Thakur et al., "BEIR", 2021). Import it once Django is set
up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Final

import numpy as np
from harness.report import dotted
from queries import OWN, WINDOW, Judged, JudgedQuery, Numbers, balanced, scored

from citations.search import judge
from citations.search.signs import SIGNS

RIGHT: Final = 0.3  # log-odds that a stand-in for a cross-encoder adds to a passage that answers
SHARED: Final = 0.7  # and what it shares with the signs of words and of meaning, for each deviation
READ: Final = {OWN: 20, WINDOW: 5}  # passages that it reads
PAIRS: Final = [  # of the weights of its closeness and its rank
    judge.ReaderWeights(*pair) for pair in product((0.0, 0.1, 0.2, 0.3, 0.5, 0.8), repeat=2)
]
NO_READER: Final = {"closeness": 0.0, "rank": 0.0}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reading:
    """A query, the sums that a judge that did not learn from it gives to its candidates, and the
    log-odds of the stand-in for a cross-encoder.
    """

    query: JudgedQuery
    sums: Numbers
    odds: Numbers
    tried: dict[judge.ReaderWeights, float] = field(default_factory=dict)

    @property
    def set(self) -> str:
        return self.query.set

    def worth(self, weights: judge.ReaderWeights) -> float:
        """Return the sum of its scores with these weights; it is kept."""
        if weights not in self.tried:
            self.tried[weights] = sum(self.scored(weights))
        return self.tried[weights]

    def scored(self, weights: judge.ReaderWeights) -> tuple[float, float]:
        """Return nDCG@10 and hit@1 if it reads the first candidates with these weights."""
        first = np.argsort(-self.sums, kind="stable")[: READ[self.query.kind]]
        shares = np.full(len(self.sums), weights.least)
        shares[first] = weights.shares((1 / (1 + np.exp(-self.odds[first]))).tolist())
        return scored(self.query, self.sums + shares)


def read(
    queries: Sequence[JudgedQuery], made: judge.Judge, right: float = RIGHT
) -> Iterator[Reading]:
    """Read the questions and windows of a set that have a relevant candidate."""
    chance = np.random.default_rng(1)
    for query in queries:
        if query.kind in READ and query.relevant.any():
            order = (made.search if query.kind == OWN else made.live).order
            signs = query.rows[:, [SIGNS.index("words"), SIGNS.index("closeness")]]
            scaled = (signs - signs.mean(axis=0)) / (signs.std(axis=0) + 1e-9)
            noise = chance.normal(size=len(signs))
            odds = right * query.relevant + SHARED * scaled.sum(axis=1) + noise
            yield Reading(query=query, sums=order.shares(query.rows).sum(axis=1), odds=odds)


def best_weights(readings: Sequence[Reading]) -> dict[str, float]:
    """Return the weights with the best order, each set counting the same."""
    counted = np.array(balanced([own.query for own in readings]))
    return asdict(
        max(PAIRS, key=lambda weights: counted @ [own.worth(weights) for own in readings])
    )


def with_reader(
    judged: Judged, readings: Mapping[str, Sequence[Reading]], floors: Mapping[str, judge.Judge]
) -> Iterator[Sequence[object]]:
    """Yield for questions and windows the mean over the sets of each order."""
    knowing_nothing = {name: list(read(judged[name], floors[name], 0.0)) for name in judged}
    for kind, most in READ.items():
        ways: list[list[list[float]]] = [[], [], []]
        for name, made in floors.items():
            weights = (made.search if kind == OWN else made.live).reader
            none = judge.ReaderWeights(**NO_READER)
            pairs = ((readings, none), (readings, weights), (knowing_nothing, weights))
            for way, (all_of, used) in zip(ways, pairs, strict=True):
                own = [each.scored(used) for each in all_of[name] if each.query.kind == kind]
                way.extend([list(np.mean(own, axis=0))] if own else [])
        yield kind, most, len(ways[0]), *(dotted(np.mean(way, axis=0)) for way in ways)
