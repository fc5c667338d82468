"""A talk that can be asked about, and questions put and answered as every door does it."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import Event, FinalEvent, Reply
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Answer, Conversation, Source
from citations.notebook import questions
from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

QUESTION = "What does backpropagation carry to the start of a network?"
SAID = (
    "Backpropagation carries the error of a network from its end back to its start.",
    "Every weight of the network then moves a little against its own gradient.",
    "The size of that little step is what we call the learning rate.",
    "Bread rises because yeast makes carbon dioxide in the dough.",
)


def talk_in(
    collection: Collection, *, key: str = "talk", title: str = "Talk", said: Sequence[str] = SAID
) -> Source:
    """Make a talk, and index it."""
    video = make_video(
        collection,
        key=key,
        title="Talk",
        cues=[Cue(start=n * 5_000, end=(n + 1) * 5_000, text=text) for n, text in enumerate(said)],
    )
    source = Source.objects.create(
        collection=collection,
        kind="video",
        video=video,
        transcript=video.transcripts.get(),
        title=title,
        language="en",
    )
    ingest_pipeline.ingest(source.pk)
    return source


def ingest_all() -> list[Source]:
    """Index what has been added; return all sources, the oldest first."""
    discovery.adopt()
    for source in Source.objects.filter(chunk_count=0):
        ingest_pipeline.ingest(source.pk)
    return list(Source.objects.order_by("pk"))


def reply_to(scope: Scope, question: str, **about: Any) -> Reply:
    """Return the answer to a question that belongs to no conversation."""
    *_, last = answer_pipeline.ask(scope, question, **about)
    assert isinstance(last, FinalEvent)
    return last.reply


def ask(
    scope: Scope, user: User | None, conversation: Conversation, question: str
) -> Iterator[Event]:
    return questions.respond(scope, user, questions.ask(scope, user, conversation, question))


def again(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    return questions.respond(scope, user, questions.ask_again(scope, user, answer))


def finished_answer(
    scope: Scope, user: User | None, conversation: Conversation, question: str = QUESTION
) -> Answer:
    *_, last = ask(scope, user, conversation, question)
    assert isinstance(last, FinalEvent)
    return Answer.objects.get(uuid=last.answer)


def age(answer: Answer) -> None:
    Answer.objects.filter(pk=answer.pk).update(
        active_at=timezone.now() - Answer.LEASE - timedelta(seconds=1)
    )
