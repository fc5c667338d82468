"""Owners invite people who have no account yet."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from kbsite.models import ApiToken, SignInLink
from tests.html import text_of
from tests.makers import make_user, signed_in
from transcripts.models import AuditEntry, Collection, Membership, Role

LINK = re.compile(r"http://testserver(/sign-in/[\w-]+/\?invitation=[\w%-]+)")


@pytest.fixture
def admin(collection: Collection) -> Client:
    """Sign in as an owner who may add users."""
    boss = make_user("boss", collection=collection, role=Role.OWNER)
    User.objects.filter(pk=boss.pk).update(is_superuser=True)
    return signed_in(boss)


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
    first = browser.get(link[1])["Location"]
    assert first.startswith(f"/account/password/?next=%2Fcollections%2F{collection.pk}%2F&")
    assert f"boss invites you to the collection “{collection.name}”." in text_of(browser.get(first))
    assert browser.get(f"/collections/{collection.pk}/").status_code == 200
    assert browser.get(f"/collections/{other.pk}/").status_code == 404
    used = Client().get(link[1])
    assert used.status_code == 410
    assert "Ask boss, who sent it, for a new one." in text_of(used)
    assert "kb user link" not in text_of(used)
    assert not LINK.search(text_of(admin.get(f"/collections/{collection.pk}/settings/")))
    entry = AuditEntry.objects.get(action="add", kind="user")
    assert (entry.thing, entry.actor) == ("anna", "boss")


def test_who_has_a_password_is_told_of_no_invitation(admin: Client, collection: Collection) -> None:
    link = LINK.search(invite(admin, collection, "anna")[1])
    assert link
    browser = Client()
    first = browser.get(link[1])["Location"]
    words = "a kettle that sings in spring"
    browser.post(first, {"new_password1": words, "new_password2": words})
    assert "invites you" not in text_of(browser.get(first))


@pytest.mark.parametrize("forged", ["x", "eyJieSI6ImJvc3MifQ:1:x", ""])
def test_nobody_makes_up_an_invitation(client: Client, db: None, forged: str) -> None:
    expired = text_of(client.get("/sign-in/no-secret/", {"invitation": forged}))
    assert "who sent it" not in expired
    assert "kb user link NAME" in expired


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


def test_a_name_with_blanks_is_refused_with_one_that_is_possible(
    admin: Client, collection: Collection
) -> None:
    status, shown = invite(admin, collection, "Zoë van Dam")
    assert status == 422
    assert "Write it as “Zoë.van.Dam”." in shown
    assert invite(admin, collection, "Zoë.van.Dam")[0] == 200


def test_an_invitation_is_offered_at_the_field_for_a_name_without_an_account(
    admin: Client, collection: Collection
) -> None:
    settings = f"/collections/{collection.pk}/settings/"
    assert "/invite/" not in text_of(admin.get(settings))  # one form, one action
    who = {"username": "anna", "role": "editor"}
    response = admin.post(f"/collections/{collection.pk}/members/", who)
    assert response.status_code == 200  # it is the next step, no fault
    html = LexborHTMLParser(text_of(response))
    assert not html.css('[role="alert"], [aria-invalid]')
    step = html.css_first("#member-unknown")
    assert "There is no account “anna” yet." in step.text()
    assert f"a member of “{collection.name}”" in " ".join(step.text().split())
    assert not html.css("code")
    form = step.parent
    assert form is not None
    first, offer = form.css("button")  # Enter in the field presses the first
    assert "formaction" not in first.attributes
    assert offer.attributes["formaction"] == f"/collections/{collection.pk}/invite/"
    assert "autofocus" in offer.attributes
    assert offer.attributes["value"] == "anna"  # whatever the field says by then
    assert form.css_first("[name=username]").attributes["value"] == "anna"
    assert form.css_first("option[selected]").attributes["value"] == "editor"
    assert not User.objects.filter(username="anna").exists()


def test_a_member_is_found_whatever_the_case_of_their_name(
    admin: Client, collection: Collection
) -> None:
    bea = make_user("bea")
    response = admin.post(
        f"/collections/{collection.pk}/members/", {"username": "Bea", "role": "viewer"}
    )
    assert response.status_code == 302
    assert collection.memberships.filter(user=bea, role=Role.VIEWER).exists()
    make_user("BEA")  # of two alike, only the exact name is meant
    unclear = admin.post(
        f"/collections/{collection.pk}/members/", {"username": "bEA", "role": "editor"}
    )
    assert "There is no account “bEA” yet." in text_of(unclear)


def test_an_owner_who_may_not_add_users_is_told_whom_to_ask(
    page: Client, collection: Collection
) -> None:
    assert "/invite/" not in text_of(page.get(f"/collections/{collection.pk}/settings/"))
    status, shown = invite(page, collection, "anna")
    assert status == 403
    assert "the operator of this server" in shown
    assert not User.objects.filter(username="anna").exists()


@pytest.mark.parametrize(("role", "status"), [(Role.VIEWER, 403), (Role.EDITOR, 403), (None, 404)])
def test_only_owners_of_the_collection_invite(
    collection: Collection, role: Role | None, status: int
) -> None:
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    member = make_user("eve", collection=collection if role else elsewhere, role=role or Role.OWNER)
    client = signed_in(member)
    assert invite(client, collection, "anna")[0] == status
    assert not User.objects.filter(username="anna").exists()


def again(client: Client, shelf: Collection, user: User) -> tuple[int, str]:
    response = client.post(f"/collections/{shelf.pk}/members/{user.pk}/invite/")
    return response.status_code, text_of(response)


def test_a_guest_whose_link_was_lost_is_invited_again_and_the_earlier_link_ends(
    admin: Client, collection: Collection
) -> None:
    lost = LINK.search(invite(admin, collection, "anna")[1])
    settings = f"/collections/{collection.pk}/settings/"
    assert "Invite again" in text_of(admin.get(settings))
    status, shown = again(admin, collection, User.objects.get(username="anna"))
    link = LINK.search(shown)
    assert (status, bool(link)) == (200, True)
    assert "The earlier link no longer works." in shown
    assert lost
    assert Client().get(lost[1]).status_code == 410
    assert link
    assert Client().get(link[1]).status_code == 302
    assert "Invite again" not in text_of(admin.get(settings))  # anna has signed in


def test_nobody_gets_a_link_into_an_account_that_is_in_use_or_reaches_further(
    admin: Client, collection: Collection
) -> None:
    bob = make_user("bob", collection=collection, role=Role.VIEWER)  # has a password
    assert again(admin, collection, bob)[0] == 409
    owner = make_user("olga", collection=collection, role=Role.OWNER)
    owner.user_permissions.add(Permission.objects.get(codename="add_user"))
    client = signed_in(owner)
    assert invite(client, collection, "anna")[0] == 200
    anna = User.objects.get(username="anna")
    assert again(client, collection, anna)[0] == 200
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    Membership.objects.create(collection=elsewhere, user=anna, role=Role.VIEWER)
    assert again(client, collection, anna)[0] == 409
    assert again(admin, collection, anna)[0] == 200
    settings = f"/collections/{collection.pk}/settings/"
    assert "Invite again" in text_of(admin.get(settings))
    ApiToken.issue(anna, name="laptop")
    assert again(admin, collection, anna)[0] == 409
    assert "Invite again" not in text_of(admin.get(settings))  # it would be refused


def test_a_guest_who_is_the_only_owner_is_invited_again_but_not_changed_or_removed(
    admin: Client, collection: Collection
) -> None:
    invite(admin, collection, "anna", "owner")
    Membership.objects.exclude(user__username="anna").delete()
    anna = User.objects.get(username="anna")
    settings = text_of(admin.get(f"/collections/{collection.pk}/settings/"))
    assert "Make another member an owner first." in settings
    assert f"/members/{anna.pk}/invite/" in settings
    assert f"/members/{anna.pk}/remove/" not in settings


def test_an_owner_who_may_not_add_users_invites_nobody_again(
    page: Client, admin: Client, collection: Collection
) -> None:
    invite(admin, collection, "anna")
    assert again(page, collection, User.objects.get(username="anna"))[0] == 403
