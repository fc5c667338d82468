"""Gold questions: from a file, or from the passages that users marked as right."""

from collections import defaultdict
from dataclasses import dataclass

from citations.errors import InvalidGold
from citations.evaluation import gold
from citations.evaluation.gold import Gold, Range
from citations.models import Mark, Source
from transcripts.core.scope import Scope


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
