"""Judge which passages of the library answer a gold question."""

from uuid import UUID

from citations.errors import SourceNotFound
from citations.evaluation import metrics
from citations.evaluation.questions import Question
from citations.library.filters import Filter, matching
from citations.models import Chunk
from citations.passages import Locator
from transcripts.core.scope import Scope
from transcripts.text.timecodes import seconds


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
