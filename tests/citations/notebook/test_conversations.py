"""Conversations: what they are about, who finds them, and how they end."""

from uuid import UUID

import pytest
from django.contrib.auth.models import User

from citations.errors import AnswerNotFound, ConversationNotFound, SourceNotFound
from citations.models import Citation, Conversation, Source
from citations.notebook import answers, conversations
from tests.citations.talks import QUESTION, again, ask, finished_answer, talk_in
from tests.contention import run_against
from tests.makers import make_user
from transcripts.core import deleting
from transcripts.core.errors import InvalidInput
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection


def test_only_the_sources_that_were_chosen_are_asked(
    scope: Scope, owner: User, talk: Source, collection: Collection
) -> None:
    other = talk_in(
        collection,
        key="other",
        said=("Backpropagation carries nothing at all to the start of a network, said the other.",),
    )
    chosen = conversations.begin(
        scope, owner, collection=collection.slug, sources=[str(other.uuid)]
    )
    assert chosen.sources == [str(other.uuid)]
    answer = finished_answer(scope, owner, chosen)
    assert {row.source_id for row in answer.citations.all()} == {other.pk}
    other.delete()
    with pytest.raises(SourceNotFound):
        finished_answer(scope, owner, chosen)


def test_what_cannot_be_seen_cannot_be_chosen(
    scope: Scope, owner: User, talk: Source, collection: Collection
) -> None:
    elsewhere = Collection.objects.create(name="Else", slug="else")
    with pytest.raises(SourceNotFound):
        conversations.begin(
            Scope(readable=frozenset({elsewhere.pk})), owner, sources=[str(talk.uuid)]
        )
    both = Scope(readable=frozenset({elsewhere.pk, collection.pk}))
    with pytest.raises(SourceNotFound):
        conversations.begin(both, owner, collection="else", sources=[str(talk.uuid)])


def test_nobody_finds_the_conversation_of_another(
    scope: Scope, owner: User, conversation: Conversation, collection: Collection
) -> None:
    answer = finished_answer(scope, owner, conversation)
    for stranger in (make_user("grace", collection=collection), None):
        assert conversations.list_conversations(scope, stranger).total == 0
        with pytest.raises(ConversationNotFound):
            conversations.find(scope, stranger, conversation.uuid)
        with pytest.raises(ConversationNotFound):
            ask(scope, stranger, conversation, QUESTION)
        with pytest.raises(AnswerNotFound):
            answers.find_answer(scope, stranger, answer.uuid)
        with pytest.raises(ConversationNotFound):
            again(scope, stranger, answer)
    assert conversations.find(scope, owner, str(conversation.uuid)) == conversation
    for wrong in ("", "x", "\0", "\ud800", UUID(int=1)):
        with pytest.raises(ConversationNotFound):
            conversations.find(scope, owner, wrong)


# Keeping


def test_conversations_are_listed_latest_first_and_found_by_their_title(
    scope: Scope, owner: User, conversation: Conversation, collection: Collection
) -> None:
    finished_answer(scope, owner, conversation)
    other = conversations.begin(scope, owner, collection="lectures", title="Bread")
    finished_answer(scope, owner, conversation, "What is the learning rate?")
    page = conversations.list_conversations(scope, owner, limit=1)
    assert (page.conversations, page.total, page.next) == ((conversation,), 2, 1)
    assert page.conversations[0].answer_count == 2
    for narrow in ({"words": "bread"}, {"collection": "lectures"}):
        page = conversations.list_conversations(scope, owner, **narrow)
        assert page.conversations == (other,)
    assert conversations.list_conversations(NOTHING, owner, words="bread").total == 0


def test_a_user_s_own_latest_conversation_is_not_what_is_pinned_or_shared(
    scope: Scope, owner: User, conversation: Conversation, collection: Collection
) -> None:
    conversations.change(scope, conversation, is_pinned=True)
    latest = conversations.begin(scope, owner, collection="lectures", title="Bread")
    shared = conversations.begin(scope, None, collection="lectures", title="Another's")
    conversations.change(scope, shared, shared_with="lectures")
    everything = conversations.list_conversations(scope, owner).conversations
    assert [entry.pk for entry in everything] == [conversation.pk, shared.pk, latest.pk]
    own = conversations.list_conversations(scope, owner, own=True).conversations
    assert [entry.pk for entry in own] == [latest.pk, conversation.pk]


def test_a_conversation_is_renamed_and_deleted_also_while_it_is_answered(
    scope: Scope, owner: User, conversation: Conversation, talk: Source
) -> None:
    conversations.change(scope, conversation, title=" On\nnetworks ")
    assert conversations.find(scope, owner, conversation.uuid).title == "On networks"
    with pytest.raises(InvalidInput):
        conversations.change(scope, conversation, title=" ")
    events = ask(scope, owner, conversation, QUESTION)
    next(events)
    conversations.delete(conversation)
    with pytest.raises(AnswerNotFound):
        list(events)
    assert not Citation.objects.exists()
    assert Source.objects.get() == talk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("target", ["conversation", "owner"])
def test_a_deletion_waits_for_an_answer_that_is_being_stored(
    scope: Scope, owner: User, conversation: Conversation, talk: Source, target: str
) -> None:
    answer = finished_answer(scope, owner, conversation, QUESTION)
    deletions = {
        "conversation": lambda: conversations.delete(conversation),
        "owner": lambda: deleting.delete_row(owner),
    }
    run_against(
        deletions[target],
        lock=conversation.touch,
        write=lambda: Citation.objects.filter(answer=answer).delete(),
    )
    assert not Conversation.objects.exists()
