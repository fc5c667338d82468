"""Conversations about a collection or some of its sources: private, unless their owner shares."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Q

from citations.errors import ConversationNotFound, InvalidFilter
from citations.library.filters import Filter, matching
from citations.models import Conversation, Source
from citations.schemas.filters import MAX_VALUES
from citations.schemas.requests import MAX_ASKED
from transcripts.core import deleting
from transcripts.core.errors import InvalidInput
from transcripts.core.lists import containing, page_of, row_of
from transcripts.core.sanitize import clean, uuid_of
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection

DETAILS: Final = ("collection", "shared_with", "owner")  # to load with conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPage:
    """Conversations with ``answer_count``, latest first; ``next`` is an offset or None."""

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
    """Start a conversation about a collection ("": all that are readable), or ``sources`` of it.

    Sources are ids, or those of videos. Without a title, the first question becomes it. Raises
    ``CollectionNotFound``, ``SourceNotFound``, ``InvalidFilter``.
    """
    target = library.find_collection(scope, collection) if collection else None
    return Conversation.objects.create(
        collection=target,
        owner=user,
        title=clean(title, 300),
        sources=_find_sources(scope, target, sources),
    )


def restrict(scope: Scope, conversation: Conversation, sources: Sequence[str]) -> None:
    """Change the sources. Raises ``SourceNotFound``, ``InvalidFilter``."""
    ids = _find_sources(scope, conversation.collection, sources)
    if ids != conversation.sources:
        Conversation.objects.filter(pk=conversation.pk).update(sources=ids)
        conversation.sources = ids


def list_conversations(
    scope: Scope,
    user: User | None,
    *,
    words: str = "",
    collection: str = "",
    own: bool = False,
    offset: int = 0,
    limit: int = 25,
) -> ConversationPage:
    """Return the user's and shared conversations with all ``words`` in the title, about a
    ``collection`` or shared with it: the user's pinned ones first. ``own``: the user's alone, in
    order of time. Raises ``CollectionNotFound``.
    """
    manager = Conversation.objects
    conversations = manager.of(scope, user) if own else manager.readable(scope, user)
    if collection:
        target = library.find_collection(scope, collection)
        conversations = conversations.filter(Q(collection=target) | Q(shared_with=target))
    conversations = containing(conversations, words, "title")
    counted = conversations.select_related(*DETAILS).annotate(
        answer_count=Count("answers"), is_first=Q(is_pinned=True, owner=user)
    )
    order = ["-updated_at", "-pk"] if own else ["-is_first", "-updated_at", "-pk"]
    rows, following = page_of(counted.order_by(*order), offset, limit)
    _hide_sources(scope, user, rows)
    return ConversationPage(conversations=rows, total=conversations.count(), next=following)


def find(scope: Scope, user: User | None, reference: UUID | str) -> Conversation:
    """Return the user's conversation of this id. Raises ``ConversationNotFound``."""
    own = Conversation.objects.of(scope, user).select_related(*DETAILS)
    return row_of(own, reference, ConversationNotFound)


def find_readable(scope: Scope, user: User | None, reference: UUID | str) -> Conversation:
    """Return the user's conversation of this id, or a shared one. Raises what ``find`` raises."""
    readable = Conversation.objects.readable(scope, user).select_related(*DETAILS)
    conversation = row_of(readable, reference, ConversationNotFound)
    _hide_sources(scope, user, [conversation])
    return conversation


def change(
    scope: Scope,
    conversation: Conversation,
    *,
    title: str | None = None,
    is_pinned: bool | None = None,
    shared_with: str | None = None,
) -> None:
    """Change the given fields; ``shared_with`` names the collection whose readers read it, empty:
    nobody's. Raises ``InvalidInput`` for an empty title, and for a conversation about another
    collection, and ``CollectionNotFound``.
    """
    if title is not None:
        conversation.title = " ".join(clean(title, 300).split())
        if not conversation.title:
            raise InvalidInput("The title is empty.", hint="Enter a short one.")
    if shared_with is not None:
        conversation.shared_with = _find_readers(scope, conversation, shared_with)
    conversation.is_pinned = conversation.is_pinned if is_pinned is None else is_pinned
    Conversation.objects.filter(pk=conversation.pk).update(
        title=conversation.title,
        is_pinned=conversation.is_pinned,
        shared_with=conversation.shared_with,
    )


def delete(conversation: Conversation) -> None:
    """Delete a conversation with its answers and citations. Sources and notes stay."""
    deleting.delete_row(conversation)


def _find_readers(scope: Scope, conversation: Conversation, name: str) -> Collection | None:
    if not name:
        return None
    target = library.find_collection(scope, name)
    if conversation.collection_id not in (None, target.pk):
        raise InvalidInput(
            "A conversation about one collection is shared with the readers of that.",
            hint="Ask the whole library to share what it says with the readers of another one.",
        )
    return target


def _hide_sources(scope: Scope, user: User | None, rows: Iterable[Conversation]) -> None:
    """Leave out the chosen sources that a reader of another's conversation may not see."""
    foreign = [row for row in rows if row.sources and not row.is_of(user)]
    if not foreign:
        return
    ids = {id for row in foreign for id in row.sources}
    visible = Source.objects.visible(scope).filter(uuid__in=ids).values_list("uuid", flat=True)
    shown = set(map(str, visible))
    for row in foreign:
        row.sources = [id for id in row.sources if id in shown]


def _find_sources(scope: Scope, target: Collection | None, references: Sequence[str]) -> list[str]:
    """Return the ids of sources of a collection, or of any, in a stable order."""
    unique = tuple(dict.fromkeys(references))
    if len(unique) > MAX_ASKED:
        raise InvalidFilter(
            f"A conversation can name at most {MAX_ASKED:,} sources.",
            hint="Name none to ask the whole collection.",
        )
    inside = Scope(readable=scope.readable & {target.pk}) if target else scope
    batches = (unique[start : start + MAX_VALUES] for start in range(0, len(unique), MAX_VALUES))
    return sorted({str(id) for batch in batches for id in _ids(inside, batch)})


def _ids(scope: Scope, references: tuple[str, ...]) -> Iterator[UUID]:
    """Yield the ids of sources; references that are ids, as pages send them, need one query."""
    ids = {uuid_of(reference) for reference in references}
    visible = set(Source.objects.visible(scope).filter(uuid__in=ids).values_list("uuid", flat=True))
    yield from visible
    others = tuple(reference for reference in references if uuid_of(reference) not in visible)
    if others:
        yield from matching(scope, Filter(sources=others)).values_list("uuid", flat=True)
