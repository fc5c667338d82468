"""What the last minutes were about: passages near those that previous windows cited are preferred.

A lecture stays in a section for minutes, and in a chapter for longer. A passage near a recent
citation may therefore be cited with weaker signs of its own, and comes before an equal one
elsewhere; so does one in the part of a source that most windows have cited for some time. The
weights were chosen by ``bench/lectures.py`` on pairs of lectures and books.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from citations.models import Citation, Window
from citations.passages import SignShare
from citations.search import judge
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance

WINDOWS: Final = 40  # previous ones that count: about ten minutes
FLOOR: Final = 0.8  # of the likelihood, once raised: three in four cited below it were wrong

# Near to what was just cited
RECENT: Final = 5  # windows
FADING: Final = 0.8  # of a window's weight, for the one before it
NEIGHBOURS: Final = 2  # passages on either side of a cited one that count like it
SECTION: Final = 0.5  # weight of the other passages of its section
ORDER: Final = 1.0  # added to the judge's sum at most
LIKELIHOOD: Final = 3.0  # added to the log-odds at most
SIGN: Final = "cited recently"

# In the part that was cited for some time
PART_FADING: Final = 0.9
REACH: Final = 40  # passages away, at which a citation counts for 1/e
ENOUGH: Final = 5.0  # citations, once faded, that tell as much as more would
PART_ORDER: Final = 3.0
PART_LIKELIHOOD: Final = 2.0
PART_SIGN: Final = "part of the source"


class RecentCitation(NamedTuple):
    """A passage that a previous window cited; ``age`` counts windows from 1. The citations of a
    window share its ``weight`` of 1.
    """

    age: int
    source: int
    ordinal: int
    heading: str
    weight: float = 1.0


class Continuity(NamedTuple):
    """How near a passage is to what was just cited, and how much of what was cited for some time
    lies around it; both 0 to 1.
    """

    nearness: float
    part: float


def recent_citations(window: Window) -> list[RecentCitation]:
    """Return what the windows before this one cited, without chunks that are gone."""
    cited = Citation.objects.filter(
        session=window.session_id,
        window_index__gte=window.index - WINDOWS,
        window_index__lt=window.index,
        chunk__isnull=False,
    )
    columns = ("window_index", "source_id", "chunk__ordinal", "chunk__heading")
    rows = list(cited.order_by().values_list(*columns))
    counts = Counter(row[0] for row in rows)
    return [
        RecentCitation(window.index - index, source, ordinal, heading, 1 / counts[index])
        for index, source, ordinal, heading in rows
    ]


def of(candidate: Candidate, recent: Sequence[RecentCitation]) -> Continuity:
    """Return how a passage continues the recent citations."""
    own = [citation for citation in recent if citation.source == candidate.source]
    last = (cited for cited in own if cited.age <= RECENT)
    near = (FADING ** (cited.age - 1) * _closeness(candidate, cited) for cited in last)
    around = sum(
        cited.weight
        * PART_FADING ** (cited.age - 1)
        * math.exp(-abs(candidate.ordinal - cited.ordinal) / REACH)
        for cited in own
    )
    return Continuity(nearness=max(near, default=0.0), part=min(1.0, around / ENOUGH))


def preferred(relevance: Relevance, continuity: Continuity, *, model: str) -> Relevance:
    """Raise the relevance of a passage, which an embedding model found, by what it continues."""
    floor = max(FLOOR, judge.trained(model).live.floor.least)
    near, part = continuity
    for sign, log_odds in (
        (SignShare(SIGN, near, ORDER * near), LIKELIHOOD * near),
        (SignShare(PART_SIGN, part, PART_ORDER * part), PART_LIKELIHOOD * part),
    ):
        relevance = judge.raised(relevance, sign, log_odds, floor=floor)
    return relevance


def _closeness(candidate: Candidate, cited: RecentCitation) -> float:
    if abs(candidate.ordinal - cited.ordinal) <= NEIGHBOURS:
        return 1.0
    return SECTION if candidate.heading and candidate.heading == cited.heading else 0.0
