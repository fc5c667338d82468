"""Gold questions, from a file or from the passages that users marked as right, and which passages
of the library answer them.
"""

from collections import defaultdict
from dataclasses import dataclass
from uuid import UUID

from citations.errors import InvalidGold, SourceNotFound
from citations.evaluation import gold, metrics
from citations.evaluation.gold import Gold, Range
from citations.library.filters import Filter, matching
from citations.models import Chunk, Mark, Source
from citations.passages import Locator
from transcripts.core.scope import Scope
from transcripts.text.timecodes import seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query and its answers, in seconds or pages; with ``by_characters`` in characters."""

    query: str
    answers: tuple[Gold, ...]
    by_characters: bool = False

    @property
    def key(self) -> str:
        """Identify the question across reports."""
        return f"{self.query} · {' '.join(sorted(answer.source for answer in self.answers))}"


def from_file(data: str | bytes) -> tuple[list[Question], tuple[InvalidGold, ...]]:
    """Return the questions of gold lines, and the faults of lines that cannot be used.

    Raises ``InvalidGold`` if no line can be used.
    """
    parsed = gold.parse(data)
    questions = [Question(query=line.query, answers=(line,)) for line in parsed.lines]
    return questions, parsed.rejected


def from_marks(scope: Scope, *, user: str = "") -> list[Question]:
    """Return the queries with the passages that this user, or any, marked as right."""
    marks = Mark.objects.filter(right=True, source__in=Source.objects.visible(scope))
    if user:
        marks = marks.filter(user__username=user)
    ranges: defaultdict[str, defaultdict[str, list[Range]]]
    ranges = defaultdict(lambda: defaultdict(list))
    columns = ("query", "source__uuid", "span_start", "span_end")
    for query, source, start, end in marks.order_by("query", "source", "span_start").values_list(
        *columns
    ):
        ranges[query][str(source)].append((start, end))
    return [
        Question(
            query=query,
            answers=tuple(
                Gold(query=query, source=source, ranges=tuple(spans))
                for source, spans in sources.items()
            ),
            by_characters=True,
        )
        for query, sources in ranges.items()
    ]


class RelevanceJudge:
    """Judges locations in the sources that a filter leaves; looks each source up once."""

    def __init__(self, scope: Scope, filter: Filter = Filter()) -> None:
        self._scope = scope
        self._filter = filter
        self._sources: dict[str, frozenset[UUID]] = {}
        self._chunks: dict[UUID, list[Locator]] = {}

    def count(self, question: Question) -> int:
        """Count the chunks that answer."""
        sources = {uuid for answer in question.answers for uuid in self._named(answer.source)}
        return sum(
            self.is_answer(question, uuid, locator)
            for uuid in sources
            for locator in self._locators(uuid)
        )

    def is_answer(self, question: Question, source: UUID, locator: Locator) -> bool:
        """Tell whether a location in a source answers."""
        return any(
            source in self._named(answer.source)
            and metrics.is_relevant(
                _location(answer.source, locator, by_characters=question.by_characters), answer
            )
            for answer in question.answers
        )

    def _named(self, reference: str) -> frozenset[UUID]:
        if reference not in self._sources:
            try:
                filter = self._filter.model_copy(update={"sources": (reference,)})
                named = matching(self._scope, filter)
                self._sources[reference] = frozenset(named.values_list("uuid", flat=True))
            except SourceNotFound:
                self._sources[reference] = frozenset()
        return self._sources[reference]

    def _locators(self, source: UUID) -> list[Locator]:
        if source not in self._chunks:
            chunks = Chunk.objects.filter(source__uuid=source).defer("text", "context")
            self._chunks[source] = [chunk.locator for chunk in chunks.order_by("ordinal")]
        return self._chunks[source]


def _location(source: str, locator: Locator, *, by_characters: bool) -> metrics.GoldLocation:
    if by_characters:
        return metrics.GoldLocation(source=source, start=locator.span[0], end=locator.span[1])
    return metrics.GoldLocation(
        source=source,
        start=seconds(locator.start),
        end=seconds(locator.end),
        page=locator.page,
        last_page=locator.last_page,
    )
