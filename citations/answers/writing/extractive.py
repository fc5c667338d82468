"""An answer without a language model: the sentences that say most about the question, as they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.answers.writing.excerpts import (
    FEWEST_WORDS,
    Pick,
    Read,
    grown,
    is_told,
    repeats,
    sentences,
)
from citations.answers.writing.overview import overview
from citations.answers.writing.sentence_ranking import Rate, Signs, rated, signs

MOST: Final = 3  # excerpts that answer a question
WORTH: Final = 0.7  # of the best sentence's score, from which on another one is told, too
FURTHER: Final = (
    0.5  # of the best sentence's score, from which on one says more about what was told
)
LOOKED_AT: Final = {Breadth.SPECIFIC: 10, Breadth.BROAD: 12}  # passages, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The excerpts that answer a part of a question, best first or, of an overview, in their order; and what speaks for an answer being there.

    ``goes_on``: some of what speaks for it was told before, and is not among the excerpts.
    """

    part: QuestionPart
    picks: tuple[Pick, ...]
    signs: Signs
    goes_on: bool = False


def extract(
    parts: Sequence[QuestionPart],
    evidence: Sequence[Evidence],
    *,
    rate: Rate | None = None,
    read: Read | None = None,
    told: Sequence[str] = (),
) -> list[Extract]:
    """Pick the excerpts that answer each part; none is picked twice, and none that was ``told`` before, nor what says little beside that. It speaks for an
    answer being there all the same.

    ``rate`` is asked once for each part. ``read`` is asked for each pick, so that an excerpt may go on where its passage ends.
    """
    made: list[Extract] = []
    for number, part in enumerate(parts):
        passages = sorted(
            (one for one in evidence if one.part == number), key=lambda one: -one.score
        )[: LOOKED_AT[part.breadth] + len(told)]
        known = rated(part.about or part.text, sentences(number, passages), rate)
        before = [pick for one in made for pick in one.picks]
        choose = overview if part.breadth == Breadth.BROAD else _chosen
        unheard = _unheard(known, told)
        picks = grown(choose(part, unheard, before), before=before, told=told, read=read)
        made.append(
            Extract(
                part=part,
                picks=tuple(picks),
                signs=signs(part.about or part.text, known),
                goes_on=len(unheard) < len(known),
            )
        )
    return made


def _unheard(known: Sequence[Pick], told: Sequence[str]) -> list[Pick]:
    """Leave out what was told; and, where that was the best there is, what is far behind it: it is about something else."""
    new = [one for one in known if not is_told(one.text, told)]
    least = FURTHER * max(one.score for one in known) if len(new) < len(known) else 0.0
    return [one for one in new if one.score >= least]


def _chosen(_: QuestionPart, known: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    chosen: list[Pick] = []
    for one in sorted(known, key=lambda one: -one.score):
        if len(chosen) == MOST or (chosen and one.score < WORTH * chosen[0].score):
            break
        if len(one.text.split()) >= FEWEST_WORDS and not any(
            repeats(one, other) for other in (*before, *chosen)
        ):
            chosen.append(one)
    return chosen
