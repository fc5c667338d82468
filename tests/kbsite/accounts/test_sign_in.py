"""However somebody signs in, only failures count, and nobody is locked out for long."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory

from kbsite.accounts import sign_in as throttle
from kbsite.middleware import rate_limits
from kbsite.models import SignInLink
from tests.instance import redis_server
from tests.makers import make_user, signed_in
from transcripts.core.errors import Throttled

PASSWORD = "correct horse battery"  # of everybody whom make_user makes

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_hash(settings: Any) -> None:
    # Hundreds of passwords are checked here; the usual hash takes a third of a second.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada() -> User:
    return make_user("ada")


def sign_in(
    name: str, password: str = "wrong", *, at: str = "192.0.2.1", browser: Client | None = None
) -> Any:
    """Send the form of the sign-in page; a new browser unless one is given."""
    data = {"username": name, "password": password}
    return (browser or Client()).post("/sign-in/", data, REMOTE_ADDR=at, follow=True)


def follow_link(*, at: str = "192.0.2.1", secret: str = "wrong") -> int:
    return Client().get(f"/sign-in/{secret}/", REMOTE_ADDR=at).status_code


def tries_until_stopped(attempt: Callable[[int], Any]) -> int:
    """Count the tries that are answered before one is told to wait."""
    for number in range(200):
        answer = attempt(number)
        if getattr(answer, "status_code", answer) == 429:
            return number
    pytest.fail("two hundred tries were answered")


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let some seconds pass for the counts."""
    clock = [0.0]
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + clock[0])

    def pass_by(seconds: float) -> None:
        clock[0] += seconds

    return pass_by


def test_ten_wrong_passwords_for_one_name_are_enough(ada: User) -> None:
    assert tries_until_stopped(lambda _: sign_in("ada")) == 10
    assert sign_in("ada", PASSWORD).status_code == 429
    assert sign_in("somebody-else").status_code == 200


def test_who_has_to_wait_is_told_how_long(ada: User) -> None:
    tries_until_stopped(lambda _: sign_in("ada"))
    answer = sign_in("ada")
    wait = answer["Retry-After"]
    assert 0 < int(wait) <= 60
    assert f"Come back in {wait} seconds." in answer.content.decode()
    assert '<a class="button button-primary" href="/sign-in/">' in answer.content.decode()


def test_a_name_in_other_letters_is_the_same_name(ada: User) -> None:
    spellings = ("ada", "ADA", " ada ", "\uff41da")
    assert tries_until_stopped(lambda number: sign_in(spellings[number % 4])) == 10


def test_one_name_from_many_addresses_is_stopped(ada: User) -> None:
    assert tries_until_stopped(lambda number: sign_in("ada", at=f"192.0.2.{number}")) == 50
    assert int(sign_in("ada", at="192.0.2.99")["Retry-After"]) <= 60


def test_twenty_failures_from_anywhere_stop_nobody_elsewhere(ada: User) -> None:
    for number in range(20):
        sign_in("ada", at=f"192.0.2.{number}")
    assert sign_in("ada", PASSWORD, at="203.0.113.1").redirect_chain


def test_a_flood_of_names_from_one_address_is_stopped_for_a_minute(
    ada: User, wait: Callable[[float], None]
) -> None:
    assert tries_until_stopped(lambda number: sign_in(f"name-{number}")) == 120
    assert sign_in("ada", PASSWORD, at="192.0.2.2").redirect_chain
    assert sign_in("ada", PASSWORD).status_code == 429
    wait(60)
    assert sign_in("ada", PASSWORD).redirect_chain


def test_who_signs_in_well_is_never_stopped(ada: User) -> None:
    browser = Client()
    for at in range(20):
        assert sign_in("ada", PASSWORD).redirect_chain
        assert sign_in("ada", PASSWORD, at=f"192.0.2.{at}").redirect_chain
        browser.post("/sign-out/")
        assert sign_in("ada", PASSWORD, browser=browser).redirect_chain


def test_an_office_behind_one_address_signs_in_while_one_of_them_guesses(ada: User) -> None:
    office = [make_user(f"colleague-{number}").username for number in range(40)]
    for name in office:
        for _ in range(5):
            sign_in("ada")
        assert sign_in(name, PASSWORD).redirect_chain
    assert sign_in("ada").status_code == 429, "the guesses themselves are stopped"


def test_a_persistent_guesser_is_heard_once_a_minute(
    ada: User, wait: Callable[[float], None]
) -> None:
    heard = 0
    for _ in range(6 * 60):  # an hour and a half in steps of 15 seconds
        heard += sign_in("ada").status_code == 200
        wait(15)
    assert 70 <= heard <= 2 * (10 + 60)


def test_simultaneous_guesses_cannot_slip_through() -> None:
    heard = []

    def guess(_: int) -> None:
        request = RequestFactory().post("/sign-in/", REMOTE_ADDR="192.0.2.1")
        with throttle.attempt(request, "nobody"):
            heard.append(1)
            time.sleep(0.5)
            raise ValidationError("wrong")

    with ThreadPoolExecutor(20) as pool:
        outcomes = [pool.submit(guess, number).exception() for number in range(20)]
    assert len(heard) == 10
    assert sum(isinstance(error, ValidationError) for error in outcomes) == 10


def test_servers_that_share_redis_count_together_and_take_back_what_succeeds(
    settings: Any, tmp_path: Path
) -> None:
    request = RequestFactory().post("/sign-in/", REMOTE_ADDR="192.0.2.1")
    with redis_server(tmp_path) as (_, settings.CELERY_BROKER_URL):
        for _ in range(20):
            with throttle.attempt(request, "nobody"):
                pass
        for _ in range(10):
            rate_limits.forget()  # as another process, which has counted nothing
            with pytest.raises(ValidationError), throttle.attempt(request, "nobody"):
                raise ValidationError("wrong")
        with pytest.raises(Throttled) as refusal, throttle.attempt(request, "nobody"):
            pytest.fail("one too many")
    assert refusal.value.retry_after
    assert refusal.value.retry_after <= 60


def test_a_database_that_ends_during_an_attempt_counts_as_no_failure(ada: User) -> None:
    request = RequestFactory().post("/sign-in/", REMOTE_ADDR="192.0.2.1")
    for _ in range(20):
        with pytest.raises(OSError, match="gone"), throttle.attempt(request, "ada"):
            raise OSError("gone")
    assert tries_until_stopped(lambda _: sign_in("ada")) == 10


def test_the_addresses_of_one_ipv6_site_are_one(ada: User) -> None:
    def attempt(number: int) -> Any:
        return sign_in(f"name-{number}", at=f"2001:db8::{number:x}:1")

    assert tries_until_stopped(attempt) == 120
    assert sign_in("ada", at="2001:db8:0:1::1").status_code == 200


def test_an_ipv4_address_is_the_same_by_ipv6(ada: User) -> None:
    tries_until_stopped(lambda number: sign_in(f"name-{number}"))
    assert sign_in("ada", at="::ffff:192.0.2.1").status_code == 429
    assert sign_in("ada", at="::ffff:192.0.2.2").status_code == 200


def test_links_that_sign_nobody_in_are_counted_apart_from_passwords(ada: User) -> None:
    assert tries_until_stopped(lambda number: follow_link(secret=f"wrong-{number}")) == 30
    assert sign_in("ada", PASSWORD).redirect_chain
    assert follow_link(at="192.0.2.2") == 410


def test_a_link_that_is_good_signs_in_whatever_others_tried(ada: User) -> None:
    tries_until_stopped(lambda _: follow_link())
    assert follow_link(secret=SignInLink.issue(ada)) == 302


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_admin_has_no_form_of_its_own(method: str) -> None:
    data = {"username": "ada", "password": "wrong", "next": "/admin/"}
    answer = getattr(Client(), method)("/admin/login/", data)
    assert answer["Location"] == "/sign-in/?next=/admin/"


def test_the_admin_is_reached_by_the_sign_in_page() -> None:
    make_user("boss", is_staff=True)
    browser = Client()
    path = browser.get("/admin/", follow=True).redirect_chain[-1][0]
    data = {"username": "boss", "password": PASSWORD, "next": "/admin/"}
    assert browser.post(path, data)["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200
    assert browser.get("/admin/login/?next=/admin/auth/")["Location"] == "/admin/auth/"


def test_who_may_not_see_the_admin_is_told_so_and_asked_for_no_other_password(ada: User) -> None:
    browser = signed_in(ada)
    answer = browser.post("/admin/", {"username": "boss", "password": "guess"}, follow=True)
    assert answer.status_code == 403
    assert 'type="password"' not in answer.content.decode()


def test_the_admin_leads_only_to_pages_of_this_site() -> None:
    answer = Client().get("/admin/login/?next=https://evil.example/")
    assert answer["Location"] == "/sign-in/?next=/admin/"


@pytest.mark.parametrize("way", ["password", "link"])
def test_the_owners_browser_signs_in_while_others_guess(ada: User, way: str) -> None:
    browser = Client()
    if way == "password":
        sign_in("ada", PASSWORD, browser=browser)
    else:
        browser.get(f"/sign-in/{SignInLink.issue(ada)}/")
    browser.post("/sign-out/")
    tries_until_stopped(lambda number: sign_in("ada", at=f"192.0.2.{number}"))
    tries_until_stopped(lambda number: sign_in(f"name-{number}"))
    assert sign_in("ada", PASSWORD).status_code == 429  # a browser that nobody knows
    assert sign_in("ada", PASSWORD, browser=browser).redirect_chain


def test_a_browser_that_is_known_has_ten_tries_for_its_own_name_only(ada: User) -> None:
    browser = Client()
    sign_in("ada", PASSWORD, browser=browser)
    browser.post("/sign-out/")
    assert tries_until_stopped(lambda _: sign_in("ada", browser=browser)) == 10
    assert tries_until_stopped(lambda _: sign_in("bob", browser=browser)) == 10
    assert sign_in("bob", at="192.0.2.9").status_code == 200


def test_a_browsers_cookie_cannot_be_forged(ada: User) -> None:
    browser = Client()

    def attempt(number: int) -> Any:
        browser.cookies["known_browser"] = f"{number}:1tabcd:signature"
        return sign_in("ada", browser=browser)

    assert tries_until_stopped(attempt) == 10


def test_the_owner_comes_in_again_within_a_minute(ada: User, wait: Callable[[float], None]) -> None:
    for at in ("192.0.2.1", "203.0.113.1"):  # where others guessed, and elsewhere
        rate_limits.forget()
        tries_until_stopped(lambda _: sign_in("ada"))
        tries_until_stopped(lambda number: sign_in("ada", at=f"198.51.100.{number}"))
        seconds = int(sign_in("ada", PASSWORD, at=at)["Retry-After"])
        assert seconds <= 60
        wait(seconds)
        assert sign_in("ada", PASSWORD, at=at).redirect_chain
