"""Greetings get help, and answers name the sources that were not ready yet."""

import pytest
from django.utils import translation

from citations.answers.answer import AnswerOutcome
from citations.answers.library_notes import unready_note, unready_sources
from citations.ingest import discovery
from citations.library.filters import Filter
from citations.models import Source, State
from tests.citations.talks import ingest_all, reply_to
from tests.makers import make_video
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Job

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def lecture(collection: Collection) -> Source:
    make_video(collection, title="How networks learn")
    return ingest_all()[0]


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
    reply = reply_to(scope, message)
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
    assert reply_to(scope, question).outcome != AnswerOutcome.HELP


def test_a_bare_why_in_a_conversation_is_looked_up_with_the_question_before_it(
    lecture: Source, scope: Scope
) -> None:
    reply = reply_to(scope, "Why?", history=(("What does backpropagation carry?", "An error."),))
    assert reply.full_question == "Why? (What does backpropagation carry?)"


def test_with_nothing_to_sum_up_help_says_that_the_library_is_empty() -> None:
    for message in ("Summarise", "hello"):
        reply = reply_to(NOTHING, message)
        assert reply.outcome == AnswerOutcome.HELP
        assert reply.note == "There is nothing to ask yet: add recordings or documents first."


def test_an_answer_and_a_refusal_name_the_sources_that_were_not_ready(
    lecture: Source, collection: Collection, scope: Scope
) -> None:
    questions = ("What does backpropagation carry?", "Quando zarpa el barco?")
    assert [reply_to(scope, question).unready for question in questions] == [(), ()]
    for number in range(4):
        make_video(collection, key=f"later {number}", title=f"Later {number}")
    discovery.adopt()
    later = Source.objects.exclude(pk=lecture.pk)
    later.update(state=State.WORDS)
    later.filter(title="Later 3").update(state=State.PENDING)
    later.filter(title="Later 2").update(state=State.FAILED)  # it will not be ready
    for question in questions:
        reply = reply_to(scope, question)
        assert [(source.title, source.state) for source in reply.unready] == [
            ("Later 0", "embedding"),
            ("Later 1", "embedding"),
            ("Later 3", "indexing"),
        ]
        assert "not ready" not in reply.note
        assert unready_note(reply.unready) == (
            "3 sources were not ready yet when this was asked: “Later 0”, “Later 1”, “Later 3”."
        )
        assert unready_note([*reply.unready, reply.unready[0]]).endswith("“Later 3” and others.")
        with translation.override("de"):
            assert "„Later 0“, „Later 1“" in unready_note(reply.unready)
        assert reply_to(NOTHING, question).unready == ()


def test_what_is_fetched_or_read_counts_where_it_may_be_asked(
    lecture: Source, collection: Collection, scope: Scope
) -> None:
    job = {"collection": collection, "state": Job.State.QUEUED}
    Job.objects.create(kind=Job.Kind.VIDEO, target="dQw4w9WgXcQ", **job)
    Job.objects.create(kind=Job.Kind.FILES, target="3 files", **job)
    Job.objects.create(kind=Job.Kind.VIDEO, target="known", video=lecture.video, **job)
    Job.objects.create(kind=Job.Kind.FEED, target="a playlist", **job)
    assert [
        (source.title, source.state, source.source_id)
        for source in unready_sources(scope, Filter(collections=(collection.slug,)))
    ] == [
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "fetching", None),
        ("3 files", "reading", None),
    ]
    other = Collection.objects.create(name="Other", slug="other")
    whole = Scope(readable=scope.readable | {other.pk})
    for narrow in (Filter(sources=(str(lecture.uuid),)), Filter(collections=("other",))):
        assert unready_sources(whole, narrow) == ()
    assert unready_sources(NOTHING, Filter()) == ()
