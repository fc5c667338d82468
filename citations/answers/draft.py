"""An answer while it is made."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final, TypeVar

from django.contrib.auth.models import User

from citations.answers.answer import Claim, ClaimEvent, Evidence, QuestionPart, Route
from citations.answers.citation_check import Proof
from citations.library.filters import Filter
from citations.passages import Stage
from transcripts.scope import Scope

ROUTE, RETRIEVE, WRITE, GROUND = "route", "retrieve", "write", "ground"
NOTHING: Final = Route(parts=(QuestionPart(text=""),))
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """What is asked, by whom, and where to look. Where it asks for more, ``told`` are the quotes of earlier answers."""

    scope: Scope
    question: str
    history: tuple[tuple[str, str], ...]
    filter: Filter
    user: User | None
    asked_as: str
    told: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class AnswerRun:
    """What is known so far. ``missing`` are the questions that stay without an answer, ``was_cut`` whether the language model broke off,
    ``goes_on`` whether something of an answer was told before.

    ``signs`` speak for an answer to each part. ``is_fused``: passages have the scores of a search by words and meaning; ``knows_meaning``: sentences were
    rated by the model that confidence was calibrated with. ``notes`` are for those who ask how it was made, ``said`` stands with the answer.
    """

    asked: AnswerRequest
    asked_as: str = ""
    route: Route = NOTHING
    evidence: list[Evidence] = field(default_factory=list)
    proof: Proof = field(default_factory=Proof)
    claims: list[Claim] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    was_cut: bool = False
    goes_on: bool = False
    confidence: float | None = None
    signs: list[dict[str, float]] = field(default_factory=list)
    knows_meaning: bool = False
    is_fused: bool = False
    model: str = ""
    tokens: dict[str, int] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    @property
    def milliseconds(self) -> float:
        """How long it has taken."""
        return (perf_counter() - self.started) * 1000

    def timed(self, name: str, call: Callable[[], T]) -> T:
        """Run a stage, and write down how long it took."""
        started = perf_counter()
        result = call()
        self.stages.append(Stage(name=name, milliseconds=(perf_counter() - started) * 1000))
        return result

    def take(self, evidence: Iterable[Evidence]) -> None:
        """Go by these passages, numbered through; one that was found for two parts stays with each."""
        self.evidence = [
            replace(one, number=number) for number, one in enumerate(evidence, start=1)
        ]
        self.proof = Proof(self.evidence, scope=self.asked.scope, filter=self.asked.filter)

    def begin_anew(self, asked: AnswerRequest) -> None:
        """Forget what was found and said, and look where ``asked`` says. How long it took stays."""
        self.asked, self.tokens = asked, {}
        self.claims, self.missing, self.signs = [], [], []
        self.was_cut, self.confidence, self.said = False, None, []

    def tell(self, claim: Claim, *, known: int) -> ClaimEvent:
        """Add a claim; ``known`` quotes were told before it."""
        self.claims.append(claim)
        return ClaimEvent(claim=claim, quotes=tuple(self.proof.quotes[known:]))
