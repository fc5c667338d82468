"""A person who was invited chooses a password, by a link that works once."""

from datetime import timedelta

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from kbsite.models import SignInLink
from tests.html import text_of
from tests.makers import make_user, signed_in
from transcripts.models import AuditEntry

PAGE = "/account/password/"
PHRASE = "a kettle that sings in spring"
CHOSEN = {"new_password1": PHRASE, "new_password2": PHRASE}

pytestmark = pytest.mark.django_db


@pytest.fixture
def anna() -> User:
    """An invited person: an account without a password."""
    return User.objects.create_user("anna")


@pytest.fixture
def path(anna: User) -> str:
    """The path of her sign-in link."""
    return f"/sign-in/{SignInLink.issue(anna)}/"


def who(client: Client) -> str | None:
    """Return the key of the user who is signed in."""
    return client.session.get("_auth_user_id")


def signs_in(name: str, password: str) -> bool:
    client = Client()
    client.post("/sign-in/", {"username": name, "password": password})
    return who(client) is not None


def test_the_link_leads_to_a_password_and_the_password_signs_in(path: str) -> None:
    client = Client()
    response = client.get(path, follow=True)
    assert "Choose a password" in text_of(response)
    assert 'href="/library/">Not now' in text_of(response)
    assert "old_password" not in text_of(response)
    done = client.post(f"{PAGE}?next=/notes/", CHOSEN)
    assert done["Location"] == "/notes/"
    assert client.get("/library/").status_code == 200  # still signed in
    assert signs_in("anna", PHRASE)
    assert AuditEntry.objects.get(kind="password", action="change").thing == "anna"


def test_the_page_is_offered_at_the_first_sign_in_alone_and_in_the_settings(anna: User) -> None:
    for place in (f"{PAGE}?next=%2Flibrary%2F", "/library/"):
        client = Client()
        assert client.get(f"/sign-in/{SignInLink.issue(anna)}/")["Location"] == place
        assert f'href="{PAGE}"' in text_of(client.get("/settings/"))


def test_whoever_runs_the_server_is_led_to_the_library() -> None:
    boss = User.objects.create_superuser("boss")
    assert Client().get(f"/sign-in/{SignInLink.issue(boss)}/")["Location"] == "/library/"


@pytest.mark.parametrize(
    ("first", "second"), [("12345678", "12345678"), ("short", "short"), (PHRASE, "another one")]
)
def test_a_weak_or_mistyped_password_is_refused(
    anna: User, path: str, first: str, second: str
) -> None:
    client = Client()
    client.get(path)
    answer = client.post(PAGE, {"new_password1": first, "new_password2": second})
    assert 'role="alert"' in text_of(answer)
    anna.refresh_from_db()
    assert not anna.has_usable_password()


def test_a_link_that_was_used_or_has_expired_leads_to_no_password(anna: User, path: str) -> None:
    Client().get(path)
    late = f"/sign-in/{SignInLink.issue(anna)}/"
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for link in (path, late):
        thief = Client()
        assert thief.get(link).status_code == 410
        assert thief.get(PAGE)["Location"].startswith("/sign-in/")
        assert thief.post(PAGE, CHOSEN)["Location"].startswith("/sign-in/")
    assert not signs_in("anna", PHRASE)


def test_who_is_signed_in_as_somebody_else_keeps_that_password(anna: User, path: str) -> None:
    bob = make_user("bob")
    bob.set_password("the old words of bob")
    bob.save()
    client = signed_in(bob)
    client.get(path)
    assert who(client) == str(anna.pk)  # the link is hers
    client.post(PAGE, CHOSEN)
    assert signs_in("anna", PHRASE)
    assert signs_in("bob", "the old words of bob")
    client.force_login(bob)
    assert client.get(path)["Location"] == "/library/"  # used up: it signs nobody in
    assert who(client) == str(bob.pk)
    assert "old_password" in text_of(client.get(PAGE))
    client.post(PAGE, CHOSEN)
    assert signs_in("bob", "the old words of bob")


def test_the_old_password_is_needed_and_cannot_be_guessed(anna: User) -> None:
    anna.set_password("the old words of anna")
    anna.save()
    client = signed_in(anna)
    changed = {"new_password1": "other words of anna", "new_password2": "other words of anna"}
    answer = client.post(PAGE, {"old_password": "the old words of anna", **changed})
    assert answer["Location"] == "/library/"
    for _ in range(10):
        assert client.post(PAGE, {"old_password": "a guess", **CHOSEN}).status_code == 200
    assert client.post(PAGE, {"old_password": "a guess", **CHOSEN}).status_code == 429
    anna.refresh_from_db()
    assert anna.check_password("other words of anna")


def test_an_account_of_the_provider_gets_no_password_here(anna: User) -> None:
    SocialAccount.objects.create(user=anna, provider="team", uid="7")
    client = signed_in(anna)
    assert client.post(PAGE, CHOSEN).status_code == 403
    anna.refresh_from_db()
    assert not anna.has_usable_password()


def test_only_pages_of_this_site_come_next(path: str) -> None:
    client = Client()
    client.get(path)
    assert 'href="/library/">Not now' in text_of(client.get(f"{PAGE}?next=https://evil.example/"))
    assert client.post(f"{PAGE}?next=//evil.example/", CHOSEN)["Location"] == "/library/"
