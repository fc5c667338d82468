"""How sure an answer, a hit or a citation is, in three words that each hold what they say.

The borders and the figures are those of held-out questions: “Confidence” in bench/RESULTS.md for
answers, “First passages by their score” for the citations of a lecture; those of hits are of the
ten best of development sets (docs/search.md).
"""

from enum import StrEnum
from typing import Final, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Sureness(StrEnum):
    """The word for a probability."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"

    @property
    def label(self) -> str:
        return str(_LABELS[self])


class SurenessLevel(NamedTuple):
    """A word, the least probability for it, and how often what has it was right."""

    sureness: Sureness
    least: float
    held: str | Promise


_LABELS: Final = {
    Sureness.SURE: _("sure"),
    Sureness.LIKELY: _("likely"),
    Sureness.UNSURE: _("not sure"),
}
ANSWERS: Final = (
    SurenessLevel(Sureness.SURE, 0.8, _("Of ten such answers, nine cite the right passage first")),
    SurenessLevel(
        Sureness.LIKELY, 0.6, _("Of three such answers, two cite the right passage first")
    ),
    SurenessLevel(
        Sureness.UNSURE, 0.0, _("Of five such answers, two cite the right passage first")
    ),
)
HITS: Final = (  # by the judge's score
    SurenessLevel(Sureness.LIKELY, 0.85, _("Of five such passages, three answer")),
    SurenessLevel(Sureness.UNSURE, 0.0, _("Of five such passages, one answers")),
)
LECTURES: Final = (
    SurenessLevel(Sureness.LIKELY, 0.98, _("Of four such citations, three are right")),
    SurenessLevel(Sureness.UNSURE, 0.0, _("Of two such citations, one is right")),
)


def level_of(probability: float, levels: tuple[SurenessLevel, ...] = ANSWERS) -> SurenessLevel:
    """Return the first level that a probability reaches."""
    return next(level for level in levels if probability >= level.least)
