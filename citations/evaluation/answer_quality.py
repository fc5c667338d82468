"""Measure answers: compare what they cite with gold ranges, and confidence with what was right."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.evaluation.questions import Question, RelevanceJudge
from citations.library.filters import Filter
from transcripts.core.scope import Scope

BINS: Final = 5  # of a reliability table


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of similar confidence: how many, their mean estimate, and the share that is right."""

    low: float
    high: float
    answers: int
    estimated: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Appraisal:
    """The results for ``questions``; ``skipped`` ones have no answer in this library.

    Shares are of the answered questions, milliseconds are medians. ``reliability`` compares the
    confidence in first citations with the share that was right; ``error`` is its expected
    calibration error.
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
        return asdict(self)


def appraise(
    scope: Scope, questions: Sequence[Question], *, filter: Filter = Filter()
) -> Appraisal:
    """Answer gold questions and judge the citations. Raises what ``pipeline.ask`` raises."""
    judge = RelevanceJudge(scope, filter)
    judged = [question for question in questions if judge.count(question)]
    replies: list[Reply] = []
    for question in judged:
        replies += [
            event.reply
            for event in answer_pipeline.ask(scope, question.query, filter=filter)
            if isinstance(event, FinalEvent)
        ]
    answered = [
        (
            reply,
            [judge.is_answer(question, quote.origin.id, quote.locator) for quote in reply.quotes],
        )
        for question, reply in zip(judged, replies, strict=True)
        if reply.outcome != AnswerOutcome.REFUSED
    ]
    table = reliability(
        [
            (reply.confidence, right[0])
            for reply, right in answered
            if reply.confidence is not None and right
        ]
    )
    grounding = [
        sum(stage.milliseconds for stage in reply.trace.stages if stage.name == "ground")
        for reply in replies
    ]
    return Appraisal(
        questions=len(judged),
        skipped=len(questions) - len(judged),
        answered=len(answered),
        first_right=_share([right[:1] == [True] for _, right in answered]),
        any_right=_share([any(right) for _, right in answered]),
        milliseconds=median(reply.milliseconds for reply in replies) if replies else 0.0,
        grounding_milliseconds=median(grounding) if replies else 0.0,
        reliability=tuple(table),
        error=calibration_error(table),
    )


def reliability(pairs: Sequence[tuple[float, bool]]) -> list[Bin]:
    """Sort (confidence, is right) pairs into bins of equal width, without the empty ones."""
    filled: dict[int, list[tuple[float, bool]]] = {}
    for pair in pairs:
        filled.setdefault(min(BINS - 1, int(pair[0] * BINS)), []).append(pair)
    return [
        Bin(
            low=index / BINS,
            high=(index + 1) / BINS,
            answers=len(inside),
            estimated=sum(confidence for confidence, _ in inside) / len(inside),
            right=sum(right for _, right in inside) / len(inside),
        )
        for index, inside in sorted(filled.items())
    ]


def calibration_error(table: Sequence[Bin]) -> float:
    """Return the expected calibration error.

    Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (2015).
    """
    total = sum(row.answers for row in table)
    gaps = sum(row.answers * abs(row.estimated - row.right) for row in table)
    return gaps / total if total else 0.0


def _share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 0.0
