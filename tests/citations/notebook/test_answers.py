"""Stored answers: what is visible after sources are deleted or rights withdrawn."""

import pytest
from django.contrib.auth.models import User

from citations.models import Answer, Citation, Conversation, Source
from citations.notebook import answers, conversations, notes
from tests.citations.talks import finished_answer, talk_in
from transcripts.core.errors import Conflict
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection


def test_whoever_may_no_longer_read_a_source_sees_nothing_that_came_from_it(
    scope: Scope, owner: User, conversation: Conversation
) -> None:
    finished_answer(scope, owner, conversation)
    finished_answer(scope, owner, conversation, "Who won the football match in Lisbon yesterday?")
    answered, refused = answers.of_conversation(NOTHING, conversation)
    assert (answered.claims, answered.quotes, answered.nearest, refused.nearest) == ((), (), (), ())
    assert answered.withheld > 0
    assert answered.trace["evidence"] == answered.trace["checks"] == refused.trace["evidence"] == []
    assert "error of a network" not in str(answered)


def test_what_cited_a_source_that_was_deleted_stays_readable_and_says_so(
    scope: Scope, owner: User, conversation: Conversation, talk: Source, collection: Collection
) -> None:
    finished_answer(scope, owner, conversation)
    (before,) = answers.of_conversation(scope, conversation)
    talk.delete()
    (after,) = answers.of_conversation(scope, conversation)
    assert (after.claims, after.quotes, after.withheld) == (before.claims, (), 0)
    assert after.gone == tuple(quote.number for quote in before.quotes)
    with pytest.raises(Conflict, match="deleted"):
        notes.keep(
            scope, owner, answers.find_answer(scope, owner, after.id), collection=collection.slug
        )
    elsewhere = Scope(readable=frozenset({Collection.objects.create(name="Else", slug="else").pk}))
    for narrow in (NOTHING, elsewhere):
        (hidden,) = answers.of_conversation(narrow, conversation)
        assert (hidden.claims, hidden.gone, hidden.withheld) == ((), (), len(before.claims))
        assert "error of a network" not in str(hidden)


def test_what_stands_on_a_deleted_source_and_on_one_that_may_not_be_read_is_not_shown(
    scope: Scope, owner: User, talk: Source, collection: Collection
) -> None:
    elsewhere = Collection.objects.create(name="Else", slug="else")
    both = Scope(readable=scope.readable | {elsewhere.pk})
    other = talk_in(elsewhere, key="other")
    conversation = conversations.begin(both, owner)
    answer = finished_answer(both, owner, conversation)
    Citation.objects.filter(answer=answer).delete()
    places = {"span_start": 0, "span_end": 5, "digest": "d", "quote": "Words"}
    for number, source in enumerate((talk, other), start=1):
        Citation.objects.create(answer=answer, number=number, source=source, **places)
    claim = {"text": "Of both.", "citations": [1, 2], "is_supported": True}
    claims = [{**claim, "collections": [collection.pk, elsewhere.pk]}]
    Answer.objects.filter(pk=answer.pk).update(claims=claims)
    talk.delete()
    (record,) = answers.of_conversation(both, conversation)
    assert ([claim.text for claim in record.claims], record.gone) == (["Of both."], (1,))
    assert answers.of_conversation(scope, conversation)[0].claims == ()
    other.delete()
    assert answers.of_conversation(scope, conversation)[0].claims == ()
    assert answers.of_conversation(both, conversation)[0].gone == (1, 2)
