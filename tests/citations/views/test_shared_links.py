"""The list of shared links: expired ones, those that others made, and what viewers are told."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from citations.models import Answer, Citation, Conversation, SharedLink, Source
from tests.html import assert_shows, text_of
from tests.makers import make_paper, make_user
from transcripts.models import Collection, Role

LIST = "/shared-links/"


@pytest.fixture
def source(collection: Collection) -> Source:
    Collection.objects.update(allows_links=True)
    return make_paper(collection, ["Ice is cold."], title="Notes on ice")


@pytest.fixture
def editor(collection: Collection) -> User:
    return make_user("mia", collection=collection, role=Role.EDITOR)


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def make_link(author: User, *, days: int = 7, **target: object) -> SharedLink:
    expires_at = timezone.now() + timedelta(days=days)
    return SharedLink.objects.create(author=author, expires_at=expires_at, **target)


def test_an_owner_sees_who_made_which_links_and_revokes_each(
    page: Client, editor: User, source: Source
) -> None:
    link = make_link(editor, source=source, page=1)
    html = text_of(page.get(LIST))
    assert "Nothing is shared" not in html
    assert "Notes on ice" in html
    assert "by mia" in html
    assert f"/shared/{link.uuid}/" not in html
    page.post(f"{LIST}{link.uuid}/revoke/")
    assert not SharedLink.objects.exists()


def test_an_owner_sees_the_links_of_others_to_answers_that_quote_the_collection(
    page: Client, editor: User, source: Source
) -> None:
    conversation = Conversation.objects.create(owner=editor, title="Ice")
    answer = Answer.objects.create(conversation=conversation, ordinal=1, question="How cold?")
    for number in (1, 2):
        Citation.objects.create(
            answer=answer, number=number, source=source, quote="Ice", span_start=0, span_end=3
        )
    make_link(editor, answer=answer)
    html = text_of(page.get(LIST))
    assert html.count("by mia") == 1
    assert "An answer that quotes your collections" in html
    assert "How cold?" not in html  # the question is its author's


def test_who_does_not_own_the_collection_neither_sees_nor_revokes_links_of_others(
    owner: User, editor: User, source: Source, stranger: Client
) -> None:
    link = make_link(owner, source=source, page=1)
    for browser in (signed_in(editor), stranger):
        assert "Notes on ice" not in text_of(browser.get(LIST))
        assert browser.post(f"{LIST}{link.uuid}/revoke/").status_code == 404
        assert browser.post(f"{LIST}{link.uuid}/renew/").status_code == 404
    assert SharedLink.objects.get() == link


def test_an_expired_link_is_listed_and_renewed_or_deleted(source: Source, editor: User) -> None:
    link, browser = make_link(editor, days=-1, source=source, page=1), signed_in(editor)
    assert_shows(browser.get(LIST), "Expired", without=("Nothing is shared",))
    assert Client().get(link.path).status_code == 404
    browser.post(f"{LIST}{link.uuid}/renew/")
    assert Client().get(link.path).status_code == 200
    assert link.path in text_of(browser.get(LIST))
    browser.post(f"{LIST}{link.uuid}/revoke/")
    assert "Nothing is shared" in text_of(browser.get(LIST))


def test_what_is_no_longer_shared_is_not_renewed(source: Source, editor: User) -> None:
    link, browser = make_link(editor, days=-1, source=source, page=1), signed_in(editor)
    Collection.objects.update(allows_links=False)
    assert browser.post(f"{LIST}{link.uuid}/renew/").status_code == 404
    link.refresh_from_db()
    assert link.expires_at < timezone.now()


def test_a_viewer_is_told_who_can_share_and_offered_nothing(viewer: Client, source: Source) -> None:
    html = text_of(viewer.get(LIST))
    assert "Editors of a collection can share" in html
    assert "Share a highlight" not in html
