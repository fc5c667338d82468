"""Links that show one highlight or answer to people without an account.

A link shows what its author may still read, in collections whose owners allow links; otherwise it
leads nowhere, also later.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from citations.errors import AnswerNotFound, HighlightNotFound, LinksNotAllowed, SharedLinkNotFound
from citations.models import Answer, Highlight, SharedLink
from citations.notebook import answers, highlights
from citations.notebook.answers import AnswerRecord
from citations.notebook.highlights import PlacedHighlight
from transcripts.models import WRITING_ROLES, Collection
from transcripts.sanitize import uuid_of
from transcripts.scope import Scope
from transcripts.timecodes import watch_url

LIFETIMES: Final = (1, 7, 30, 90)  # days that can be chosen
LIFETIME: Final = 30
MOST: Final = 200  # links of an author


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedItem:
    """What a link shows: a highlight or an answer."""

    link: SharedLink
    highlight: PlacedHighlight | None = None
    answer: AnswerRecord | None = None

    @property
    def original(self) -> str:
        """The address of a highlighted moment on YouTube; else empty."""
        if self.highlight is None or self.highlight.locator is None:
            return ""
        video = self.highlight.row.source.video
        start = self.highlight.locator.start
        return watch_url(video.youtube_id, at_ms=start) if video and video.youtube_id else ""


def share_highlight(
    scope: Scope, user: User | None, placed: PlacedHighlight, *, days: int = LIFETIME
) -> SharedLink:
    """Make a link to a highlight. Raises ``LinksNotAllowed``, and ``Forbidden`` for readers."""
    collection = placed.row.source.collection
    scope.require_write(collection.pk)
    if not collection.allows_links:
        raise _not_allowed(f"“{collection.name}”")
    return _make(user, days, highlight=placed.row)


def share_answer(
    scope: Scope, user: User | None, answer: Answer, *, days: int = LIFETIME
) -> SharedLink:
    """Make a link to an answer: to what it quotes from collections that allow links.

    Raises ``LinksNotAllowed`` if nothing would be left.
    """
    if not _shows_claims(answer, user, scope.writable):
        raise _not_allowed("the collections that this answer quotes")
    return _make(user, days, answer=answer)


def list_links(scope: Scope, user: User | None) -> list[SharedLink]:
    """Return the user's links that have not expired, latest first."""
    own = SharedLink.objects.of(scope, user).unexpired()
    return list(own.select_related("highlight__source", "answer")[:MOST])


def revoke(scope: Scope, user: User | None, reference: UUID | str) -> None:
    """End a link at once. Raises ``SharedLinkNotFound``."""
    ended, _ = SharedLink.objects.of(scope, user).filter(uuid=uuid_of(reference)).delete()
    if not ended:
        raise _nowhere()


def follow(reference: UUID | str) -> SharedItem:
    """Return what a link shows. Raises ``SharedLinkNotFound``, whatever the reason."""
    links = SharedLink.objects.unexpired().filter(uuid=uuid_of(reference))
    link = links.select_related("author", "highlight", "answer").first()
    if link is None:
        raise _nowhere()
    scope = _shareable(link.author)
    try:
        if link.highlight is not None:
            placed = highlights.find(scope, link.author, link.highlight.uuid)
            return SharedItem(link=link, highlight=placed)
        assert link.answer is not None
        answers.find_answer(_whole(scope, link.answer), link.author, link.answer.uuid)
        (record,) = answers.read(scope, [link.answer])
    except (AnswerNotFound, HighlightNotFound):
        raise _nowhere() from None
    if not record.claims:
        raise _nowhere()
    return SharedItem(link=link, answer=record)


def allow_links(collection: Collection, *, is_allowed: bool) -> None:
    """Allow or forbid links to what a collection holds; forbidding ends those that exist."""
    Collection.objects.filter(pk=collection.pk).update(allows_links=is_allowed)
    collection.allows_links = is_allowed


def _make(
    user: User | None,
    days: int,
    *,
    highlight: Highlight | None = None,
    answer: Answer | None = None,
) -> SharedLink:
    expires_at = timezone.now() + timedelta(days=days)
    return SharedLink.objects.create(
        author=user, highlight=highlight, answer=answer, expires_at=expires_at
    )


def _shows_claims(answer: Answer, user: User | None, writable: frozenset[int]) -> bool:
    allowed = Scope(readable=_shareable(user).readable & writable)
    (record,) = answers.read(allowed, [answer])
    return bool(record.claims)


def _whole(scope: Scope, answer: Answer) -> Scope:
    """Widen a scope by the collection that a conversation is about: claims decide what is shown."""
    about = answer.conversation.collection_id
    return Scope(readable=scope.readable | ({about} if about else frozenset()))


def _shareable(author: User | None) -> Scope:
    """Return the collections that allow links and that the author may still change."""
    allowed = Collection.objects.filter(allows_links=True)
    if author is not None and not author.is_active:
        allowed = allowed.none()
    elif author is not None and not author.is_superuser:
        allowed = allowed.filter(memberships__user=author, memberships__role__in=WRITING_ROLES)
    return Scope(readable=frozenset(allowed.values_list("pk", flat=True)))


def _not_allowed(what: str) -> LinksNotAllowed:
    return LinksNotAllowed(
        f"Links for people without an account are not allowed in {what}.",
        hint="An owner of a collection can allow them on the page Shared links.",
    )


def _nowhere() -> SharedLinkNotFound:
    return SharedLinkNotFound(
        "This link leads nowhere: it has expired, or what it showed is no longer shared.",
        hint="Ask whoever gave it to you for a new one.",
    )
