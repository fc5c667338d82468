"""Forms that are refused say why, and to whoever runs the server, what to set."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.html import assert_shows, text_of

HTTPS = "https://kb.example.org"


@pytest.fixture
def browser(owner: User, settings: Any) -> Client:
    """A browser that has a page with a form open, behind a proxy."""
    settings.ALLOWED_HOSTS = ["kb.example.org", "127.0.0.1"]
    client = Client(enforce_csrf_checks=True, headers={"host": "kb.example.org"})
    client.get("/sign-in/")
    return client


def send(browser: Client, **headers: str) -> Any:
    token = browser.cookies["csrftoken"].value if "csrftoken" in browser.cookies else ""
    data = {"csrfmiddlewaretoken": token, "username": "a", "password": "b"}
    response = browser.post("/sign-in/", data, headers=headers)
    assert response.status_code == 403
    return response


@pytest.mark.django_db
def test_an_address_that_is_not_trusted_is_named_and_so_are_the_settings(browser: Client) -> None:
    page = send(browser, origin=HTTPS)
    assert_shows(
        page,
        f"does not trust the address {HTTPS}",
        "CSRF_TRUSTED_ORIGINS",
        "PUBLIC_URL",
        "SECURE",
        without=["expired", "Cookies", "kb doctor", "127.0.0.1", "nginx"],
    )


@pytest.mark.django_db
def test_the_superuser_gets_the_lines_to_set(browser: Client, owner: User) -> None:
    owner.is_superuser = True
    owner.save()
    browser.force_login(owner)
    lines = f"PUBLIC_URL={HTTPS} CSRF_TRUSTED_ORIGINS={HTTPS} SECURE=true"
    page = send(browser, origin=HTTPS)
    assert_shows(page, lines, "X-Forwarded-Proto $scheme", f"kb doctor --url {HTTPS}")
    page = send(browser, origin=HTTPS, **{"x-forwarded-proto": "https"})
    assert_shows(page, lines, without=["$scheme", "Host $http_host"])
    page = send(browser, origin=HTTPS, host="127.0.0.1")
    assert_shows(page, "it was 127.0.0.1 here", "Host $http_host")


@pytest.mark.django_db
@pytest.mark.parametrize("origin", ["null", "file://", "http://[", "about:blank"])
def test_a_hidden_origin_is_not_taken_for_an_expired_form(browser: Client, origin: str) -> None:
    page = send(browser, origin=origin)
    assert_shows(
        page,
        "does not say which page this form comes from",
        "Referrer-Policy",
        without=["expired", "trust"],
    )


@pytest.mark.django_db
def test_without_a_referrer_over_https_it_is_the_referrer(browser: Client, settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    page = send(browser, **{"x-forwarded-proto": "https"})
    assert_shows(page, "referrer", without=["expired", "Cookies"])


@pytest.mark.django_db
def test_missing_cookies_and_old_pages_are_told_apart(browser: Client) -> None:
    data = {"csrfmiddlewaretoken": "x" * 32}
    assert_shows(text_of(browser.post("/sign-in/", data)), "This form has expired")
    browser.cookies.clear()
    assert_shows(text_of(browser.post("/sign-in/", data)), "without the cookie", "Allow cookies")


@pytest.mark.django_db
def test_an_origin_with_markup_in_it_is_escaped(browser: Client) -> None:
    page = send(browser, origin="https://<b>x</b>`y`")
    assert b"<b>x" not in page.content
