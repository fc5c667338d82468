"""The stages of a window: their names, their durations, and the values that they return.

A stage makes its value of the one before it. The last one is the window's decision.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from time import perf_counter
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar

from numpy.typing import NDArray

from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace, Window, WindowOutcome
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from transcripts.core.stages import finish

RESOLVE: Final = "resolve"
EMBED_SPEECH: Final = "embed_speech"
GATE: Final = "gate"
EMBED: Final = "embed"
SEARCH: Final = "search"
RERANK: Final = "rerank"
STORE: Final = "store"
KEYWORDS: Final = "keywords"

Vector: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResult:
    """What a stage says of a window; ``stages`` are the milliseconds of all until now."""

    window: Window
    stages: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitableSources(StageResult):
    """The sources that may be cited for a window."""

    resolved: ResolvedFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSpeech(CitableSources):
    """The embedding of the speech, and how likely it is off-topic; None without the models."""

    vector: Vector | None
    off_topic: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowQuery(StageResult):
    """The vector of the speech in the library's space."""

    speech: WindowSpeech
    vector: Vector
    space: EmbeddingSpace


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage near to a window, and what the judge says of it."""

    candidate: Candidate
    cosine: float
    relevance: Relevance

    @property
    def score(self) -> float:
        """The likelihood, or else the cosine, 0 to 1."""
        likelihood = self.relevance.likelihood
        return min(1.0, max(0.0, self.cosine)) if likelihood is None else likelihood


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestPassages(StageResult):
    """The passages nearest to a window, nearest first, how far that one is, and the embedding
    model that found them.
    """

    speech: WindowSpeech
    distance: float
    model: str
    passages: tuple[NearPassage, ...]


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """A passage to cite, and its relevance, 0 to 1."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(StageResult):
    """What becomes of a window: the passages that it cites, best first, or why it cites none.

    ``vector`` is that of its speech, if keywords are to be extracted from it.
    """

    outcome: WindowOutcome
    matches: tuple[CitationMatch, ...] = ()
    notes: tuple[str, ...] = ()
    off_topic: float | None = None
    distance: float | None = None
    vector: Vector | None = None


P = ParamSpec("P")
Result = TypeVar("Result", bound=StageResult)
Open = TypeVar("Open", bound=StageResult)


def timed(stage: str) -> Callable[[Callable[P, list[Result]]], Callable[P, list[Result]]]:
    """Add a stage's duration to each of its results: a batch waits for all of it."""

    def timing(work: Callable[P, list[Result]]) -> Callable[P, list[Result]]:
        @wraps(work)
        def run(*args: P.args, **kwargs: P.kwargs) -> list[Result]:
            started = perf_counter()
            results = work(*args, **kwargs)
            milliseconds = (perf_counter() - started) * 1000
            if results:
                finish("lecture", stage, milliseconds=milliseconds)
            spent = {stage: round(milliseconds, 3)}
            return [replace(result, stages={**result.stages, **spent}) for result in results]

        return run

    return timing


def undecided(results: Iterable[Open | Decision]) -> Generator[Decision, None, list[Open]]:
    """Yield the decisions among results, and return the others."""
    others: list[Open] = []
    for result in results:
        if isinstance(result, Decision):
            yield result
        else:
            others.append(result)
    return others


def decide(
    speech: WindowSpeech,
    latest: StageResult,
    outcome: WindowOutcome,
    *notes: str,
    distance: float | None = None,
    matches: tuple[CitationMatch, ...] = (),
) -> Decision:
    """Decide on a window whose latest stage said this."""
    return Decision(
        window=speech.window,
        stages=latest.stages,
        outcome=outcome,
        matches=matches,
        notes=(*speech.notes, *filter(None, notes)),
        off_topic=speech.off_topic,
        distance=distance,
        vector=speech.vector,
    )
