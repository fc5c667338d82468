"""Conversations: what is asked is stored with what it quotes, one question at a time, and seen by its owner alone."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from citations import answering, conversations, ingestion, notes, questions, records
from citations.errors import AlreadyAnswering, AnswerNotFound, ConversationNotFound, ModelServerError, SourceNotFound
from citations.models import Answer, AnswerState, Conversation, Quotation, Source
from citations.replies import Claimed, Event, Finished, Progress
from tests.makers import make_user, make_video
from transcripts.cues import Cue
from transcripts.errors import Conflict, EmptyQuery, InvalidInput
from transcripts.models import Collection
from transcripts.scope import NOTHING, Scope

QUESTION = "What does backpropagation carry to the start of a network?"
SAID = (
    "Backpropagation carries the error of a network from its end back to its start.",
    "Every weight of the network then moves a little against its own gradient.",
    "The size of that little step is what we call the learning rate.",
    "Bread rises because yeast makes carbon dioxide in the dough.",
)


@pytest.fixture
def talk(collection: Collection, fake_models: None) -> Source:
    """A talk that is found by its words."""
    return talk_in(collection)


@pytest.fixture
def conversation(scope: Scope, owner: User, talk: Source) -> Conversation:
    return conversations.begin(scope, owner)


def talk_in(collection: Collection, *, key: str = "talk", said: tuple[str, ...] = SAID) -> Source:
    video = make_video(collection, key=key, title="Talk", cues=[Cue(start=n * 5_000, end=(n + 1) * 5_000, text=text) for n, text in enumerate(said)])
    source = Source.objects.create(collection=collection, kind="video", video=video, transcript=video.transcripts.get(), title="Talk", language="en")
    ingestion.ingest(source.pk)
    return source


def ask(scope: Scope, user: User | None, conversation: Conversation, question: str) -> Iterator[Event]:
    return questions.respond(scope, user, questions.put(scope, user, conversation, question))


def again(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    return questions.respond(scope, user, questions.put_again(scope, user, answer))


def asked(scope: Scope, user: User | None, conversation: Conversation, question: str = QUESTION) -> Answer:
    *_, last = ask(scope, user, conversation, question)
    assert isinstance(last, Finished)
    return Answer.objects.get(uuid=last.answer)


def age(answer: Answer) -> None:
    Answer.objects.filter(pk=answer.pk).update(active_at=timezone.now() - records.SILENCE - timedelta(seconds=1))


# Asking


def test_an_answer_is_stored_with_exactly_what_it_quotes(scope: Scope, owner: User, conversation: Conversation, talk: Source) -> None:
    events = list(ask(scope, owner, conversation, QUESTION))
    assert isinstance(events[0], Progress)
    told = [quote for event in events if isinstance(event, Claimed) for quote in event.quotes]
    finished = events[-1]
    assert isinstance(finished, Finished)
    rows = list(Quotation.objects.filter(answer__uuid=finished.answer))
    assert rows
    assert [(row.uuid, row.number, row.quote, row.span_start, row.span_end) for row in rows] == [
        (quote.id, quote.number, quote.text, *quote.locator.span) for quote in finished.reply.quotes
    ]
    assert [quote.id for quote in told] == [row.uuid for row in rows]
    (record,) = records.of(scope, conversation)
    assert (record.id, record.question, record.state) == (finished.answer, QUESTION, AnswerState.ANSWERED)
    assert record.claims == finished.reply.claims
    assert [quote.text for quote in record.quotes] == [row.quote for row in rows]
    assert all(quote.link == f"/citations/{quote.id}/" for quote in record.quotes)
    assert Conversation.objects.get().title == QUESTION


def test_a_question_is_there_before_it_is_answered(scope: Scope, owner: User, conversation: Conversation) -> None:
    ask(scope, owner, conversation, "  What is\nthe learning   rate? ")
    (record,) = records.of(scope, conversation)
    assert (record.question, record.is_running) == ("What is the learning rate?", True)
    with pytest.raises(AlreadyAnswering):
        ask(scope, owner, conversation, QUESTION)
    asked(scope, owner, conversations.begin(scope, owner))


def test_a_question_that_nobody_answers_any_more_counts_as_failed_and_holds_nobody_up(scope: Scope, owner: User, conversation: Conversation) -> None:
    lost = questions.put(scope, owner, conversation, QUESTION)
    age(lost)
    (record,) = records.of(scope, conversation)
    assert (record.state, record.error, record.hint) == (AnswerState.FAILED, records.LOST, records.ASK_AGAIN)
    asked(scope, owner, conversation)
    assert [one.state for one in records.of(scope, conversation)] == [AnswerState.FAILED, AnswerState.ANSWERED]


def test_a_question_is_answered_by_one_process_alone(scope: Scope, owner: User, conversation: Conversation) -> None:
    answer = questions.put(scope, owner, conversation, QUESTION)
    first = questions.respond(scope, owner, answer)
    next(first)
    with pytest.raises(AlreadyAnswering):
        next(questions.respond(scope, owner, answer))
    *_, last = first
    assert isinstance(last, Finished)


def test_whoever_was_taken_for_dead_does_not_overwrite_the_answer_of_another(scope: Scope, owner: User, conversation: Conversation) -> None:
    slow = ask(scope, owner, conversation, QUESTION)
    next(slow)
    age(Answer.objects.get())
    answer = Answer.objects.get()
    *_, last = again(scope, owner, answer)
    with pytest.raises(AnswerNotFound):
        list(slow)
    (record,) = records.of(scope, conversation)
    assert isinstance(last, Finished)
    assert [one.id for one in record.quotes] == [one.id for one in last.reply.quotes]


def test_whoever_leaves_before_the_end_leaves_a_question_that_failed(scope: Scope, owner: User, conversation: Conversation) -> None:
    events: Any = ask(scope, owner, conversation, QUESTION)
    next(events)
    events.close()
    (record,) = records.of(scope, conversation)
    assert (record.state, record.error) == (AnswerState.FAILED, "Nobody waited for the answer.")


def test_what_fails_is_stored_and_raised(scope: Scope, owner: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ModelServerError("The server is on fire.", hint="Put it out.")

    monkeypatch.setattr(answering, "ask", fail)
    with pytest.raises(ModelServerError):
        list(ask(scope, owner, conversation, QUESTION))
    (record,) = records.of(scope, conversation)
    assert (record.state, record.error, record.hint) == (AnswerState.FAILED, "The server is on fire.", "Put it out.")


@pytest.mark.parametrize(
    ("question", "error"), [("", EmptyQuery), (" \n\0", EmptyQuery), ("?!", EmptyQuery), ("\ud800", EmptyQuery), ("a" * 1_001, InvalidInput)]
)
def test_what_is_no_question_is_refused_and_not_stored(scope: Scope, owner: User, conversation: Conversation, question: str, error: Any) -> None:
    with pytest.raises(error):
        ask(scope, owner, conversation, question)
    assert not Answer.objects.exists()


def test_what_went_before_is_told_in_order_and_without_what_failed(
    scope: Scope, owner: User, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asked(scope, owner, conversation)
    age(questions.put(scope, owner, conversation, "Lost?"))
    heard: list[Any] = []
    real = answering.ask

    def listen(*args: Any, **options: Any) -> Any:
        heard.append(options["history"])
        return real(*args, **options)

    monkeypatch.setattr(answering, "ask", listen)
    asked(scope, owner, conversation, "And what does each weight of the network do?")
    ((turn,),) = heard
    assert turn[0] == QUESTION
    assert turn[1] == " ".join(claim["text"] for claim in first.claims)


def test_a_question_that_is_refused_begins_no_conversation_and_chooses_no_sources(scope: Scope, owner: User, conversation: Conversation, talk: Source) -> None:
    with pytest.raises(EmptyQuery):
        questions.put_first(scope, owner, "?!")
    assert Conversation.objects.get() == conversation
    questions.put(scope, owner, conversation, QUESTION)
    with pytest.raises(AlreadyAnswering):
        questions.put(scope, owner, conversation, "And then?", sources=[str(talk.uuid)])
    assert conversations.find(scope, owner, conversation.uuid).sources == []


@pytest.mark.parametrize("lost", ["owner", "collection"])
def test_whoever_or_whatever_is_deleted_in_the_middle_of_an_answer_ends_it(scope: Scope, owner: User, talk: Source, collection: Collection, lost: str) -> None:
    events = ask(scope, owner, conversations.begin(scope, owner, collection=collection.slug), QUESTION)
    next(events)
    (owner if lost == "owner" else collection).delete()
    with pytest.raises(AnswerNotFound):
        list(events)
    assert not Answer.objects.exists()


@pytest.mark.django_db(transaction=True)  # the database refuses a quote of what is gone when it commits
def test_a_source_that_is_deleted_in_the_middle_of_an_answer_is_marked_as_gone(scope: Scope, owner: User, conversation: Conversation, talk: Source) -> None:
    events = ask(scope, owner, conversation, QUESTION)
    for event in events:
        if isinstance(event, Claimed):
            talk.delete()
            break
    list(events)
    (record,) = records.of(scope, conversation)
    assert (record.state, record.quotes) == (AnswerState.ANSWERED, ())
    assert record.withheld + len(record.gone) > 0


def test_a_long_conversation_costs_a_question_no_more_than_a_short_one(
    scope: Scope, owner: User, conversation: Conversation, talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Answer(conversation=conversation, ordinal=n, question=f"Question {n}?", note=f"Note {n}.", state=AnswerState.REFUSED) for n in range(1, 40)]
    Answer.objects.bulk_create(rows)
    heard: list[Any] = []
    real = records.read

    def read(scope: Scope, answers: Iterable[Answer]) -> tuple[records.Record, ...]:
        rows = list(answers)
        heard.append(len(rows))
        return real(scope, rows)

    def listen(*_: Any, **options: Any) -> Iterator[Event]:
        heard.append(options["history"])
        return iter(())

    monkeypatch.setattr(records, "read", read)
    monkeypatch.setattr(answering, "ask", listen)
    with pytest.raises(RuntimeError):
        asked(scope, owner, conversation)
    assert heard == [questions.TURNS, [(f"Question {n}?", f"Note {n}.") for n in range(40 - questions.TURNS, 40)]]


# Again


def test_an_answer_is_made_anew_in_its_place_and_quotes_keep_their_addresses(scope: Scope, owner: User, conversation: Conversation) -> None:
    answer = asked(scope, owner, conversation)
    questions.rate(answer, 1)
    before = set(Quotation.objects.values_list("uuid", flat=True))
    list(again(scope, owner, answer))
    (record,) = records.of(scope, conversation)
    assert (record.id, record.state, record.feedback) == (answer.uuid, AnswerState.ANSWERED, None)
    assert {quote.id for quote in record.quotes} == before


def test_an_answer_stays_when_making_it_anew_comes_to_nothing(scope: Scope, owner: User, conversation: Conversation) -> None:
    answer = asked(scope, owner, conversation)
    (before,) = records.of(scope, conversation)
    events: Any = again(scope, owner, answer)
    next(events)
    events.close()
    (after,) = records.of(scope, conversation)
    assert (after.state, after.claims, after.quotes) == (before.state, before.claims, before.quotes)
    assert after.error == "Nobody waited for the answer."


# What is asked about


def test_only_the_sources_that_were_chosen_are_asked(scope: Scope, owner: User, talk: Source, collection: Collection) -> None:
    other = talk_in(collection, key="other", said=("Backpropagation carries nothing at all to the start of a network, said the other.",))
    chosen = conversations.begin(scope, owner, collection=collection.slug, sources=[str(other.uuid)])
    assert chosen.sources == [str(other.uuid)]
    answer = asked(scope, owner, chosen)
    assert {row.source_id for row in answer.quotations.all()} == {other.pk}
    other.delete()
    with pytest.raises(SourceNotFound):
        asked(scope, owner, chosen)


def test_what_cannot_be_seen_cannot_be_chosen(scope: Scope, owner: User, talk: Source, collection: Collection) -> None:
    elsewhere = Collection.objects.create(name="Else", slug="else")
    with pytest.raises(SourceNotFound):
        conversations.begin(Scope(readable=frozenset({elsewhere.pk})), owner, sources=[str(talk.uuid)])
    both = Scope(readable=frozenset({elsewhere.pk, collection.pk}))
    with pytest.raises(SourceNotFound):
        conversations.begin(both, owner, collection="else", sources=[str(talk.uuid)])


# Who sees what


def test_nobody_finds_the_conversation_of_another(scope: Scope, owner: User, conversation: Conversation, collection: Collection) -> None:
    answer = asked(scope, owner, conversation)
    for stranger in (make_user("grace", collection=collection), None):
        assert conversations.list_conversations(scope, stranger).total == 0
        with pytest.raises(ConversationNotFound):
            conversations.find(scope, stranger, conversation.uuid)
        with pytest.raises(ConversationNotFound):
            ask(scope, stranger, conversation, QUESTION)
        with pytest.raises(AnswerNotFound):
            records.find_answer(scope, stranger, answer.uuid)
        with pytest.raises(ConversationNotFound):
            again(scope, stranger, answer)
    assert conversations.find(scope, owner, str(conversation.uuid)) == conversation
    for wrong in ("", "x", "\0", "\ud800", UUID(int=1)):
        with pytest.raises(ConversationNotFound):
            conversations.find(scope, owner, wrong)


def test_whoever_may_no_longer_read_a_source_sees_nothing_that_came_from_it(scope: Scope, owner: User, conversation: Conversation) -> None:
    asked(scope, owner, conversation)
    asked(scope, owner, conversation, "Who won the football match in Lisbon yesterday?")
    answered, refused = records.of(NOTHING, conversation)
    assert (answered.claims, answered.quotes, answered.nearest, refused.nearest) == ((), (), (), ())
    assert answered.withheld > 0
    assert answered.trace["evidence"] == answered.trace["checks"] == refused.trace["evidence"] == []
    assert "error of a network" not in str(answered)


def test_what_cited_a_source_that_was_deleted_stays_readable_and_says_so(
    scope: Scope, owner: User, conversation: Conversation, talk: Source, collection: Collection
) -> None:
    asked(scope, owner, conversation)
    (before,) = records.of(scope, conversation)
    talk.delete()
    (after,) = records.of(scope, conversation)
    assert (after.claims, after.quotes, after.withheld) == (before.claims, (), 0)
    assert after.gone == tuple(quote.number for quote in before.quotes)
    with pytest.raises(Conflict, match="deleted"):
        notes.keep(scope, owner, records.find_answer(scope, owner, after.id), collection=collection.slug)
    elsewhere = Scope(readable=frozenset({Collection.objects.create(name="Else", slug="else").pk}))
    for narrow in (NOTHING, elsewhere):
        (hidden,) = records.of(narrow, conversation)
        assert (hidden.claims, hidden.gone, hidden.withheld) == ((), (), len(before.claims))
        assert "error of a network" not in str(hidden)


def test_what_stands_on_a_deleted_source_and_on_one_that_may_not_be_read_is_not_shown(scope: Scope, owner: User, talk: Source, collection: Collection) -> None:
    elsewhere = Collection.objects.create(name="Else", slug="else")
    both = Scope(readable=scope.readable | {elsewhere.pk})
    other = talk_in(elsewhere, key="other")
    conversation = conversations.begin(both, owner)
    answer = asked(both, owner, conversation)
    Quotation.objects.filter(answer=answer).delete()
    places = {"span_start": 0, "span_end": 5, "digest": "d", "quote": "Words"}
    for number, source in enumerate((talk, other), start=1):
        Quotation.objects.create(answer=answer, number=number, source=source, **places)
    claim = {"text": "Of both.", "citations": [1, 2], "is_supported": True, "collections": [collection.pk, elsewhere.pk]}
    Answer.objects.filter(pk=answer.pk).update(claims=[claim])
    talk.delete()
    assert [claim.text for claim in records.of(both, conversation)[0].claims] == ["Of both."]
    assert records.of(both, conversation)[0].gone == (1,)
    assert records.of(scope, conversation)[0].claims == ()
    other.delete()
    assert records.of(scope, conversation)[0].claims == ()
    assert records.of(both, conversation)[0].gone == (1, 2)


# Keeping


def test_conversations_are_listed_latest_first_and_found_by_their_title(scope: Scope, owner: User, conversation: Conversation, collection: Collection) -> None:
    asked(scope, owner, conversation)
    other = conversations.begin(scope, owner, collection="lectures", title="Bread")
    asked(scope, owner, conversation, "What is the learning rate?")
    page = conversations.list_conversations(scope, owner, limit=1)
    assert ([one.pk for one in page.conversations], page.total, page.next) == ([conversation.pk], 2, 1)
    assert page.conversations[0].answer_count == 2
    assert [one.pk for one in conversations.list_conversations(scope, owner, words="bread").conversations] == [other.pk]
    assert [one.pk for one in conversations.list_conversations(scope, owner, collection="lectures").conversations] == [other.pk]
    assert conversations.list_conversations(NOTHING, owner, words="bread").total == 0


def test_a_conversation_is_renamed_and_deleted_also_while_it_is_answered(scope: Scope, owner: User, conversation: Conversation, talk: Source) -> None:
    conversations.rename(conversation, " On\nnetworks ")
    assert conversations.find(scope, owner, conversation.uuid).title == "On networks"
    with pytest.raises(InvalidInput):
        conversations.rename(conversation, " ")
    events = ask(scope, owner, conversation, QUESTION)
    next(events)
    conversations.delete(conversation)
    with pytest.raises(AnswerNotFound):
        list(events)
    assert not Quotation.objects.exists()
    assert Source.objects.get() == talk


def test_feedback_is_given_and_taken_back(scope: Scope, owner: User, conversation: Conversation) -> None:
    answer = asked(scope, owner, conversation)
    for value in (1, -1, None):
        questions.rate(answer, value)
        assert records.of(scope, conversation)[0].feedback == value
    with pytest.raises(InvalidInput):
        questions.rate(answer, 5)
