"""Retrieval metrics: the rule of relevance, and the usual scores. Pure."""

import math
import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from statistics import fmean

from citations.evaluation.gold import Gold, Range


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLocation:
    """The location of a passage: its source, and its seconds or pages (both included)."""

    source: str
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The quality of a ranking, or the mean of several; each value 0 to 1."""

    ndcg10: float
    hit1: float
    hit5: float
    recall5: float
    recall10: float
    mrr10: float


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """The mean change of a score and its 95 % confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def is_loss(self) -> bool:
        """Whether the score fell significantly."""
        return self.high < 0


def is_relevant(location: GoldLocation, gold: Gold) -> bool:
    """Tell whether a passage shares half of itself, or of a gold range, with such a range."""
    if location.source != gold.source:
        return False
    if gold.pages:
        # Pages 3 to 4 are two whole pages.
        last = location.page if location.last_page is None else location.last_page
        return (
            location.page is not None
            and last is not None
            and any(
                _shares((location.page, last + 1), (first, end + 1)) for first, end in gold.pages
            )
        )
    return (
        location.start is not None
        and location.end is not None
        and any(_shares((location.start, location.end), answer) for answer in gold.ranges)
    )


def score(relevances: Sequence[bool], relevant: int) -> Scores:
    """Score a ranking: ``relevances`` tells which ranks answer, ``relevant`` how many passages
    would (at least 1).

    nDCG with gains 0 and 1 and discount log2(rank + 1): Järvelin and Kekäläinen, "Cumulated
    gain-based evaluation of IR techniques" (2002). The ideal ranking has all relevant passages
    first. Other scores are cut at the rank in their name.
    """
    if relevant < 1:
        raise ValueError("nothing is relevant, so nothing can be scored")
    hits = [rank for rank, is_hit in enumerate(relevances[:10], start=1) if is_hit]
    gain = sum(1 / math.log2(rank + 1) for rank in hits)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, 10) + 1))
    first = hits[0] if hits else None
    return Scores(
        ndcg10=gain / ideal,
        hit1=float(first == 1),
        hit5=float(first is not None and first <= 5),
        recall5=sum(relevances[:5]) / relevant,
        recall10=sum(relevances[:10]) / relevant,
        mrr10=1 / first if first else 0.0,
    )


def mean(rows: Sequence[Scores]) -> Scores:
    """Return the mean over queries; zeros for no rows."""
    if not rows:
        return Scores(0, 0, 0, 0, 0, 0)
    return Scores(*(fmean(column) for column in zip(*map(astuple, rows), strict=True)))


def compare(
    before: Sequence[float], after: Sequence[float], *, rounds: int = 1_000
) -> ScoreDifference:
    """Compare two settings by the scores of the same queries, in the same order.

    The interval is the middle 95 % of ``rounds`` paired bootstrap samples (Efron and Tibshirani,
    "An introduction to the bootstrap", 1993). The samples are the same in each call.
    """
    differences = [new - old for old, new in zip(before, after, strict=True)]
    if not differences:
        return ScoreDifference(0.0, 0.0, 0.0)
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(differences, k=len(differences))) for _ in range(rounds))
    cut = rounds // 40
    return ScoreDifference(fmean(differences), means[cut], means[-1 - cut])


def _shares(left: Range, right: Range) -> bool:
    common = min(left[1], right[1]) - max(left[0], right[0])
    return common > 0 and 2 * common >= min(left[1] - left[0], right[1] - right[0])
