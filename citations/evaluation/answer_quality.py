"""How good this library's answers are: gold questions answered, what is cited compared with where the answer is, and confidence with what was right."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from citations.answers import confidence
from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.answers.confidence import Bin
from citations.evaluation import search_quality
from citations.evaluation.search_quality import Judge, Question, Tell
from citations.library.filters import Filter
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraisal:
    """What came of ``questions``; ``skipped`` ones have no answer in this library. Shares are of the answered ones, milliseconds medians.

    ``reliability`` compares the confidence in first citations with how many were right; ``error`` is its expected calibration error.
    """

    questions: int
    skipped: int
    answered: int
    first_right: float
    any_right: float
    milliseconds: float
    grounding_milliseconds: float
    reliability: tuple[Bin, ...]
    error: float

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


def appraise(
    scope: Scope,
    questions: Sequence[Question],
    *,
    filter: Filter = Filter(),
    tell: Tell = lambda done, total: None,
) -> Appraisal:
    """Answer gold questions, and see what is cited. Raises what ``answering.ask`` raises."""
    judge = search_quality.judge(scope, filter=filter)
    asked = [question for question in questions if judge.count(question)]
    replies: list[Reply] = []
    for question in asked:
        replies += [
            event.reply
            for event in answer_pipeline.ask(scope, question.query, filter=filter)
            if isinstance(event, FinalEvent)
        ]
        tell(len(replies), len(asked))
    right = [_right(judge, question, reply) for question, reply in zip(asked, replies, strict=True)]
    answered = [
        (reply, found)
        for reply, found in zip(replies, right, strict=True)
        if reply.outcome != AnswerOutcome.REFUSED
    ]
    table = confidence.reliability(
        [
            (reply.confidence, found[0])
            for reply, found in answered
            if reply.confidence is not None and found
        ]
    )
    return Appraisal(
        questions=len(asked),
        skipped=len(questions) - len(asked),
        answered=len(answered),
        first_right=_share([found[:1] == [True] for _, found in answered]),
        any_right=_share([any(found) for _, found in answered]),
        milliseconds=median(reply.milliseconds for reply in replies) if replies else 0.0,
        grounding_milliseconds=median(map(_grounding, replies)) if replies else 0.0,
        reliability=tuple(table),
        error=confidence.error(table),
    )


def _right(judge: Judge, question: Question, reply: Reply) -> list[bool]:
    return [judge.is_answer(question, quote.origin.id, quote.locator) for quote in reply.quotes]


def _grounding(reply: Reply) -> float:
    return sum(stage.milliseconds for stage in reply.trace.stages if stage.name == "ground")


def _share(said: Sequence[bool]) -> float:
    return sum(said) / len(said) if said else 0.0
