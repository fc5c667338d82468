"""Gold questions over real transcripts, and their answers. Import it once Django is set up."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from environment import DATA, ROOT

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.evaluation import questions as gold_questions
from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.library.filters import Filter
from citations.models import Source, State
from citations.text.sentences import WORD
from transcripts.adding import storage
from transcripts.core.scope import Scope
from transcripts.models import Collection

SETS: Final = {
    "ocw6012_titles": "ocw6012",
    "nyudl_headings": "nyudl",
    "bitcoin_headings": "bitcoin",
    "tinyrec_topics": "tinyrec",
    "ergo_qa": "ergo",
    "tutorialvqa": "tutorialvqa",
    "qmsum": "qmsum",
}
GOLD, FOREIGN, LEFT_OUT, NEAR_BY = "gold", "foreign", "left out", "near"
MAX_SOURCES: Final = 100  # of a filter
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A question and its reply, from its own library, a foreign one, or without its talk.

    A near question has no answer in its own library.
    """

    set: str
    kind: str
    question: Question
    reply: Reply
    first_right: bool
    any_right: bool

    @property
    def is_refused(self) -> bool:
        return self.reply.outcome == AnswerOutcome.REFUSED

    @property
    def signs(self) -> Mapping[str, float]:
        """The signs of the first part."""
        signs = self.reply.trace.signs
        return signs[0] if signs else {}

    def milliseconds(self, *names: str) -> float:
        """Return the time of some stages; without names, of the whole answer."""
        if not names:
            return self.reply.milliseconds
        stages = self.reply.trace.stages
        return sum(stage.milliseconds for stage in stages if stage.name in names)


class Library:
    """All sets in one library, each in a collection of its own.

    ``unmarked`` takes marks and capitals away from the captions, as most automatic ones are.
    """

    def __init__(self, names: Sequence[str], tell: Tell, *, unmarked: bool = False) -> None:
        self._unmarked = unmarked
        self.questions: dict[str, list[Question]] = {}
        self._scopes: dict[str, Scope] = {}
        for name in names:
            self._scopes[name] = self._fill(name)
            self.questions[name] = _gold(name)
            tell(f"{name}: {len(self.questions[name]):,} questions")
        merging.merge()

    def _fill(self, name: str) -> Scope:
        collection = Collection.objects.create(name=name, slug=name)
        for path in sorted((DATA / "dev" / "transcripts" / SETS[name]).glob("*.json")):
            data = path.read_bytes()
            data = without_marks(data) if self._unmarked else data
            storage.add_captions(collection, data, name=path.name)
        discovery.adopt()
        for pk in Source.objects.filter(collection=collection).values_list("pk", flat=True):
            ingest_pipeline.ingest(pk)
        unfinished = Source.objects.exclude(state=State.READY)
        if unfinished:
            raise SystemExit(
                f"{name}: {[(source.title, source.error) for source in unfinished[:3]]}"
            )
        return Scope(readable=frozenset({collection.pk}))

    def ask(self, name: str, question: Question, *, kind: str = GOLD, of: str = "") -> Trial:
        """Ask a question of a set, in its own library or in that of another set, ``of``."""
        scope = self._scopes[of or name]
        filter = self._others(name, question) if kind == LEFT_OUT else Filter()
        reply = _reply(scope, question.query, filter)
        judge = RelevanceJudge(scope)
        right = [
            kind == GOLD and judge.is_answer(question, quote.origin.id, quote.locator)
            for quote in reply.quotes
        ]
        return Trial(
            set=name,
            kind=kind,
            question=question,
            reply=reply,
            first_right=right[:1] == [True],
            any_right=any(right),
        )

    def ask_about(self, name: str, talk: str, question: str) -> Reply:
        """Ask a question of one talk of a set, by its video's key."""
        scope = self._scopes[name]
        uuids = Source.objects.visible(scope).filter(video__key=talk).values_list("uuid", flat=True)
        return _reply(scope, question, Filter(sources=(str(uuids[:1].get()),)))

    def _others(self, name: str, question: Question) -> Filter:
        own = {answer.source for answer in question.answers}
        rows = (
            Source.objects.filter(collection__slug=name)
            .order_by("pk")
            .values_list("uuid", "video__key")
        )
        return Filter(
            sources=tuple(str(uuid) for uuid, key in rows if key not in own)[:MAX_SOURCES]
        )

    def ask_all(self, *, most: int, kinds: Sequence[str], tell: Tell) -> Iterator[Trial]:
        """Ask ``most`` questions of each set, evenly drawn, in all ``kinds``.

        A foreign library is drawn for each question.
        """
        chance = random.Random(0)
        for name, questions in self.questions.items():
            drawn = questions[:: -(-len(questions) // most)]
            others = [other for other in self.questions if other != name]
            for kind in kinds:
                drawn_questions = _near_by(name) if kind == NEAR_BY else drawn
                for question in drawn_questions if kind != FOREIGN or others else ():
                    yield self.ask(
                        name,
                        question,
                        kind=kind,
                        of=chance.choice(others) if kind == FOREIGN else "",
                    )
            tell(f"{name}: asked {len(drawn)} questions")


def without_marks(data: bytes) -> bytes:
    """Take the marks and capitals away from a transcript."""
    transcript = json.loads(data)
    for cue in transcript["cues"]:
        cue["text"] = " ".join(match[0].lower() for match in WORD.finditer(cue["text"]))
    transcript["cues"] = [cue for cue in transcript["cues"] if cue["text"]]
    return json.dumps(transcript).encode()


def _reply(scope: Scope, question: str, filter: Filter) -> Reply:
    *_, last = answer_pipeline.ask(scope, question, filter=filter)
    assert isinstance(last, FinalEvent)
    return last.reply


def _near_by(name: str) -> list[Question]:
    """Return the questions of a set that its sources do not answer."""
    rows = json.loads((ROOT / "bench" / "near_unanswerable.json").read_text(encoding="utf-8"))
    return [Question(query=row["question"], answers=()) for row in rows if row["set"] == name]


def _gold(name: str) -> list[Question]:
    """Read a set's questions, without titles that make sense only inside one video."""
    lines = (DATA / "dev" / "gold" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    questions, rejected = gold_questions.from_file(
        "\n".join(line for line in lines if not json.loads(line).get("generic"))
    )
    assert not rejected, rejected
    return questions
