"""Answers without a language model: the sentences that say most about the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.answers.writing.excerpts import (
    FEWEST_WORDS,
    Pick,
    Read,
    extended,
    is_told,
    repeats,
    sentences,
)
from citations.answers.writing.overview import overview
from citations.answers.writing.sentence_ranking import Rate, Signs, rated, signs

MOST: Final = 3  # excerpts that answer a question
WORTH: Final = 0.7  # of the best sentence's score, that another one needs
FURTHER: Final = 0.5  # of the best sentence's score, that more on what was told needs
CONSIDERED: Final = {Breadth.SPECIFIC: 10, Breadth.BROAD: 12}  # passages, best first


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The excerpts that answer a part of a question, and the signs of an answer.

    Excerpts are best first or, in an overview, in their order. ``repeats`` tells that some of the
    sentences behind the signs were told before; these are not among the excerpts.
    """

    part: QuestionPart
    picks: tuple[Pick, ...]
    signs: Signs
    repeats: bool = False


def extract(
    parts: Sequence[QuestionPart],
    evidence: Sequence[Evidence],
    *,
    rate: Rate | None = None,
    read: Read | None = None,
    told: Sequence[str] = (),
) -> list[Extract]:
    """Pick the excerpts that answer each part: none twice, and none that was ``told``.

    ``rate`` is called once for each part. ``read`` is called for each pick, so that an excerpt may
    extend beyond its passage.
    """
    extracts: list[Extract] = []
    for number, part in enumerate(parts):
        own = (passage for passage in evidence if passage.part == number)
        best = sorted(own, key=lambda passage: -passage.score)
        passages = best[: CONSIDERED[part.breadth] + len(told)]
        subject = part.about or part.text
        known = rated(subject, sentences(number, passages), rate)
        earlier = [pick for extract in extracts for pick in extract.picks]
        choose = overview if part.breadth == Breadth.BROAD else _answer
        new = _untold(known, told)
        picks = extended(choose(part, new, earlier), earlier=earlier, told=told, read=read)
        extracts.append(
            Extract(
                part=part,
                picks=tuple(picks),
                signs=signs(subject, known),
                repeats=len(new) < len(known),
            )
        )
    return extracts


def _untold(known: Sequence[Pick], told: Sequence[str]) -> list[Pick]:
    """Leave out what was told; and then also what scores far below the best: it is off topic."""
    new = [pick for pick in known if not is_told(pick.text, told)]
    least = FURTHER * max(pick.score for pick in known) if len(new) < len(known) else 0.0
    return [pick for pick in new if pick.score >= least]


def _answer(_: QuestionPart, known: Sequence[Pick], earlier: Sequence[Pick]) -> list[Pick]:
    chosen: list[Pick] = []
    for pick in sorted(known, key=lambda pick: -pick.score):
        if len(chosen) == MOST or (chosen and pick.score < WORTH * chosen[0].score):
            break
        is_new = not any(repeats(pick, other) for other in (*earlier, *chosen))
        if is_new and len(pick.text.split()) >= FEWEST_WORDS:
            chosen.append(pick)
    return chosen
