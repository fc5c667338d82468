"""Gold questions over real transcripts, and what is answered to them: what benchmarks of answers share. To be imported once Django is set up."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from environment import DATA

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.evaluation import questions as gold_questions
from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.library.filters import Filter
from citations.models import Source, State
from transcripts import storage
from transcripts.models import Collection
from transcripts.scope import Scope

SETS: Final = {
    "ocw6012_titles": "ocw6012",
    "nyudl_headings": "nyudl",
    "bitcoin_headings": "bitcoin",
    "tinyrec_topics": "tinyrec",
    "ergo_qa": "ergo",
    "tutorialvqa": "tutorialvqa",
    "qmsum": "qmsum",
}
GOLD, FOREIGN, LEFT_OUT = "gold", "foreign", "left out"
MOST_SOURCES: Final = 100  # that a filter takes
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it was asked: of its own library (gold), of one about something else (foreign), or of its own without the talk that answers it."""

    set: str
    kind: str
    question: Question
    reply: Reply
    first_right: bool
    any_right: bool

    @property
    def is_refused(self) -> bool:
        """Whether there was no answer."""
        return self.reply.outcome == AnswerOutcome.REFUSED

    @property
    def signs(self) -> Mapping[str, float]:
        """What spoke for the first citation."""
        signs = self.reply.trace.signs
        return signs[0] if signs else {}

    def milliseconds(self, *names: str) -> float:
        """How long stages took together; without names, the whole."""
        return (
            sum(one.milliseconds for one in self.reply.trace.stages if one.name in names)
            if names
            else self.reply.milliseconds
        )


class Library:
    """All sets in one library, each in a collection of its own."""

    def __init__(self, names: Sequence[str], tell: Tell) -> None:
        self.questions: dict[str, list[Question]] = {}
        self._scopes: dict[str, Scope] = {}
        for name in names:
            self._scopes[name] = self._fill(name)
            self.questions[name] = _gold(name)
            tell(f"{name}: {len(self.questions[name]):,} questions")
        lexical_index.merge()

    def _fill(self, name: str) -> Scope:
        collection = Collection.objects.create(name=name, slug=name)
        for path in sorted((DATA / "dev" / "transcripts" / SETS[name]).glob("*.json")):
            storage.add_captions(collection, path.read_bytes(), name=path.name)
        ingest_pipeline.adopt()
        for pk in Source.objects.filter(collection=collection).values_list("pk", flat=True):
            ingest_pipeline.ingest(pk)
        unfinished = Source.objects.exclude(state=State.READY)
        if unfinished:
            raise SystemExit(
                f"{name}: {[(source.title, source.error) for source in unfinished[:3]]}"
            )
        return Scope(readable=frozenset({collection.pk}))

    def ask(self, name: str, question: Question, *, kind: str = GOLD, of: str = "") -> Asked:
        """Ask a question of a set, in the library of another one where ``of`` names it."""
        scope = self._scopes[of or name]
        wanted = self._others(name, question) if kind == LEFT_OUT else Filter()
        reply = next(
            event.reply
            for event in answer_pipeline.ask(scope, question.query, filter=wanted)
            if isinstance(event, FinalEvent)
        )
        places = RelevanceJudge(scope)
        right = [
            kind == GOLD and places.is_answer(question, quote.origin.id, quote.locator)
            for quote in reply.quotes
        ]
        return Asked(
            set=name,
            kind=kind,
            question=question,
            reply=reply,
            first_right=right[:1] == [True],
            any_right=any(right),
        )

    def ask_about(self, name: str, talk: str, question: str) -> Reply:
        """Ask a question of one talk of a set, which is called by its video's key."""
        scope = self._scopes[name]
        (source,) = (
            Source.objects.visible(scope).filter(video__key=talk).values_list("uuid", flat=True)[:1]
        )
        return next(
            one.reply
            for one in answer_pipeline.ask(scope, question, filter=Filter(sources=(str(source),)))
            if isinstance(one, FinalEvent)
        )

    def _others(self, name: str, question: Question) -> Filter:
        own = {answer.source for answer in question.answers}
        rows = (
            Source.objects.filter(collection__slug=name)
            .order_by("pk")
            .values_list("uuid", "video__key")
        )
        return Filter(
            sources=tuple(str(uuid) for uuid, key in rows if key not in own)[:MOST_SOURCES]
        )

    def ask_all(self, *, most: int, kinds: Sequence[str], tell: Tell) -> Iterator[Asked]:
        """Ask ``most`` questions of each set, evenly drawn, in every way that ``kinds`` names; foreign ones of a library that is drawn for each."""
        chance = random.Random(0)
        for name, questions in self.questions.items():
            drawn = questions[:: -(-len(questions) // most)]
            others = [other for other in self.questions if other != name]
            for kind in kinds:
                for question in drawn if kind != FOREIGN or others else ():
                    yield self.ask(
                        name,
                        question,
                        kind=kind,
                        of=chance.choice(others) if kind == FOREIGN else "",
                    )
            tell(f"{name}: asked {len(drawn)} questions")


def _gold(name: str) -> list[Question]:
    """Read a set's questions; titles that make sense only inside one video are none."""
    lines = (DATA / "dev" / "gold" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return gold_questions.from_file(
        "\n".join(line for line in lines if not json.loads(line).get("generic"))
    )
