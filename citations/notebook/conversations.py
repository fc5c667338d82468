"""Conversations: questions that follow one another, about a collection or some sources of it. Each has one owner, whom alone it is shown to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count

from citations.errors import ConversationNotFound, InvalidFilter
from citations.library.filters import MAX_VALUES, Filter, matching
from citations.models import Conversation, Source
from transcripts import library
from transcripts.errors import InvalidInput
from transcripts.models import Collection
from transcripts.sanitize import clean, uuid_of
from transcripts.scope import Scope

MAX_SOURCES: Final = 1_000  # that a conversation names
MAX_WORDS: Final = 1_000  # characters of what a title is looked for by


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """Some conversations, the latest first, each with ``answer_count``; ``next`` goes on after the last one, None at the end."""

    conversations: tuple[Conversation, ...]
    total: int
    next: int | None


def begin(
    scope: Scope,
    user: User | None,
    *,
    collection: str = "",
    sources: Sequence[str] = (),
    title: str = "",
) -> Conversation:
    """Begin a conversation about a collection ("": all that the caller may read), or about some ``sources`` of it (their ids or their videos').

    Its title becomes the first question, unless one is given. Raises ``CollectionNotFound``, ``SourceNotFound``, ``InvalidFilter``.
    """
    shelf = library.find_collection(scope, collection) if collection else None
    return Conversation.objects.create(
        collection=shelf,
        owner=user,
        title=clean(title, 300),
        sources=_chosen(scope, shelf, sources),
    )


def restrict(scope: Scope, conversation: Conversation, sources: Sequence[str]) -> None:
    """Let a conversation be about these sources from now on; none: about all of its collection. Raises ``SourceNotFound``, ``InvalidFilter``."""
    chosen = _chosen(scope, conversation.collection, sources)
    if chosen != conversation.sources:
        Conversation.objects.filter(pk=conversation.pk).update(sources=chosen)
        conversation.sources = chosen


def list_conversations(
    scope: Scope,
    user: User | None,
    *,
    words: str = "",
    collection: str = "",
    offset: int = 0,
    limit: int = 25,
) -> ConversationPage:
    """Return a page of the caller's conversations in whose title every one of ``words`` occurs, the latest first. Raises ``CollectionNotFound``."""
    found = Conversation.objects.of(scope, user)
    if collection:
        found = found.filter(collection=library.find_collection(scope, collection))
    for word in clean(words, MAX_WORDS).split()[:10]:
        found = found.filter(title__icontains=word)
    counted = (
        found.select_related("collection")
        .annotate(answer_count=Count("answers"))
        .order_by("-updated_at", "-pk")
    )
    rows = tuple(counted[offset : offset + limit + 1])
    return ConversationPage(
        conversations=rows[:limit],
        total=found.count(),
        next=offset + limit if len(rows) > limit else None,
    )


def find(scope: Scope, user: User | None, reference: UUID | str) -> Conversation:
    """Return the conversation of this id, if it is the caller's. Raises ``ConversationNotFound``."""
    found = (
        Conversation.objects.of(scope, user)
        .select_related("collection")
        .filter(uuid=uuid_of(reference))
        .first()
    )
    if found is None:
        raise ConversationNotFound("There is no such conversation.")
    return found


def rename(conversation: Conversation, title: str) -> None:
    """Give a conversation another title. Raises ``InvalidInput`` for none."""
    wanted = " ".join(clean(title, 300).split())
    if not wanted:
        raise InvalidInput("The conversation has no title.", hint="Give it a short one.")
    Conversation.objects.filter(pk=conversation.pk).update(title=wanted)
    conversation.title = wanted


def delete(conversation: Conversation) -> None:
    """Delete a conversation with its answers and what they quote. Sources stay, and so do notes."""
    with transaction.atomic():
        Conversation.objects.select_for_update(of=("self",)).filter(
            pk=conversation.pk
        ).first()  # who stores an answer just now comes first, or finds it gone
        Conversation.objects.filter(pk=conversation.pk).delete()


# What comes from outside


def _chosen(scope: Scope, shelf: Collection | None, references: Sequence[str]) -> list[str]:
    """Look up sources of one collection, or of any; returns their ids, in an order that does not change."""
    wanted = tuple(dict.fromkeys(references))
    if len(wanted) > MAX_SOURCES:
        raise InvalidFilter(
            f"A conversation names at most {MAX_SOURCES:,} sources; it is about all of its collection when it names none."
        )
    there = Scope(readable=scope.readable & {shelf.pk}) if shelf else scope
    batches = [wanted[at : at + MAX_VALUES] for at in range(0, len(wanted), MAX_VALUES)]
    found = {one for batch in batches for one in _ids(there, batch)}
    return sorted(map(str, found))


def _ids(scope: Scope, references: tuple[str, ...]) -> Iterator[UUID]:
    """Return the ids of sources; those that are ids already, as a page sends them, are looked up at once."""
    ids = {uuid_of(one) for one in references}
    known = set(Source.objects.visible(scope).filter(uuid__in=ids).values_list("uuid", flat=True))
    yield from known
    others = tuple(one for one in references if uuid_of(one) not in known)
    if others:
        yield from matching(scope, Filter(sources=others)).values_list("uuid", flat=True)
