"""Measure search: ask gold questions in every mode, with other chunks too, and compare two such
measurements.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import fmean, median
from typing import Any, NamedTuple

from django.db import transaction

from citations import conf
from citations.errors import InvalidGold, SourceNotFound
from citations.evaluation import metrics
from citations.evaluation.questions import Question, RelevanceJudge, from_marks
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter, matching
from citations.models import EmbeddingSpace, Source
from citations.passages import Passage, SearchMode
from citations.providers import registry
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from transcripts.core.errors import EmptyQuery
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.models import Collection

TOLERANCE = 0.01  # the drop in nDCG@10 up to which a change is no loss
Progress = Callable[[int, int], None]
"""Receives the number of finished searches and their total."""


class Approach(StrEnum):
    """A way of searching that is measured separately."""

    WORDS = "words"
    MEANING = "meaning"
    BOTH = "both"
    RERANKED = "both+rerank"

    @property
    def mode(self) -> SearchMode:
        return SearchMode.BOTH if self == Approach.RERANKED else SearchMode(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One approach's mean scores, each question's nDCG@10, and the median time of a search."""

    approach: str
    scores: metrics.Scores
    questions: dict[str, float]
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """A measurement and its settings; ``skipped`` questions have no answer in this library."""

    rows: tuple[Row, ...]
    questions: int
    skipped: int = 0
    settings: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproachChange:
    """How one approach changed on the questions that both reports share."""

    approach: str
    before: float
    after: float
    difference: metrics.ScoreDifference
    questions: int

    @property
    def loses(self) -> bool:
        """Whether nDCG@10 fell by more than ``TOLERANCE``, or significantly."""
        return self.difference.mean < -TOLERANCE or self.difference.is_loss

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "loses": self.loses}

    def __str__(self) -> str:
        return (
            f"nDCG@10 of {self.approach} goes from {self.before:.3f} to {self.after:.3f}"
            f" ({self.difference.mean:+.3f}) on {self.questions} questions"
        )


def approaches() -> list[Approach]:
    """Return the approaches that are possible now: some need embeddings or a cross-encoder."""
    if vector_space.active() is None:
        return [Approach.WORDS]
    reranked = [] if registry.reranker() is None else [Approach.RERANKED]
    return [Approach.WORDS, Approach.MEANING, Approach.BOTH, *reranked]


def evaluate(
    scope: Scope,
    questions: Sequence[Question],
    *,
    modes: Sequence[Approach] = (),
    limit: int = 10,
    filter: Filter = Filter(),
    space: EmbeddingSpace | None = None,
    progress: Progress = lambda done, total: None,
) -> QualityReport:
    """Ask every question in every mode (default: all possible ones) and score the first ``limit``
    passages.

    ``metrics.is_relevant`` decides whether a passage answers; the relevant ones are counted among
    all chunks. Questions that no chunk answers are skipped, questions without a word find nothing,
    and very long ones are truncated. Of several modes that use vectors, the first one's
    milliseconds include embedding the query. ``space`` replaces the active one.

    Raises ``InvalidGold`` when no question is left, and what ``search.pipeline.search`` raises.
    """
    judge = RelevanceJudge(scope, filter)
    judged = [(question, count) for question in questions if (count := judge.count(question))]
    if not judged:
        raise InvalidGold(
            "No question has an answer in this library.",
            hint="Are the recordings added and indexed? `kb list` shows them with their ids.",
        )
    chosen = list(dict.fromkeys(modes)) or approaches()
    trials: dict[Approach, list[_Trial]] = {approach: [] for approach in chosen}
    for number, (question, relevant) in enumerate(judged):
        progress(number, len(judged))
        for approach in chosen:
            passages, milliseconds = _search(
                scope, question, approach, limit=limit, filter=filter, space=space
            )
            relevances = [
                judge.is_answer(question, passage.origin.id, passage.locator)
                for passage in passages
            ]
            scores = metrics.score(relevances, relevant)
            trials[approach].append(_Trial(question.key, scores, milliseconds))
    progress(len(judged), len(judged))
    rows = tuple(
        Row(
            approach=approach.value,
            scores=metrics.mean([trial.scores for trial in own]),
            questions={trial.key: trial.scores.ndcg10 for trial in own},
            milliseconds=median(trial.milliseconds for trial in own),
        )
        for approach, own in trials.items()
    )
    return QualityReport(
        rows=rows,
        questions=len(judged),
        skipped=len(questions) - len(judged),
        settings=settings_in_use(space),
    )


def _search(
    scope: Scope,
    question: Question,
    approach: Approach,
    *,
    limit: int,
    filter: Filter,
    space: EmbeddingSpace | None,
) -> tuple[Sequence[Passage], float]:
    try:
        results = search_pipeline.search(
            scope,
            question.query[:MAX_QUERY_CHARACTERS],
            mode=approach.mode,
            limit=limit,
            filter=filter,
            rerank=approach == Approach.RERANKED,
            space=space,
        )
    except EmptyQuery:
        return (), 0.0
    return results.passages, results.milliseconds


def settings_in_use(space: EmbeddingSpace | None = None) -> dict[str, str]:
    """Return the settings that search results depend on."""
    searched = space or vector_space.locked()
    return {
        "embedding": str(searched) if searched else "",
        "reranker": conf.reranker(),
        "hyde": conf.llm().provider if conf.uses_hyde() else conf.NO_LLM,
        "chunks": str(conf.chunk_sizes()),
        **conf.search_numbers(),
    }


def compare(before: QualityReport, after: QualityReport) -> list[ApproachChange]:
    """Compare two reports on their common questions. Raises ``InvalidGold`` if there are none."""
    old = {row.approach: row for row in before.rows}
    changes = [
        _change(old[row.approach], row)
        for row in after.rows
        if row.approach in old and old[row.approach].questions.keys() & row.questions.keys()
    ]
    if not changes:
        raise InvalidGold(
            "The two measurements share no question in any mode.",
            hint="Compare measurements of the same gold file or the same marks.",
        )
    return changes


def loses(space: EmbeddingSpace) -> list[ApproachChange]:
    """Return how ``space`` ranks the passages that users marked as right worse, if it does."""
    scope = Scope(readable=frozenset(Collection.objects.values_list("pk", flat=True)))
    questions, active = from_marks(scope), vector_space.locked()
    if not questions or active is None:
        return []
    reports = [
        evaluate(scope, questions, modes=[Approach.BOTH], space=compared)
        for compared in (active, space)
    ]
    return [change for change in compare(*reports) if change.loses]


def from_json(text: str) -> QualityReport:
    """Read what ``QualityReport.as_json`` wrote. Raises ``InvalidGold`` for anything else."""
    try:
        data = json.loads(text)
        rows = tuple(
            Row(**{**row, "scores": metrics.Scores(**row["scores"])}) for row in data["rows"]
        )
        report = QualityReport(
            rows=rows,
            questions=data["questions"],
            skipped=data["skipped"],
            settings=data["settings"],
        )
        is_sound = all(
            isinstance(value, int | float) for row in rows for value in row.questions.values()
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidGold(
            "This file contains no measurement.", hint="`kb eval … --save FILE` writes one."
        ) from error
    if not is_sound:
        raise InvalidGold("This file contains no valid measurement: a score is not a number.")
    return report


class _Trial(NamedTuple):
    key: str
    scores: metrics.Scores
    milliseconds: float


def _change(before: Row, after: Row) -> ApproachChange:
    shared = [key for key in before.questions if key in after.questions]
    old, new = [before.questions[key] for key in shared], [after.questions[key] for key in shared]
    return ApproachChange(
        approach=after.approach,
        before=fmean(old),
        after=fmean(new),
        difference=metrics.compare(old, new),
        questions=len(shared),
    )


def sources_of(scope: Scope, questions: Sequence[Question], filter: Filter) -> frozenset[int]:
    """Return the primary keys of the sources that answer the questions."""
    keys: set[int] = set()
    for reference in {answer.source for question in questions for answer in question.answers}:
        with suppress(SourceNotFound):
            named = matching(scope, filter.model_copy(update={"sources": (reference,)}))
            keys |= {*named.values_list("pk", flat=True)}
    return frozenset(keys)


@contextmanager
def split_for_trial(keys: Iterable[int]) -> Iterator[None]:
    """Split and embed sources as the settings say, for this connection and until the block ends.

    One transaction that is never committed: other processes see nothing of it. Ingests of these
    sources, and the switch to another embedding model, wait until then.
    """
    with transaction.atomic():
        for source in Source.objects.filter(pk__in=[*keys]).order_by("pk"):
            ingest_pipeline.split_and_embed(source)
        try:
            yield
        finally:
            transaction.set_rollback(True)
