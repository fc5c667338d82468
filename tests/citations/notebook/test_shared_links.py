"""Shared links: who makes them, what they show, and when they end."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from citations.errors import LinksNotAllowed, SharedLinkNotFound
from citations.models import Conversation, Highlight, SharedLink, Source
from citations.notebook import answers, highlights, shared_links
from citations.notebook.highlights import PlacedHighlight, SelectedText
from tests.citations.talks import asked
from tests.makers import make_paper
from transcripts.errors import Forbidden
from transcripts.models import Collection, Membership, Role
from transcripts.scope import NOTHING, Scope

SAID = "The error runs backwards."


@pytest.fixture
def placed(scope: Scope, owner: User, collection: Collection) -> PlacedHighlight:
    """A private highlight in a collection that allows links."""
    shared_links.allow_links(collection, is_allowed=True)
    book = make_paper(collection, [SAID, "Each weight follows."])
    return highlights.keep(scope, owner, str(book.uuid), SelectedText(exact=SAID)).placed


@pytest.fixture
def link(scope: Scope, owner: User, placed: PlacedHighlight) -> SharedLink:
    return shared_links.share_highlight(scope, owner, placed)


def test_a_link_shows_the_words_and_their_place(link: SharedLink) -> None:
    item = shared_links.follow(str(link.uuid))
    assert item.highlight is not None
    assert item.highlight.row.quote == SAID
    assert item.highlight.locator is not None
    assert item.highlight.locator.page == 1


def test_links_are_off_until_an_owner_of_the_collection_allows_them(
    scope: Scope, owner: User, placed: PlacedHighlight, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=False)
    placed = highlights.find(scope, owner, placed.row.uuid)
    with pytest.raises(LinksNotAllowed):
        shared_links.share_highlight(scope, owner, placed)


def test_who_may_only_read_shares_nothing(
    scope: Scope, owner: User, placed: PlacedHighlight
) -> None:
    with pytest.raises(Forbidden):
        shared_links.share_highlight(Scope(readable=scope.readable), owner, placed)


def forbid(link: SharedLink) -> None:
    Collection.objects.update(allows_links=False)


def expire(link: SharedLink) -> None:
    SharedLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def leave(link: SharedLink) -> None:
    Membership.objects.all().delete()


def demote(link: SharedLink) -> None:
    Membership.objects.update(role=Role.VIEWER)


def deactivate(link: SharedLink) -> None:
    User.objects.update(is_active=False)


def delete_highlight(link: SharedLink) -> None:
    Highlight.objects.all().delete()


def move_source(link: SharedLink) -> None:
    other = Collection.objects.create(name="Else", slug="else")
    Source.objects.update(collection=other)


def revoke(link: SharedLink) -> None:
    readable = frozenset(Collection.objects.values_list("pk", flat=True))
    shared_links.revoke(Scope(readable=readable), link.author, str(link.uuid))


@pytest.mark.parametrize(
    "end", [forbid, expire, leave, demote, deactivate, delete_highlight, move_source, revoke]
)
def test_a_link_ends_when_what_it_rests_on_ends(
    link: SharedLink, end: Callable[[SharedLink], None]
) -> None:
    shared_links.follow(str(link.uuid))
    end(link)
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(str(link.uuid))


@pytest.mark.parametrize("reference", ["", "x", "\0", str(UUID(int=7))])
def test_an_address_that_nobody_made_leads_nowhere(db: None, reference: str) -> None:
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(reference)


def test_nobody_revokes_or_sees_the_link_of_another_or_outside_the_scope(
    scope: Scope, owner: User, link: SharedLink
) -> None:
    other = User.objects.create_user("grace")
    for held, user in ((scope, other), (NOTHING, owner)):
        assert shared_links.list_links(held, user) == []
        with pytest.raises(SharedLinkNotFound):
            shared_links.revoke(held, user, str(link.uuid))
    assert shared_links.list_links(scope, owner) == [link]


@pytest.mark.usefixtures("fake_models")
def test_an_answer_shows_only_what_collections_with_links_say(
    scope: Scope, owner: User, talk: Source, conversation: Conversation, collection: Collection
) -> None:
    answer = asked(scope, owner, conversation)
    with pytest.raises(LinksNotAllowed):
        shared_links.share_answer(scope, owner, answer)
    shared_links.allow_links(collection, is_allowed=True)
    link = shared_links.share_answer(scope, owner, answer)
    shown = shared_links.follow(str(link.uuid)).answer
    (kept,) = answers.read(scope, [answer])
    assert shown is not None
    assert shown.claims == kept.claims
    shared_links.allow_links(collection, is_allowed=False)
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(str(link.uuid))
