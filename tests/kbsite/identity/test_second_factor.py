"""A password and a code: the second factor of local accounts."""

import re
import time
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.test import Client

from kbsite.accounts import sign_in as throttle
from kbsite.middleware import rate_limits
from kbsite.models import SignInLink
from tests.makers import make_user, signed_in
from transcripts.models import AuditEntry

pytestmark = pytest.mark.django_db
PASSWORD, OLD = "correct horse battery", "old_password"


@pytest.fixture
def ada() -> User:
    return make_user("ada")


def sign_in(browser: Client, to: str = "/tokens/") -> Any:
    return browser.post("/sign-in/", {"username": "ada", "password": PASSWORD, "next": to})


def code_of(secret: str, *, steps: int = 0) -> str:
    """Return what an authenticator app shows, now or some steps of 30 seconds later."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def confirm(browser: Client, to: str) -> Any:
    """Enter the password once more, as what follows asks for."""
    assert browser.get(to)["Location"].startswith("/second-factor/confirm/?next=")
    answer = browser.post(f"/second-factor/confirm/?next={to}", {"password": PASSWORD})
    assert answer["Location"] == to
    return browser.get(to)


def add_app(browser: Client) -> tuple[str, list[str]]:
    """Add an app; return its secret and the recovery codes."""
    page = confirm(browser, "/second-factor/add/").content.decode()
    (secret,) = re.findall(r'id="secret-text">(\w+)</code>', page)
    answer = browser.post("/second-factor/add/", {"code": code_of(secret)}, follow=True)
    (listed,) = re.findall(r"<pre\b[^>]*>([^<]+)</pre>", answer.content.decode())
    return secret, listed.split()


def test_after_the_password_comes_the_code(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    secret, _ = add_app(browser)
    browser = Client()
    answer = sign_in(browser)
    assert answer["Location"] == "/sign-in/code/"
    assert browser.get("/tokens/").status_code == 302
    assert "One more step" in browser.get("/sign-in/code/").content.decode()
    wrong = browser.post("/sign-in/code/", {"code": "000000"})
    assert 'role="alert"' in wrong.content.decode()
    answer = browser.post("/sign-in/code/", {"code": code_of(secret, steps=1)})
    assert answer["Location"] == "/tokens/"
    assert browser.get("/tokens/").status_code == 200
    last = AuditEntry.objects.filter(action="sign_in").order_by("pk").last()
    assert last is not None
    assert (last.thing, last.details) == ("ada", {"second_factor": True})


def test_codes_are_counted_as_passwords_are(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    secret, _ = add_app(browser)
    thief = Client()
    sign_in(thief)
    statuses = [thief.post("/sign-in/code/", {"code": str(n)}).status_code for n in range(11)]
    assert statuses[-1] == 429
    assert thief.post("/sign-in/code/", {"code": code_of(secret, steps=1)}).status_code == 429
    assert AuditEntry.objects.filter(action="refuse", thing="ada").exists()


def test_codes_that_are_right_are_never_counted(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    _, codes = add_app(browser)
    for code in codes:
        fresh = Client()
        sign_in(fresh)
        assert fresh.post("/sign-in/code/", {"code": "000000"}).status_code == 200
        rate_limits.uncount_failure("codes", "ada", throttle.BY_CODE)  # of that one
        assert fresh.post("/sign-in/code/", {"code": code})["Location"] == "/tokens/"


def test_who_has_the_password_cannot_stop_a_browser_that_is_known(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    secret, _ = add_app(browser)
    browser.post("/sign-out/")
    thief = Client()
    sign_in(thief)
    assert [thief.post("/sign-in/code/", {"code": "0"}).status_code for _ in range(11)][-1] == 429
    sign_in(browser)
    answer = browser.post("/sign-in/code/", {"code": code_of(secret, steps=1)})
    assert answer["Location"] == "/tokens/"


def test_a_session_that_was_left_open_guesses_no_password(ada: User) -> None:
    left_open = signed_in(ada)
    for path, field in (("/second-factor/confirm/", "password"), ("/account/password/", OLD)):
        rate_limits.forget()
        new = {"new_password1": "other words of ada", "new_password2": "other words of ada"}
        statuses = [left_open.post(path, {field: "x", **new}).status_code for _ in range(11)]
        assert statuses == [200] * 10 + [429]


def test_a_recovery_code_is_good_once(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    _, codes = add_app(browser)
    assert len(codes) == 10
    for expected in (302, 200):
        browser = Client()
        sign_in(browser)
        assert browser.post("/sign-in/code/", {"code": codes[0]}).status_code == expected


def test_the_code_cannot_be_asked_for_without_the_password(ada: User) -> None:
    assert Client().get("/sign-in/code/")["Location"] == "/sign-in/"
    assert Client().post("/sign-in/code/", {"code": "1"})["Location"] == "/sign-in/"


def test_a_link_of_the_operator_needs_no_code_and_the_app_can_be_removed(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    add_app(browser)
    rescued = Client()
    rescued.get(f"/sign-in/{SignInLink.issue(ada)}/")
    assert rescued.get("/tokens/").status_code == 200
    confirm(rescued, "/second-factor/remove/")
    assert rescued.post("/second-factor/remove/").status_code == 302
    assert sign_in(Client())["Location"] == "/tokens/"
    trail = AuditEntry.objects.filter(kind="second factor").order_by("pk")
    assert [entry.action for entry in trail] == ["add", "delete"]


def test_a_session_that_was_left_open_does_not_change_it(ada: User) -> None:
    browser = Client()
    sign_in(browser)
    add_app(browser)
    left_open = signed_in(ada)
    for path in ("remove", "codes", "codes/renew"):
        answer = left_open.get(f"/second-factor/{path}/")
        assert answer["Location"].startswith("/second-factor/confirm/"), path


def test_an_account_without_a_password_needs_none(ada: User) -> None:
    ada.set_unusable_password()
    ada.save()
    browser = signed_in(ada)
    assert browser.get("/second-factor/add/").status_code == 403
    assert "has no password" in browser.get("/second-factor/").content.decode()


@pytest.mark.parametrize("path", ["", "add/", "remove/", "codes/", "codes/renew/", "confirm/"])
def test_a_stranger_has_to_sign_in(path: str) -> None:
    assert "/sign-in/" in Client().get(f"/second-factor/{path}")["Location"]
