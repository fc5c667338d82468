"""Owners invite people who have no account yet."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.models import SignInLink
from tests.html import text_of
from tests.makers import make_user
from transcripts.models import AuditEntry, Collection, Membership, Role

LINK = re.compile(r"http://testserver(/sign-in/[\w-]+/)")


@pytest.fixture
def admin(collection: Collection) -> Client:
    """Sign in as an owner who may add users."""
    boss = make_user("boss", collection=collection, role=Role.OWNER)
    User.objects.filter(pk=boss.pk).update(is_superuser=True)
    client = Client()
    client.force_login(boss)
    return client


def invite(client: Client, shelf: Collection, name: str, role: str = "viewer") -> tuple[int, str]:
    response = client.post(f"/collections/{shelf.pk}/invite/", {"username": name, "role": role})
    return response.status_code, text_of(response) if response.status_code != 302 else ""


def test_an_invited_person_signs_in_once_and_is_a_member_of_this_collection_alone(
    admin: Client, collection: Collection
) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    status, shown = invite(admin, collection, "anna")
    assert status == 200
    link = LINK.search(shown)
    assert link
    anna = User.objects.get(username="anna")
    assert not any((anna.is_staff, anna.is_superuser, anna.has_usable_password()))
    roles = Membership.objects.filter(user=anna).values_list("collection", "role")
    assert list(roles) == [(collection.pk, "viewer")]
    browser = Client()
    assert browser.get(link[1])["Location"] == "/account/password/?next=%2Flibrary%2F"
    assert browser.get(f"/collections/{collection.pk}/").status_code == 200
    assert browser.get(f"/collections/{other.pk}/").status_code == 404
    assert Client().get(link[1]).status_code == 410
    assert not LINK.search(text_of(admin.get(f"/collections/{collection.pk}/settings/")))
    made = AuditEntry.objects.get(action="add", kind="user")
    assert (made.thing, made.actor) == ("anna", "boss")


def test_who_has_an_account_becomes_a_member_and_gets_no_link(
    admin: Client, collection: Collection
) -> None:
    bob = make_user("bob")
    assert invite(admin, collection, "bob", "editor") == (302, "")
    assert Membership.objects.get(user=bob).role == Role.EDITOR
    assert not SignInLink.objects.exists()


@pytest.mark.parametrize("name", ["a b/c", "Boss", "x" * 151])
def test_a_name_that_cannot_be_used_is_refused_at_its_field(
    admin: Client, collection: Collection, name: str
) -> None:
    status, shown = invite(admin, collection, name)
    assert status == 422
    assert f'value="{name}"' in shown
    assert 'aria-invalid="true"' in shown
    assert User.objects.count() == 1


def test_an_owner_who_may_not_add_users_is_told_whom_to_ask(
    page: Client, collection: Collection
) -> None:
    assert "/invite/" not in text_of(page.get(f"/collections/{collection.pk}/settings/"))
    status, shown = invite(page, collection, "anna")
    assert status == 403
    assert "whoever runs this server" in shown
    assert not User.objects.filter(username="anna").exists()


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.EDITOR, 403), (None, 404)])
def test_only_owners_of_the_collection_invite(
    collection: Collection, role: Role | None, status: int
) -> None:
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    member = make_user("eve", collection=collection if role else elsewhere, role=role or Role.OWNER)
    client = Client()
    client.force_login(member)
    assert invite(client, collection, "anna")[0] == status
    assert not User.objects.filter(username="anna").exists()
