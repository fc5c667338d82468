"""How well this library is searched: gold questions asked in every way that searches can take, and two such measurements compared."""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from statistics import fmean, median
from typing import Any, NamedTuple
from uuid import UUID

from citations import conf
from citations.errors import InvalidGold, SourceNotFound
from citations.evaluation import metrics
from citations.library.filters import Filter, matching
from citations.models import Chunk, EmbeddingSpace, Mark, Source
from citations.passages import Locator, Passage, SearchMode
from citations.providers import registry
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from transcripts.errors import EmptyQuery
from transcripts.models import Collection
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

TOLERANCE = 0.01  # nDCG@10 that a change may cost before it counts as a loss
Tell = Callable[[int, int], None]
"""Told how many searches are done, and of how many."""


class Approach(StrEnum):
    """A way to search that is measured by itself."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"
    RERANKED = "hybrid+rerank"

    @property
    def mode(self) -> SearchMode:
        """The mode of its searches."""
        return SearchMode.HYBRID if self == Approach.RERANKED else SearchMode(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, and the places that answer it: ``answers`` hold seconds or pages, or, where they come from marks, characters of the text."""

    query: str
    answers: tuple[metrics.Gold, ...]
    by_characters: bool = False

    @property
    def key(self) -> str:
        """What the question is called in a report: the same question of another run has the same."""
        return f"{self.query} · {' '.join(sorted(answer.source for answer in self.answers))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How good one approach is: the mean scores, the nDCG@10 of each question, and the median milliseconds of a search."""

    approach: str
    scores: metrics.Scores
    questions: dict[str, float]
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """What was measured, and with how many questions; ``skipped`` ones have no answer in this library. ``settings`` says with what."""

    rows: tuple[Row, ...]
    questions: int
    skipped: int = 0
    settings: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs, and to be kept."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproachChange:
    """What became of one approach, on the ``questions`` that both reports have."""

    approach: str
    before: float
    after: float
    difference: metrics.ScoreDifference
    questions: int

    @property
    def loses(self) -> bool:
        """Whether nDCG@10 fell by more than ``TOLERANCE``, or by anything that is beyond chance."""
        return self.difference.mean < -TOLERANCE or self.difference.is_loss

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {**asdict(self), "loses": self.loses}

    def __str__(self) -> str:
        return f"nDCG@10 of {self.approach} goes from {self.before:.3f} to {self.after:.3f} ({self.difference.mean:+.3f}) on {self.questions} questions"


# Questions


def from_file(data: str | bytes) -> list[Question]:
    """Read gold lines as questions. Raises ``InvalidGold``."""
    return [Question(query=line.query, answers=(line,)) for line in metrics.parse(data)]


def from_marks(scope: Scope, *, user: str = "") -> list[Question]:
    """Return the queries for which hits were marked as right, by one user or by all, with the places that were.

    What is marked as wrong is no answer, like everything that nobody marked.
    """
    mine = Mark.objects.filter(
        right=True,
        source__in=Source.objects.visible(scope),
        **({"user__username": user} if user else {}),
    )
    ranges: defaultdict[str, defaultdict[str, list[metrics.Range]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for query, source, start, end in mine.order_by("query", "source", "span_start").values_list(
        "query", "source__uuid", "span_start", "span_end"
    ):
        ranges[query][str(source)].append((start, end))
    return [
        Question(
            query=query,
            answers=tuple(
                metrics.Gold(query=query, source=source, ranges=tuple(found))
                for source, found in sources.items()
            ),
            by_characters=True,
        )
        for query, sources in ranges.items()
    ]


# Measuring


def approaches() -> list[Approach]:
    """Return the ways to search that can be taken now: those by meaning need embeddings, the last one a cross-encoder on this machine."""
    found = [Approach.LEXICAL]
    if vector_space.active() is not None:
        found += [Approach.VECTOR, Approach.HYBRID]
        found += [Approach.RERANKED] if registry.reranker() is not None else []
    return found


def evaluate(
    scope: Scope,
    questions: Sequence[Question],
    *,
    modes: Sequence[Approach] = (),
    limit: int = 10,
    filter: Filter = Filter(),
    space: EmbeddingSpace | None = None,
    tell: Tell = lambda done, total: None,
) -> QualityReport:
    """Ask every question in every mode (default: all that can be taken now), look at the first ``limit`` passages, and score them.

    A passage answers by the rule of ``gold.is_relevant``; how many would is counted among all chunks. Questions that no chunk answers are skipped; one
    without a word finds nothing, and a very long one is cut. Of several modes by meaning, the milliseconds of the first include embedding the query; it is
    kept for the others. ``space``: look in this one.

    Raises ``InvalidGold`` when no question is left, and what ``retrieval.search`` raises for a mode that was asked for.
    """
    library = _Library(scope, filter)
    judged = [
        (question, relevant) for question in questions if (relevant := library.count(question))
    ]
    if not judged:
        raise InvalidGold(
            "No question has an answer in this library.",
            hint="Are the videos there, and indexed? `kb list` shows them with their ids.",
        )
    chosen = list(dict.fromkeys(modes)) or approaches()
    tries: dict[Approach, list[_Try]] = {approach: [] for approach in chosen}
    for number, (question, relevant) in enumerate(judged):
        tell(number, len(judged))
        for approach in chosen:
            passages, milliseconds = _found(
                scope, question, approach, limit=limit, filter=filter, space=space
            )
            scores = metrics.score(
                [library.answers(question, passage) for passage in passages], relevant
            )
            tries[approach].append(_Try(question.key, scores, milliseconds))
    tell(len(judged), len(judged))
    rows = tuple(_row(approach, found) for approach, found in tries.items())
    return QualityReport(
        rows=rows,
        questions=len(judged),
        skipped=len(questions) - len(judged),
        settings=settings_in_use(space),
    )


def _found(
    scope: Scope,
    question: Question,
    approach: Approach,
    *,
    limit: int,
    filter: Filter,
    space: EmbeddingSpace | None,
) -> tuple[Sequence[Passage], float]:
    """Ask, and return what was found in how many milliseconds: nothing for a question without a word."""
    query, reranks = question.query[:MAX_QUERY_CHARACTERS], approach == Approach.RERANKED
    try:
        found = search_pipeline.search(
            scope,
            query,
            mode=approach.mode,
            limit=limit,
            filter=filter,
            rerank=reranks,
            space=space,
        )
    except EmptyQuery:
        return (), 0.0
    return found.passages, found.milliseconds


def settings_in_use(space: EmbeddingSpace | None = None) -> dict[str, str]:
    """Return what searches depend on, as it stands."""
    searched = space or vector_space.locked()
    return {
        "embedding": str(searched) if searched else "",
        "reranker": conf.reranker(),
        "hyde": conf.llm().provider if conf.uses_hyde() else conf.NO_LLM,
    }


# Comparing


def compare(before: QualityReport, after: QualityReport) -> list[ApproachChange]:
    """Compare two reports, approach by approach, on the questions that both have. Raises ``InvalidGold`` where they share nothing."""
    old = {row.approach: row for row in before.rows}
    changes = [
        _change(old[row.approach], row)
        for row in after.rows
        if row.approach in old and old[row.approach].questions.keys() & row.questions.keys()
    ]
    if not changes:
        raise InvalidGold(
            "The two measurements have no question and no mode in common.",
            hint="Compare two of the same gold, or of the same marks.",
        )
    return changes


def loses(space: EmbeddingSpace, *, tell: Tell = lambda done, total: None) -> list[ApproachChange]:
    """Return how a hybrid search would find the hits that people marked as right worse in ``space`` than in the active one; nothing where it would not.

    All users' marks in all collections count. Where there are none, nothing can be lost.
    """
    scope = Scope(readable=frozenset(Collection.objects.values_list("pk", flat=True)))
    questions, active = from_marks(scope), vector_space.locked()
    if not questions or active is None:
        return []
    reports = [
        evaluate(scope, questions, modes=[Approach.HYBRID], space=one, tell=tell)
        for one in (active, space)
    ]
    return [change for change in compare(*reports) if change.loses]


def from_json(text: str) -> QualityReport:
    """Read a report that ``QualityReport.as_json`` wrote. Raises ``InvalidGold`` for anything else."""
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
        sound = all(
            isinstance(value, int | float) for row in rows for value in row.questions.values()
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidGold(
            "This file holds no measurement.", hint="`kb eval … --save FILE` writes one."
        ) from error
    if not sound:
        raise InvalidGold("This file holds no measurement: a score is no number.")
    return report


# What answers


class Judge(NamedTuple):
    """Counts the chunks that answer a question, and says whether a place in a source does."""

    count: Callable[[Question], int]
    is_answer: Callable[[Question, UUID, Locator], bool]


def judge(scope: Scope, *, filter: Filter = Filter()) -> Judge:
    """Return what tells right places from wrong ones, in the sources that a filter leaves."""
    library = _Library(scope, filter)
    return Judge(count=library.count, is_answer=library._is_answer)


class _Library:
    """Which chunks there are in the sources that questions name."""

    def __init__(self, scope: Scope, filter: Filter) -> None:
        self._scope = scope
        self._wanted = filter
        self._sources: dict[str, frozenset[UUID]] = {}
        self._places: dict[UUID, list[Locator]] = {}

    def count(self, question: Question) -> int:
        """Count the chunks that answer."""
        named = {uuid for answer in question.answers for uuid in self._named(answer.source)}
        return sum(
            self._is_answer(question, uuid, place) for uuid in named for place in self._cut(uuid)
        )

    def answers(self, question: Question, passage: Passage) -> bool:
        """Say whether a passage does."""
        return self._is_answer(question, passage.origin.id, passage.locator)

    def _is_answer(self, question: Question, source: UUID, where: Locator) -> bool:
        return any(
            source in self._named(answer.source)
            and metrics.is_relevant(
                _place(answer.source, where, by_characters=question.by_characters), answer
            )
            for answer in question.answers
        )

    def _named(self, reference: str) -> frozenset[UUID]:
        if reference not in self._sources:
            try:
                found = matching(self._scope, replace(self._wanted, sources=(reference,)))
                self._sources[reference] = frozenset(found.values_list("uuid", flat=True))
            except SourceNotFound:
                self._sources[reference] = frozenset()
        return self._sources[reference]

    def _cut(self, source: UUID) -> list[Locator]:
        if source not in self._places:
            rows = (
                Chunk.objects.filter(source__uuid=source)
                .order_by("ordinal")
                .values_list("span_start", "span_end", "start", "end", "page", "last_page")
            )
            self._places[source] = [
                Locator(
                    span=(row[0], row[1]), start=row[2], end=row[3], page=row[4], last_page=row[5]
                )
                for row in rows
            ]
        return self._places[source]


def _place(source: str, where: Locator, *, by_characters: bool) -> metrics.GoldLocation:
    if by_characters:
        return metrics.GoldLocation(source=source, start=where.span[0], end=where.span[1])
    start, end = (None if moment is None else moment / 1000 for moment in (where.start, where.end))
    return metrics.GoldLocation(
        source=source, start=start, end=end, page=where.page, last_page=where.last_page
    )


class _Try(NamedTuple):
    key: str
    scores: metrics.Scores
    milliseconds: float


def _row(approach: Approach, tries: Sequence[_Try]) -> Row:
    return Row(
        approach=approach.value,
        scores=metrics.mean([one.scores for one in tries]),
        questions={one.key: one.scores.ndcg10 for one in tries},
        milliseconds=median(one.milliseconds for one in tries),
    )


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
