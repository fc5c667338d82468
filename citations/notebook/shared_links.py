"""Links that show one highlight, answer, passage, page or clip to people without an account.

A link shows what its author may still read, in collections whose owners allow links; otherwise it
leads nowhere, also later.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from citations import errors
from citations.documents import pages
from citations.errors import (
    CutterBusy,
    CutterMissing,
    LinksNotAllowed,
    PassageNotFound,
    SharedLinkNotFound,
)
from citations.library.filters import find_source
from citations.models import Answer, Citation, SharedLink, Source
from citations.models.shared_links import SharedLinkQuerySet
from citations.notebook import answers, highlights, link_terms, shared_items
from citations.notebook.shared_items import SharedItem, SharedPassage
from citations.passages import Locator
from citations.quotes import source_texts, verification
from citations.quotes.anchoring import SelectedText
from transcripts.core.errors import InvalidInput, NotFound
from transcripts.core.lists import row_of
from transcripts.core.sanitize import uuid_of
from transcripts.core.scope import Scope
from transcripts.models import WRITING_ROLES, Collection, Membership, Role

LIFETIMES: Final = (1, 7, 30, 90)  # days that can be chosen
LIFETIME: Final = 30
MAX_LINKS: Final = 200  # links of an author


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTarget:
    """The target of a link: a highlight, an answer, a page, a clip of a recording (ms), or the
    words of a citation, which the link keeps.
    """

    highlight: UUID | str = ""
    answer: UUID | str = ""
    citation: UUID | str = ""
    source: UUID | str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None


@transaction.atomic
def share(
    scope: Scope,
    user: User | None,
    target: ShareTarget,
    *,
    days: int = LIFETIME,
    plays_file: bool = False,
) -> SharedLink:
    """Make a link to one thing: of an answer, to what it quotes from collections that allow links.

    Where it ``plays_file``, it plays what it shows, and nothing else of the file of a recording.

    Raises ``LinksNotAllowed``, ``Forbidden`` for readers, ``InvalidInput`` for anything but one
    thing, what finding it raises, and what ``cutter.cut`` raises.
    """
    if sum(map(bool, (target.highlight, target.answer, target.citation, target.source))) != 1:
        raise InvalidInput("A link shows one thing: a highlight, an answer, a page or a clip.")
    expires_at = timezone.now() + timedelta(days=days)
    link = SharedLink.objects.create(
        author=user, expires_at=expires_at, plays_file=plays_file, **_columns(scope, user, target)
    )
    if plays_file:
        shared_items.cut_clips(_with_recordings(_shown(link)))
    return link


def _columns(scope: Scope, user: User | None, target: ShareTarget) -> dict[str, Any]:
    """Return what a link keeps of its target."""
    if target.citation:
        citation = _citation(scope, target.citation)
        _require_links(scope, citation.source)
        return _words(citation)
    if target.highlight:
        placed = highlights.find(scope, user, target.highlight)
        _require_links(scope, placed.row.source)
        return {"highlight": placed.row}
    if target.answer:
        answer = answers.find_answer(scope, user, target.answer)
        if not _shows_claims(answer, user, scope.writable):
            raise _not_allowed("the collections that this answer quotes")
        return {"answer": answer}
    source = find_source(scope, str(target.source))
    _require_links(scope, source)
    shared_items.require_length(source, target.end)
    place: dict[str, Any] = {"page": target.page, "start": target.start, "end": target.end}
    passage = _passage(scope, SharedLink(source=source, **place))
    if target.page is not None:
        return {"source": source, **place}
    # By its words, a clip is found where the times have moved.
    prefix, suffix = source_texts.of(passage.source).around(passage.locator.span)
    return {"source": source, **place, "quote": passage.text, "prefix": prefix, "suffix": suffix}


def obstacles(scope: Scope, user: User | None, target: ShareTarget) -> list[Collection]:
    """Return the collections that keep this from being shared: without links, or only read.

    Raises what finding it raises.
    """
    sources = Source.objects.visible(scope)
    if target.answer:
        answer = answers.find_answer(scope, user, target.answer)
        if _shows_claims(answer, user, scope.writable):
            return []
        sources = sources.filter(citations__answer=answer)
    elif target.citation:
        sources = sources.filter(pk=_citation(scope, target.citation).source_id)
    elif target.highlight:
        placed = highlights.find(scope, user, target.highlight)
        sources = sources.filter(pk=placed.row.source_id)
    else:
        sources = sources.filter(pk=find_source(scope, str(target.source)).pk)
    rows = Collection.objects.filter(pk__in=sources.values("collection"))
    return [row for row in rows if link_terms.is_hindering(scope, row)]


def list_links(scope: Scope, user: User | None) -> list[SharedLink]:
    """Return the user's links that have not expired, latest first."""
    own = SharedLink.objects.of(scope, user).unexpired()
    return list(own.select_related("highlight__source", "answer", "source__video")[:MAX_LINKS])


def owned(scope: Scope, user: User | None) -> frozenset[int]:
    """Return the ids of the collections that a user owns and may change now."""
    if user is None or user.is_superuser:
        return scope.writable
    own = Membership.objects.filter(user=user, role=Role.OWNER, collection__in=scope.writable)
    return frozenset(own.values_list("collection", flat=True))


def of_others(scope: Scope, user: User | None) -> SharedLinkQuerySet:
    """Return the links of others to collections that a user owns, latest first."""
    others = SharedLink.objects.exclude(author=user).showing(owned(scope, user))
    return others.select_related("author", "highlight__source", "answer", "source")


def expired(scope: Scope, user: User | None) -> SharedLinkQuerySet:
    """Return the links of a user that have expired, latest first."""
    own = SharedLink.objects.of(scope, user).expired()
    return own.select_related("highlight__source", "answer", "source")


def revoke(scope: Scope, user: User | None, reference: UUID | str) -> None:
    """End a link of the user, or to a collection that the user owns, at once.

    Raises ``SharedLinkNotFound``.
    """
    pk = uuid_of(reference)
    ended = SharedLink.objects.of(scope, user).filter(uuid=pk)
    if not ended.exists():
        ended = of_others(scope, user).filter(uuid=pk)
    if not ended.delete()[0]:
        raise _nowhere()


def renew(scope: Scope, user: User | None, reference: UUID | str) -> None:
    """Let a link of the user lead somewhere for ``LIFETIME`` days from now.

    Raises ``SharedLinkNotFound``, also for what is no longer shared.
    """
    link = SharedLink.objects.of(scope, user).filter(uuid=uuid_of(reference)).first()
    if link is None:
        raise _nowhere()
    _shown(link)
    link.expires_at = timezone.now() + timedelta(days=LIFETIME)
    link.save(update_fields=["expires_at"])


def follow(reference: UUID | str) -> SharedItem:
    """Return what a link shows and plays. Raises ``SharedLinkNotFound``, whatever the reason."""
    links = SharedLink.objects.unexpired().filter(uuid=uuid_of(reference))
    link = links.select_related("author", "highlight", "answer", "source").first()
    if link is None:
        raise _nowhere()
    item = _with_recordings(_shown(link))
    return replace(item, clips=shared_items.find_clips(item))


def follow_to_play(reference: UUID | str) -> SharedItem:
    """Return what a link shows, and cut what it plays if its words have moved, or its file was
    replaced. Raises ``SharedLinkNotFound``, whatever the reason.
    """
    item = follow(reference)
    # Or the disk is full; the words are shown without sound.
    with suppress(CutterBusy, CutterMissing, OSError):
        if shared_items.recut_clips(item):
            return replace(item, clips=shared_items.find_clips(item))
    return item


def _shown(link: SharedLink) -> SharedItem:
    """Return what a link shows. Raises ``SharedLinkNotFound``, whatever the reason."""
    try:
        return _item(_shareable(link.author), link)
    except PassageNotFound:
        raise SharedLinkNotFound(
            "The content of this link is no longer in its source, which has changed since.",
            hint="Ask whoever gave it to you for a new one.",
        ) from None
    except (NotFound, InvalidInput):
        raise _nowhere() from None


def _item(scope: Scope, link: SharedLink) -> SharedItem:
    """Return what a link shows. Raises ``NotFound`` and ``InvalidInput``."""
    if link.highlight is not None:
        placed = highlights.find(scope, link.author, link.highlight.uuid)
        return SharedItem(link=link, highlight=placed)
    if link.source is not None:
        return SharedItem(link=link, passage=_passage(scope, link))
    assert link.answer is not None
    # The collection that the conversation is about counts as readable: claims decide what is shown.
    about = link.answer.conversation.collection_id
    whole = scope.readable | ({about} if about else frozenset())
    answers.find_answer(Scope(readable=whole), link.author, link.answer.uuid)
    (record,) = answers.read(scope, [link.answer])
    if not record.claims:
        raise _nowhere()
    return SharedItem(link=link, answer=record)


def _with_recordings(item: SharedItem) -> SharedItem:
    """Add the recordings of what is shown."""
    sources = [source for source, _ in item.places]
    rows = Source.objects.filter(uuid__in=sources, video__isnull=False)
    videos = {row.uuid: row.video for row in rows.select_related("video__media") if row.video}
    return replace(item, recordings=videos)


def allow_links(collection: Collection, *, is_allowed: bool) -> None:
    """Allow or forbid links to what a collection holds; forbidding ends those that exist."""
    Collection.objects.filter(pk=collection.pk).update(allows_links=is_allowed)
    collection.allows_links = is_allowed


def _require_links(scope: Scope, source: Source) -> None:
    scope.require_write(source.collection_id)
    if not source.collection.allows_links:
        raise _not_allowed(f"“{source.collection.title}”")


def _citation(scope: Scope, reference: UUID | str) -> Citation:
    visible = Citation.objects.visible(scope).select_related("source__collection")
    return row_of(visible, reference, errors.CitationNotFound)


def _words(citation: Citation) -> dict[str, Any]:
    """Return what a link keeps of a citation. Raises ``PassageNotFound`` if its words are gone."""
    at = verification.locator_of(citation)
    if at is None:
        raise _gone(citation.source)
    words = {name: getattr(citation, name) for name in ("source", "quote", "prefix", "suffix")}
    if at.start is None:
        return {**words, "page": at.page or 1}
    return {**words, "start": at.start, "end": max(at.end or 0, at.start + 1)}


def _passage(scope: Scope, link: SharedLink) -> SharedPassage:
    """Return the page, the clip or the words of a link. Raises ``SourceNotFound``,
    ``PageNotFound``, ``PassageNotFound``, and ``InvalidInput`` for a place that the source does not
    have.
    """
    assert link.source is not None
    source = find_source(scope, str(link.source.uuid))
    if link.quote and not _has_clip(link, source):
        return _quoted(link, source)
    if source.video_id is None:
        if link.page is None or link.start is not None or link.end is not None:
            raise InvalidInput("Of a document, a page is shared.", hint="Name its number, from 1.")
        view = pages.show_page(scope, source.uuid, link.page)
        first = view.page.start
        span = (first, first + len(view.page.text))
        locator = Locator(
            span=span, page=link.page, last_page=link.page, is_slide=source.has_slides
        )
        return SharedPassage(source=source, locator=locator, text=view.page.text, image=view.image)
    start, end = link.start, link.end
    if start is not None and end is not None:
        shared_items.require_order(start, end)
    if link.page is not None or start is None or end is None:
        raise InvalidInput(
            "Of a recording, a clip is shared: from a time until a later one.",
            hint=f"It lasts at most {shared_items.MAX_CLIP // 60_000} minutes.",
        )
    reading = source_texts.of(source)
    words = reading.said_between(start, end)
    if words is None:
        raise InvalidInput("Nothing is said in this clip.", hint="Choose other times.")
    locator = Locator(span=words, start=start, end=end, page=None, last_page=None)
    text, speaker = reading.text[slice(*words)], reading.speaker_of(words)
    return SharedPassage(source=source, locator=locator, text=text, speaker=speaker)


def _has_clip(link: SharedLink, source: Source) -> bool:
    """Tell whether the words of a link, and no others, are said at its times."""
    if link.start is None or link.end is None:
        return False
    reading = source_texts.of(source)
    words = reading.said_between(link.start, link.end)
    return words is not None and reading.text[slice(*words)].split() == link.quote.split()


def _quoted(link: SharedLink, source: Source) -> SharedPassage:
    """Return the words of a link as they stand in their source now."""
    reading = source_texts.of(source)
    selected = SelectedText(exact=link.quote, prefix=link.prefix, suffix=link.suffix)
    span = source_texts.find(source, selected, start=link.start, page=link.page)
    if span is None:
        raise _gone(source)
    return SharedPassage(
        source=source,
        locator=reading.locate(span),
        text=reading.text[slice(*span)],
        speaker=reading.speaker_of(span),
    )


def _shows_claims(answer: Answer, user: User | None, writable: frozenset[int]) -> bool:
    allowed = Scope(readable=_shareable(user).readable & writable)
    (record,) = answers.read(allowed, [answer])
    return bool(record.claims)


def _shareable(author: User | None) -> Scope:
    """Return the collections that allow links and that the author may still change."""
    allowed = Collection.objects.filter(allows_links=True)
    if author is not None and not author.is_active:
        allowed = allowed.none()
    elif author is not None and not author.is_superuser:
        allowed = allowed.filter(memberships__user=author, memberships__role__in=WRITING_ROLES)
    return Scope(readable=frozenset(allowed.values_list("pk", flat=True)))


def _not_allowed(place: str) -> LinksNotAllowed:
    return LinksNotAllowed(
        f"Links for people without an account are not allowed in {place}.",
        hint="An owner of a collection can allow them on the page Shared links.",
    )


def _gone(source: Source) -> PassageNotFound:
    return PassageNotFound(f"“{source.title}” does not have these words any more.")


def _nowhere() -> SharedLinkNotFound:
    return SharedLinkNotFound(
        "This link leads nowhere.",
        hint="It may be mistyped or cut off, it may have expired or been revoked, or what it showed"
        " was deleted or is no longer shared. Open it exactly as it was sent to you, or ask whoever"
        " sent it for a new one.",
    )
