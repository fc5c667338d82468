"""Gold questions over real transcripts, and their answers. Import it once Django is set up."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.answers.writing.extractive import SHOWN
from citations.evaluation.questions import Question, RelevanceJudge
from citations.lexical import merging
from citations.library.filters import Filter
from citations.models import Source
from citations.text.sentences import WORD
from harness.environment import ROOT, note
from harness.judged import add_transcripts, gold
from harness.sets import TRANSCRIPTS, drawn, paths
from transcripts.core.scope import Scope
from transcripts.models import Collection

GOLD, FOREIGN, LEFT_OUT, NEAR_BY = "gold", "foreign", "left out", "near"
MAX_SOURCES: Final = 100  # of a filter


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
    shown_right: bool  # one of the places that are quoted at once
    any_right: bool

    @property
    def is_refused(self) -> bool:
        return self.reply.outcome == AnswerOutcome.REFUSED

    @property
    def signs(self) -> Mapping[str, float]:
        """The signs of the first part."""
        signs = self.reply.trace.signs
        return signs[0] if signs else {}


class AskedSets:
    """Sets in one library, each in a collection of its own.

    ``unmarked`` takes marks and capitals away from the captions, as most automatic ones are.
    """

    def __init__(self, names: Sequence[str], *, unmarked: bool = False) -> None:
        self.questions: dict[str, list[Question]] = {}
        self._scopes: dict[str, Scope] = {}
        for name in names:
            collection = Collection.objects.create(name=name, slug=name)
            changed = without_marks if unmarked else bytes
            add_transcripts(collection, paths(TRANSCRIPTS[name]), changed)
            self._scopes[name] = Scope(readable=frozenset({collection.pk}))
            self.questions[name] = gold(name)
            note(f"{name}: {len(self.questions[name]):,} questions")
        merging.merge()

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
            shown_right=any(right[:SHOWN]),
            any_right=any(right),
        )

    def ask_about(self, name: str, talk: str, question: str) -> Reply:
        """Ask a question of one talk of a set, by its video's key."""
        scope = self._scopes[name]
        uuids = Source.objects.visible(scope).filter(video__key=talk).values_list("uuid", flat=True)
        return _reply(scope, question, Filter(sources=(str(uuids[:1].get()),)))

    def _others(self, name: str, question: Question) -> Filter:
        own = {answer.source for answer in question.answers}
        sources = Source.objects.filter(collection__slug=name).order_by("pk")
        rows = sources.values_list("uuid", "video__key")
        others = tuple(str(uuid) for uuid, key in rows if key not in own)
        return Filter(sources=others[:MAX_SOURCES])

    def ask_all(self, *, most: int, kinds: Sequence[str]) -> Iterator[Trial]:
        """Ask ``most`` questions of each set, evenly drawn, in all ``kinds``.

        A foreign library is drawn for each question.
        """
        chance = random.Random(0)
        for name, questions in self.questions.items():
            others = [other for other in self.questions if other != name]
            for kind in kinds:
                some = _near_by(name) if kind == NEAR_BY else drawn(questions, most)
                for question in some if kind != FOREIGN or others else ():
                    of = chance.choice(others) if kind == FOREIGN else ""
                    yield self.ask(name, question, kind=kind, of=of)
            note(f"{name}: asked")


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
