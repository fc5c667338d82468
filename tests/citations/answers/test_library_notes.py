"""Greetings get help, and a refusal says which sources are not embedded yet."""

import pytest

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Reply
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source, State
from tests.makers import make_video
from transcripts.models import Collection
from transcripts.scope import NOTHING, Scope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def lecture(collection: Collection) -> Source:
    make_video(collection, title="How networks learn")
    discovery.adopt()
    ingest_pipeline.ingest(Source.objects.get().pk)
    return Source.objects.get()


def answer(scope: Scope, question: str, *, history: tuple[tuple[str, str], ...] = ()) -> Reply:
    *_, last = answer_pipeline.ask(scope, question, history=history)
    assert isinstance(last, FinalEvent)
    return last.reply


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        "Thanks!",
        "help",
        "What can you do?",
        "Ok, thank you!",
        "Danke schön",
        "¡Hola!",
        "?? why",
    ],
)
def test_a_message_that_asks_nothing_gets_help_with_examples_from_the_library(
    lecture: Source, scope: Scope, message: str
) -> None:
    reply = answer(scope, message)
    assert (reply.outcome, reply.claims, reply.nearest) == (AnswerOutcome.HELP, (), ())
    assert reply.note.startswith("Ask about what is said in 1 recording: “How networks learn”.")
    assert "“What is “How networks learn” about?”" in reply.note


@pytest.mark.parametrize(
    "question",
    [
        "Hello, what does backpropagation carry?",
        "help me find backpropagation",
        "Summarise",
        "What is this about?",
    ],
)
def test_a_question_is_looked_up_however_politely_it_begins(
    lecture: Source, scope: Scope, question: str
) -> None:
    assert answer(scope, question).outcome != AnswerOutcome.HELP


def test_a_bare_why_in_a_conversation_is_looked_up_with_the_question_before_it(
    lecture: Source, scope: Scope
) -> None:
    reply = answer(scope, "Why?", history=(("What does backpropagation carry?", "An error."),))
    assert reply.full_question == "Why? (What does backpropagation carry?)"


def test_with_nothing_to_sum_up_help_says_that_the_library_is_empty() -> None:
    for message in ("Summarise", "hello"):
        reply = answer(NOTHING, message)
        assert reply.outcome == AnswerOutcome.HELP
        assert reply.note == "There is nothing to ask yet: add recordings or documents first."


def test_a_refusal_says_which_sources_are_not_embedded_yet(
    lecture: Source, collection: Collection, scope: Scope
) -> None:
    question = "Quando zarpa el barco?"
    refused = "I cannot find information about “Quando zarpa el barco?” in the sources."
    assert answer(scope, question).note == refused
    for number in range(4):
        make_video(collection, key=f"later {number}", title=f"Later {number}")
    discovery.adopt()
    Source.objects.exclude(pk=lecture.pk).update(state=State.WORDS)
    gap = "4 of 5 sources are not embedded yet: “Later 0”, “Later 1”, “Later 2” and 1 other."
    assert answer(scope, question).note == f"{refused} {gap}"
    assert "not embedded" not in answer(NOTHING, question).note
