"""Conversations that are shared: with whose readers they can be, and what those see of them."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError

from citations.errors import ConversationNotFound
from citations.models import Answer, AnswerState, Citation, Conversation, Source
from citations.notebook import conversations, notes, shared_conversations
from citations.notebook.export import ExportFormat, render
from tests.citations.talks import finished_answer, talk_in
from tests.makers import make_user
from transcripts.core.errors import CollectionNotFound, InvalidInput
from transcripts.core.scope import Scope
from transcripts.models import Collection

OTHER = ("Gradients are followed down by every weight of a network, step after step.",)


@pytest.fixture
def elsewhere(db: None) -> Collection:
    return Collection.objects.create(name="Elsewhere", slug="elsewhere")


@pytest.fixture
def both(scope: Scope, elsewhere: Collection) -> Scope:
    """Who asks reads two collections."""
    return Scope(readable=scope.readable | {elsewhere.pk})


@pytest.fixture
def answer(both: Scope, owner: User, talk: Source, elsewhere: Collection) -> Answer:
    """An answer of a conversation about everything, with a claim of each collection."""
    other = talk_in(elsewhere, key="other", said=OTHER)
    conversation = conversations.begin(both, owner)
    answer = finished_answer(both, owner, conversation)
    Citation.objects.filter(answer=answer).delete()
    at = {"span_start": 0, "span_end": 5, "digest": "d"}
    for number, source in enumerate((talk, other), start=1):
        Citation.objects.create(
            answer=answer, number=number, source=source, quote=f"Words {number}.", **at
        )
    claims = [
        {"text": f"Claim {numbers}.", "citations": numbers, "is_supported": True, "heading": "Why?"}
        for numbers in ([1], [1], [2], [1, 2])
    ]
    trace = {**answer.trace, "notes": ["Looked only in “A talk”."]}
    Answer.objects.filter(pk=answer.pk).update(claims=claims, trace=trace)
    answer.refresh_from_db()
    return answer


def choices(both: Scope, owner: User, conversation: Conversation) -> list[tuple[str, int, int]]:
    records = shared_conversations.read(both, owner, conversation)
    listed = shared_conversations.choices(records, Collection.objects.order_by("name"))
    return [(choice.collection.slug, choice.withheld, choice.total) for choice in listed]


def test_a_conversation_is_shared_where_its_answers_cite(
    both: Scope, owner: User, answer: Answer, talk: Source
) -> None:
    assert choices(both, owner, answer.conversation) == [("lectures", 2, 4), ("elsewhere", 3, 4)]
    Citation.objects.filter(answer=answer, number=2).update(source=talk)
    assert choices(both, owner, answer.conversation) == [("lectures", 0, 4)]
    Answer.objects.update(claims=[])
    assert choices(both, owner, answer.conversation) == []


def test_readers_see_what_stands_in_sources_that_they_may_read(
    scope: Scope, both: Scope, owner: User, answer: Answer, collection: Collection
) -> None:
    reader = make_user("grace", collection=collection)
    conversation = answer.conversation
    with pytest.raises(ConversationNotFound):
        conversations.find_readable(scope, reader, conversation.uuid)
    conversations.change(both, conversation, shared_with="lectures")
    shared = conversations.find_readable(scope, reader, conversation.uuid)
    (record,) = shared_conversations.read(scope, reader, shared)
    assert [claim.citations for claim in record.claims] == [(1,), (1,)]
    assert [quote.number for quote in record.quotes] == [1]
    assert record.withheld == 2
    assert record.trace == {}
    assert shared_conversations.find_answer(scope, reader, answer.uuid)[1] == record
    text = render(scope, reader, shared, ExportFormat.MARKDOWN)
    assert "Words 1." in text
    assert "Words 2." not in text
    (own,) = shared_conversations.read(both, owner, conversation)
    assert (len(own.claims), own.withheld) == (4, 0)
    assert own.trace["notes"]
    with pytest.raises(ConversationNotFound):
        conversations.find(scope, reader, conversation.uuid)
    conversations.change(both, conversation, shared_with="")
    with pytest.raises(ConversationNotFound):
        conversations.find_readable(scope, reader, conversation.uuid)


@pytest.mark.parametrize("state", [AnswerState.HELP, AnswerState.REFUSED, AnswerState.ANSWERED])
def test_what_may_name_other_sources_is_read_by_who_asked_alone(
    both: Scope, owner: User, answer: Answer, collection: Collection, state: AnswerState
) -> None:
    reader = make_user("grace", collection=collection)
    changed = {"note": "Ask about “A talk”.", "state": state, "full_question": "Why A talk?"}
    Answer.objects.filter(pk=answer.pk).update(
        **changed, parts=[{"heading": "Why?", "is_answered": True}]
    )
    conversation = answer.conversation
    for scope in (both, Scope(readable=frozenset({collection.pk}))):
        (record,) = shared_conversations.read(scope, reader, conversation)
        assert (record.note, record.full_question) == ("", answer.question)
        assert (record.parts, {claim.heading for claim in record.claims}) == ((), {""})
    Answer.objects.filter(pk=answer.pk).update(full_question=answer.question)
    (record,) = shared_conversations.read(both, reader, conversation)
    assert record.note == ("" if state == AnswerState.HELP else changed["note"])
    assert record.parts
    (own,) = shared_conversations.read(both, owner, conversation)
    assert own.note == changed["note"]


def test_a_conversation_about_a_collection_is_shared_with_its_readers_alone(
    both: Scope, owner: User, talk: Source
) -> None:
    conversation = conversations.begin(both, owner, collection="lectures")
    with pytest.raises(InvalidInput):
        conversations.change(both, conversation, shared_with="elsewhere")
    conversations.change(both, conversation, shared_with="lectures")
    assert conversations.find(both, owner, conversation.uuid).is_shared
    elsewhere = Collection.objects.get(slug="elsewhere")
    with pytest.raises(IntegrityError):
        Conversation.objects.filter(pk=conversation.pk).update(shared_with=elsewhere)


def test_nothing_is_shared_into_a_collection_that_its_owner_may_not_read(
    scope: Scope, both: Scope, answer: Answer
) -> None:
    for name in ("elsewhere", "nowhere", str(uuid4())):
        with pytest.raises(CollectionNotFound):
            conversations.change(scope, answer.conversation, shared_with=name)
    assert not Conversation.objects.get().is_shared


def test_readers_see_of_the_chosen_sources_only_theirs(
    scope: Scope, both: Scope, owner: User, answer: Answer, talk: Source, collection: Collection
) -> None:
    conversation = answer.conversation
    conversations.restrict(
        both, conversation, [str(id) for id in Source.objects.values_list("uuid", flat=True)]
    )
    conversations.change(both, conversation, shared_with="lectures")
    reader = make_user("grace", collection=collection)
    shared = conversations.find_readable(scope, reader, conversation.uuid)
    (listed,) = conversations.list_conversations(scope, reader, collection="lectures").conversations
    assert shared.sources == listed.sources == [str(talk.uuid)]
    assert len(conversations.find(both, owner, conversation.uuid).sources) == 2


def test_a_collection_that_is_deleted_ends_the_sharing(
    both: Scope, answer: Answer, elsewhere: Collection
) -> None:
    conversations.change(both, answer.conversation, shared_with="elsewhere")
    elsewhere.delete()
    assert not Conversation.objects.get().is_shared


def test_a_note_of_another_s_conversation_has_what_its_readers_see(
    both: Scope, answer: Answer, collection: Collection
) -> None:
    writer = make_user("grace", collection=collection)
    claims = [claim for claim in answer.claims if claim["citations"] == [1]]
    Answer.objects.update(claims=claims, note="Ask about “A talk”.", full_question="Why A talk?")
    conversations.change(both, answer.conversation, shared_with="lectures")
    writable = replace(both, writable=frozenset({collection.pk}))
    shared = conversations.find_readable(writable, writer, answer.conversation.uuid)
    note = notes.keep_conversation(writable, writer, shared)
    assert "Words 1." in note.text
    assert "A talk" not in note.text


def test_a_note_over_two_collections_is_kept_where_most_is_quoted_without_the_rest(
    both: Scope, owner: User, answer: Answer, collection: Collection
) -> None:
    writable = replace(both, writable=both.readable)
    kept = notes.keep(writable, owner, answer).note
    for note in (notes.keep_conversation(writable, owner, answer.conversation), kept):
        assert note.collection == collection
        assert "Words 1." in note.text
        assert "Words 2." not in note.text
        assert "*2 sentences that quote other collections are left out.*" in note.text
    assert notes.keep(writable, owner, answer, collection="elsewhere").note.text.count("Claim") == 1
