"""A search request, and the log of its stages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from django.contrib.auth.models import User

from citations.lexical.query import Query
from citations.library.filters import Filter
from citations.models import EmbeddingSpace
from citations.passages import SearchMode, Stage
from transcripts.scope import Scope

CANDIDATES, FEWEST_CANDIDATES = 5, 50  # of each branch: times the limit, and at least so many
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What to search for, where and how."""

    scope: Scope
    query: Query
    mode: SearchMode
    limit: int
    filter: Filter
    explain: bool
    reranks: bool
    expands: bool
    user: User | None
    space: EmbeddingSpace | None

    @property
    def uses_vectors(self) -> bool:
        """Whether the vector branch is searched."""
        return self.mode != SearchMode.LEXICAL

    @property
    def uses_words(self) -> bool:
        """Whether the lexical branch is searched."""
        return self.mode != SearchMode.VECTOR

    @property
    def breadth(self) -> int:
        """The number of candidates of each branch."""
        return max(FEWEST_CANDIDATES, CANDIDATES * self.limit)

    @property
    def is_strict(self) -> bool:
        """Whether passages must be verified by their text."""
        return bool(self.query.phrases or self.query.excluded)


@dataclass(slots=True)
class StageLog:
    """The finished stages of a search, and notes for the reader."""

    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def timed(self, name: str, call: Callable[[], T]) -> T:
        """Run a stage; log its duration and the number of its results."""
        started = perf_counter()
        result = call()
        count = len(result) if isinstance(result, list | dict) else 0
        milliseconds = (perf_counter() - started) * 1000
        self.stages.append(Stage(name=name, milliseconds=milliseconds, count=count))
        return result
