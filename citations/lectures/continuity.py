"""What the last minutes were about: passages near those that previous windows cited are preferred.

A lecture stays in a section for minutes. A passage near a recent citation may therefore be cited
with weaker signs of its own, and comes before an equal one elsewhere. The weights were chosen by
``bench/lectures.py`` on pairs of lectures and books.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from citations.models import Citation, Window
from citations.passages import SignShare
from citations.search import judge
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance

WINDOWS: Final = 5  # previous ones that count
FADING: Final = 0.8  # of a window's weight, for the one before it
NEIGHBOURS: Final = 2  # passages on either side of a cited one that count like it
SECTION: Final = 0.5  # weight of the other passages of its section
ORDER: Final = 1.0  # added to the judge's sum at most
LIKELIHOOD: Final = 3.0  # added to the log-odds at most
FLOOR: Final = 0.8  # of the likelihood after that: three in four cited below it were wrong
SIGN: Final = "cited recently"


class RecentCitation(NamedTuple):
    """A passage that a previous window cited; ``age`` counts windows from 1."""

    age: int
    source: int
    ordinal: int
    heading: str


def recent_citations(window: Window) -> list[RecentCitation]:
    """Return what the windows before this one cited, without chunks that are gone."""
    cited = Citation.objects.filter(
        session=window.session_id,
        window_index__gte=window.index - WINDOWS,
        window_index__lt=window.index,
        chunk__isnull=False,
    )
    columns = ("window_index", "source_id", "chunk__ordinal", "chunk__heading")
    return [
        RecentCitation(window.index - index, *passage)
        for index, *passage in cited.order_by().values_list(*columns)
    ]


def nearness(candidate: Candidate, recent: Sequence[RecentCitation]) -> float:
    """Return how near a passage is to the recent citations: 0 to 1, for the last passage."""
    own = (citation for citation in recent if citation.source == candidate.source)
    weights = (FADING ** (cited.age - 1) * _closeness(candidate, cited) for cited in own)
    return max(weights, default=0.0)


def preferred(relevance: Relevance, near: float, *, model: str) -> Relevance:
    """Raise the relevance of a passage, which an embedding model found, by its nearness."""
    share = SignShare(SIGN, near, ORDER * near)
    floor = max(FLOOR, judge.trained(model).live.floor.least)
    return judge.raised(relevance, share, LIKELIHOOD * near, floor=floor)


def _closeness(candidate: Candidate, cited: RecentCitation) -> float:
    if abs(candidate.ordinal - cited.ordinal) <= NEIGHBOURS:
        return 1.0
    return SECTION if candidate.heading and candidate.heading == cited.heading else 0.0
