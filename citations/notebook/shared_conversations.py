"""Conversations as those read them with whom they are shared, and with whom they can be.

A claim is read by who may read all sources that it cites. Of a conversation about everything, what
else is stored with an answer may name sources that its readers may not see: only its owner reads
that.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import UUID

from django.contrib.auth.models import User

from citations.models import Answer, AnswerState, Conversation
from citations.notebook import answers
from citations.notebook.answers import AnswerRecord
from transcripts.core.alphabet import alphabet_key
from transcripts.core.scope import Scope
from transcripts.models import Collection


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChoice:
    """A collection with whose readers a conversation can be shared: of its ``total`` claims, those
    who read this collection alone do not see the ``withheld`` ones.
    """

    collection: Collection
    total: int
    withheld: int


def read(scope: Scope, user: User | None, conversation: Conversation) -> tuple[AnswerRecord, ...]:
    """Return the answers of a conversation, in order, as this user may see them."""
    records = answers.of_conversation(scope, conversation)
    return tuple(as_seen(user, conversation, record) for record in records)


def find_answer(
    scope: Scope, user: User | None, reference: UUID | str
) -> tuple[Answer, AnswerRecord]:
    """Return an answer of the user's, or a shared one, as they may see it. Raises
    ``AnswerNotFound``.
    """
    answer = answers.find_answer(scope, user, reference, shared=True)
    (record,) = answers.read(scope, [answer])
    return answer, as_seen(user, answer.conversation, record)


def choices(
    records: Iterable[AnswerRecord], collections: Iterable[Collection]
) -> tuple[ShareChoice, ...]:
    """Return the collections that answers cite, of these: first those whose readers see most."""
    cited: list[set[str]] = []  # the collections of the sources that each claim cites
    for record in records:
        slugs = {quote.number: quote.origin.collection for quote in record.quotes}
        cited += (
            {slugs[number] for number in claim.citations if number in slugs}
            for claim in record.claims
        )
    named = set().union(*cited)
    offered = (
        ShareChoice(
            collection=collection,
            total=len(cited),
            withheld=sum(not own <= {collection.slug} for own in cited),
        )
        for collection in collections
        if collection.slug in named
    )
    return tuple(
        sorted(offered, key=lambda choice: (choice.withheld, alphabet_key(choice.collection.name)))
    )


def as_seen(user: User | None, conversation: Conversation, record: AnswerRecord) -> AnswerRecord:
    """Return what a user sees of an answer that was read in their scope."""
    if conversation.is_of(user) or conversation.collection_id is not None:
        return record
    is_rewritten = record.full_question not in ("", record.question)
    says_more = is_rewritten or record.state == AnswerState.HELP
    return replace(
        record,
        full_question=record.question,
        note="" if says_more else record.note,
        parts=() if is_rewritten else record.parts,
        claims=tuple(replace(claim, heading="") for claim in record.claims)
        if is_rewritten
        else record.claims,
        trace={},
    )
