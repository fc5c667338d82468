"""Questions: one at a time, answered by one process, stored completely or not at all."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import ClaimEvent, Event, FinalEvent, Progress
from citations.errors import AlreadyAnswering, AnswerNotFound, ModelServerError
from citations.models import Answer, AnswerState, Citation, Conversation, Source
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations, questions
from tests.citations.talks import QUESTION, again, age, ask, finished_answer, talk_in
from transcripts.core.errors import EmptyQuery, InvalidInput, NotFound
from transcripts.core.scope import Scope
from transcripts.models import Collection

LONG = tuple(
    f"{text} {'So it went on for a while in the hall that day, and nobody asked. ' * 6}"
    for text in (
        "Backpropagation carries the error of a network from its end back to its start.",
        "For backpropagation every layer keeps what it was given on the way forward.",
        "Without the chain rule there would be no backpropagation at all.",
        "Memory is what backpropagation costs when layers are many.",
        "Seppo Linnainmaa described backpropagation for computers in nineteen seventy.",
        "Biologists doubt that brains do backpropagation as machines do.",
    )
)


def test_an_answer_is_stored_with_exactly_what_it_quotes(
    scope: Scope, owner: User, conversation: Conversation, talk: Source
) -> None:
    events = list(ask(scope, owner, conversation, QUESTION))
    assert isinstance(events[0], Progress)
    quotes = [quote for event in events if isinstance(event, ClaimEvent) for quote in event.quotes]
    finished = events[-1]
    assert isinstance(finished, FinalEvent)
    rows = list(Citation.objects.filter(answer__uuid=finished.answer))
    assert rows
    assert [(row.uuid, row.number, row.quote, row.span_start, row.span_end) for row in rows] == [
        (quote.id, quote.number, quote.text, *quote.locator.span) for quote in finished.reply.quotes
    ]
    assert [quote.id for quote in quotes] == [row.uuid for row in rows]
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert (record.id, record.question) == (finished.answer, QUESTION)
    assert record.state == AnswerState.ANSWERED
    assert record.claims == finished.reply.claims
    assert [quote.text for quote in record.quotes] == [row.quote for row in rows]
    assert all(quote.link == f"/citations/{quote.id}/" for quote in record.quotes)
    assert Conversation.objects.get().title == QUESTION


def test_a_title_cut_from_a_long_question_says_so(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    questions.ask(scope, owner, conversation, f"Why {'does the error travel ' * 9}?")
    title = Conversation.objects.get().title
    assert len(title) == questions.TITLE
    assert title.endswith("…")


def test_more_is_not_what_was_told_before(
    scope: Scope, owner: User, collection: Collection, conversation: Conversation
) -> None:
    talk_in(collection, key="long", said=LONG)
    answer = finished_answer(scope, owner, conversation, "What is backpropagation?")
    earlier: list[str] = []
    while answer.state == AnswerState.ANSWERED:
        quotes = [citation.quote for citation in answer.citations.all()]
        assert quotes
        assert not any(
            quote in previous or previous in quote for quote in quotes for previous in earlier
        )
        earlier += quotes
        answer = finished_answer(scope, owner, conversation, "Tell me more")
    assert sum(text[: text.index(".")] in " ".join(earlier) for text in LONG) == len(LONG)
    assert (answer.state, answer.note) == (
        AnswerState.REFUSED,
        "I cannot find more information about “What is backpropagation?” in the sources.",
    )


def test_a_question_is_there_before_it_is_answered(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    ask(scope, owner, conversation, "  What is\nthe learning   rate? ")
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert (record.question, record.is_running) == ("What is the learning rate?", True)
    with pytest.raises(AlreadyAnswering):
        ask(scope, owner, conversation, QUESTION)
    finished_answer(scope, owner, conversations.begin(scope, owner))


def test_a_question_that_nobody_answers_any_more_counts_as_failed_and_holds_nobody_up(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    lost = questions.ask(scope, owner, conversation, QUESTION)
    age(lost)
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert (record.state, record.error) == (AnswerState.FAILED, notebook_answers.LOST)
    assert record.hint == notebook_answers.ASK_AGAIN
    finished_answer(scope, owner, conversation)
    states = [answer.state for answer in notebook_answers.of_conversation(scope, conversation)]
    assert states == [AnswerState.FAILED, AnswerState.ANSWERED]


def test_a_question_is_answered_by_one_process_alone(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    answer = questions.ask(scope, owner, conversation, QUESTION)
    first = questions.respond(scope, owner, answer)
    next(first)
    with pytest.raises(AlreadyAnswering):
        next(questions.respond(scope, owner, answer))
    *_, last = first
    assert isinstance(last, FinalEvent)


def test_whoever_was_taken_for_dead_does_not_overwrite_the_answer_of_another(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    slow = ask(scope, owner, conversation, QUESTION)
    next(slow)
    age(Answer.objects.get())
    answer = Answer.objects.get()
    *_, last = again(scope, owner, answer)
    with pytest.raises(AnswerNotFound):
        list(slow)
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert isinstance(last, FinalEvent)
    assert [quote.id for quote in record.quotes] == [quote.id for quote in last.reply.quotes]


def test_whoever_leaves_before_the_end_leaves_a_question_that_failed(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    events: Any = ask(scope, owner, conversation, QUESTION)
    next(events)
    events.close()
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert record.state == AnswerState.FAILED
    assert record.error == "The request ended before the answer was ready."


def test_what_fails_is_stored_and_raised(
    scope: Scope, owner: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ModelServerError("The server is on fire.", hint="Put it out.")

    monkeypatch.setattr(answer_pipeline, "ask", fail)
    with pytest.raises(ModelServerError):
        list(ask(scope, owner, conversation, QUESTION))
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert record.state == AnswerState.FAILED
    assert (record.error, record.hint) == ("The server is on fire.", "Put it out.")


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("", EmptyQuery),
        (" \n\0", EmptyQuery),
        ("?!", EmptyQuery),
        ("\ud800", EmptyQuery),
        ("a" * 1_001, InvalidInput),
    ],
)
def test_what_is_no_question_is_refused_and_not_stored(
    scope: Scope, owner: User, conversation: Conversation, question: str, error: Any
) -> None:
    with pytest.raises(error):
        ask(scope, owner, conversation, question)
    assert not Answer.objects.exists()


def test_what_went_before_is_told_in_order_and_without_what_failed(
    scope: Scope, owner: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = finished_answer(scope, owner, conversation)
    age(questions.ask(scope, owner, conversation, "Lost?"))
    heard: list[Any] = []
    real = answer_pipeline.ask

    def listen(*args: Any, **options: Any) -> Any:
        heard.append(options["history"])
        return real(*args, **options)

    monkeypatch.setattr(answer_pipeline, "ask", listen)
    finished_answer(scope, owner, conversation, "And what does each weight of the network do?")
    ((turn,),) = heard
    assert turn[0] == QUESTION
    assert turn[1] == " ".join(claim["text"] for claim in first.claims)


def test_a_question_that_is_refused_begins_no_conversation_and_chooses_no_sources(
    scope: Scope, owner: User, conversation: Conversation, talk: Source
) -> None:
    with pytest.raises(EmptyQuery):
        questions.ask_first(scope, owner, "?!")
    assert Conversation.objects.get() == conversation
    questions.ask(scope, owner, conversation, QUESTION)
    with pytest.raises(AlreadyAnswering):
        questions.ask(scope, owner, conversation, "And then?", sources=[str(talk.uuid)])
    assert conversations.find(scope, owner, conversation.uuid).sources == []


@pytest.mark.parametrize("lost", ["owner", "collection"])
def test_whoever_or_whatever_is_deleted_in_the_middle_of_an_answer_ends_it(
    scope: Scope, owner: User, talk: Source, collection: Collection, lost: str
) -> None:
    events = ask(
        scope, owner, conversations.begin(scope, owner, collection=collection.slug), QUESTION
    )
    next(events)
    (owner if lost == "owner" else collection).delete()
    with pytest.raises(NotFound):  # the answer, or the collection that it is asked of
        list(events)
    assert not Answer.objects.exists()


# The database refuses a quote of what is gone when it commits.
@pytest.mark.django_db(transaction=True)
def test_a_source_that_is_deleted_in_the_middle_of_an_answer_is_marked_as_gone(
    scope: Scope, owner: User, conversation: Conversation, talk: Source
) -> None:
    events = ask(scope, owner, conversation, QUESTION)
    for event in events:
        if isinstance(event, ClaimEvent):
            talk.delete()
            break
    list(events)
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert (record.state, record.quotes) == (AnswerState.ANSWERED, ())
    assert record.withheld + len(record.gone) > 0


def test_a_long_conversation_costs_a_question_no_more_than_a_short_one(
    scope: Scope,
    owner: User,
    conversation: Conversation,
    talk: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    about = {"conversation": conversation, "state": AnswerState.REFUSED}
    Answer.objects.bulk_create(
        Answer(ordinal=n, question=f"Question {n}?", note=f"Note {n}.", **about)
        for n in range(1, 40)
    )
    heard: list[Any] = []
    real = notebook_answers.read

    def read(scope: Scope, answers: Iterable[Answer]) -> tuple[notebook_answers.AnswerRecord, ...]:
        rows = list(answers)
        heard.append(len(rows))
        return real(scope, rows)

    def listen(*_: Any, **options: Any) -> Iterator[Event]:
        heard.append(options["history"])
        return iter(())

    monkeypatch.setattr(notebook_answers, "read", read)
    monkeypatch.setattr(answer_pipeline, "ask", listen)
    with pytest.raises(RuntimeError):
        finished_answer(scope, owner, conversation)
    turns = [(f"Question {n}?", f"Note {n}.") for n in range(40 - questions.TURNS, 40)]
    assert heard == [questions.TURNS, turns]


# Again


def test_an_answer_is_made_anew_in_its_place_and_quotes_keep_their_addresses(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    answer = finished_answer(scope, owner, conversation)
    questions.rate(answer, 1)
    before = set(Citation.objects.values_list("uuid", flat=True))
    list(again(scope, owner, answer))
    (record,) = notebook_answers.of_conversation(scope, conversation)
    assert (record.id, record.state, record.feedback) == (answer.uuid, AnswerState.ANSWERED, None)
    assert {quote.id for quote in record.quotes} == before


def test_an_answer_stays_when_making_it_anew_comes_to_nothing(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    answer = finished_answer(scope, owner, conversation)
    (before,) = notebook_answers.of_conversation(scope, conversation)
    events: Any = again(scope, owner, answer)
    next(events)
    events.close()
    (after,) = notebook_answers.of_conversation(scope, conversation)
    assert (after.state, after.claims, after.quotes) == (before.state, before.claims, before.quotes)
    assert after.error == "The request ended before the answer was ready."


# Feedback


def test_feedback_is_given_and_taken_back(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    answer = finished_answer(scope, owner, conversation)
    for value in (1, -1, None):
        questions.rate(answer, value)
        assert notebook_answers.of_conversation(scope, conversation)[0].feedback == value
    with pytest.raises(InvalidInput):
        questions.rate(answer, 5)
