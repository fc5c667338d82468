"""Leaving a collection: who may, and what the page says of what stays."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import Highlight
from tests.html import text_of
from tests.makers import make_document, make_user
from transcripts.models import Collection, Membership, Role


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_a_member_leaves_after_a_confirmation_and_keeps_highlights_out_of_sight(
    collection: Collection, role: Role
) -> None:
    member, browser = make_user("mia", collection=collection, role=role), Client()
    browser.force_login(member)
    source = make_document(collection, ["Ice is cold."], title="Notes on ice")
    Highlight.objects.create(
        source=source, author=member, quote="Ice is cold.", span_start=0, span_end=9, page=1
    )
    address = f"/collections/{collection.pk}/leave/"
    assert address in text_of(browser.get(f"/collections/{collection.pk}/"))
    assert "Your highlight there is kept, but hidden from you" in text_of(browser.get(address))
    assert Membership.objects.filter(user=member).exists()
    assert f"You left “{collection.name}”." in text_of(browser.post(address, follow=True))
    assert not Membership.objects.filter(user=member).exists()
    assert Highlight.objects.filter(author=member).exists()
    listed = text_of(browser.get("/highlights/"))
    assert "One more highlight of yours is in a collection that you may not read" in listed
    assert "Ice is cold." not in listed
    assert browser.get(f"/collections/{collection.pk}/").status_code == 404


def test_the_last_owner_stays_and_one_of_two_leaves(
    page: Client, owner: User, collection: Collection
) -> None:
    address = f"/collections/{collection.pk}/leave/"
    assert address not in text_of(page.get(f"/collections/{collection.pk}/"))
    assert page.get(address).status_code == 409
    assert page.post(address).status_code == 409
    make_user("second", collection=collection, role=Role.OWNER)
    assert address in text_of(page.get(f"/collections/{collection.pk}/"))
    assert page.post(address).status_code == 302
    assert not Membership.objects.filter(user=owner).exists()


def test_a_superuser_who_is_no_member_has_nothing_to_leave(collection: Collection) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    assert "/leave/" not in text_of(browser.get(f"/collections/{collection.pk}/"))
    assert browser.get(f"/collections/{collection.pk}/leave/").status_code == 409
