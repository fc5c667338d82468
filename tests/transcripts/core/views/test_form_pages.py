"""Where a browser is led that opens an address which only takes what a form sends."""

import re
from collections.abc import Iterator
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.html import text_of
from transcripts.core.views.requests import page_above, takes_get

NOT_PAGES = ("admin/", "api/", "^", ".well-known/")
FILLED = {"int": "7", "uuid": str(UUID(int=7)), "str": "x", "slug": "x"}
LECTURE = f"/lectures/{UUID(int=7)}/"


def patterns(rows: list[URLPattern | URLResolver]) -> Iterator[tuple[str, URLPattern]]:
    """Yield the addresses of all pages, with ids of nothing."""
    for row in rows:
        route = str(row.pattern)
        if route.startswith(NOT_PAGES):
            continue
        if isinstance(row, URLResolver):
            yield from patterns(row.url_patterns)
        else:
            yield "/" + re.sub(r"<(\w+):\w+>", lambda gap: FILLED[gap[1]], route), row


def test_a_view_takes_get_where_it_answers_get(page: Client) -> None:
    pages = dict(patterns(get_resolver().url_patterns))
    refused = {path for path in pages if page.get(path).status_code == 405}
    assert refused == {path for path, row in pages.items() if not takes_get(row.callback)}
    assert len(refused) > 40
    assert len(pages) > 2 * len(refused)


@pytest.mark.parametrize(
    ("path", "parent"),
    [
        ("/collections/1/members/", "/collections/1/"),
        ("/collections/1/members/5/remove/", "/collections/1/"),
        ("/tokens/create/", "/tokens/"),
        (f"{LECTURE}say/", LECTURE),
        ("/library/change/", "/library/"),
        (f"/library/undo/{UUID(int=7)}/", "/library/"),
        ("/gate/reopen/", ""),
        ("/sign-out/", ""),
    ],
)
def test_the_page_above_an_address_answers_get(path: str, parent: str) -> None:
    assert page_above(path) == parent


@pytest.mark.parametrize(
    ("path", "way"), [("/collections/1/invite/", "/collections/1/"), ("/gate/reopen/", "/library/")]
)
def test_an_address_of_a_form_that_is_opened_leads_to_its_page(
    page: Client, path: str, way: str
) -> None:
    response = page.get(path)
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert "This address only takes what a form sends." in text_of(response)
    assert f'<a class="button button-primary" href="{way}">' in text_of(response)
    assert page.head(path).status_code == 405


def test_programs_get_no_page_for_an_address_of_a_form(page: Client) -> None:
    refused = page.get("/tokens/create/", headers={"accept": "application/json"})
    assert (refused.status_code, refused.content) == (405, b"")
    refused = page.get("/api/v1/archives", headers={"accept": "text/html"})
    assert (refused.status_code, refused["Content-Type"]) == (405, "application/problem+json")


def next_of(client: Client, path: str, referrer: str) -> str:
    """Send a form without a session; return what the sign-in leads to."""
    headers = {"referer": referrer} if referrer else {}
    location = client.post(path, {"name": "New"}, headers=headers)["Location"]
    assert location.startswith("/sign-in/?next=")
    return location.removeprefix("/sign-in/?next=")


@pytest.mark.parametrize(
    ("referrer", "page"),
    [
        ("http://testserver/collections/1/settings/", "/collections/1/settings/"),
        ("http://testserver/library/?q=cells", "/library/%3Fq%3Dcells"),
        ("http://testserver/collections/1/members/", "/collections/1/"),
        ("http://testserver/nowhere", "/library/"),
        ("http://testserver//evil.example/", "/library/"),
        ("https://evil.example/collections/1/", "/library/"),
        ("", "/library/"),
    ],
)
def test_signing_in_leads_to_the_page_of_the_form_that_was_sent_without_a_session(
    client: Client, db: None, referrer: str, page: str
) -> None:
    assert next_of(client, "/collections/1/rename/", referrer) == page


def test_signing_in_leads_to_the_page_above_an_address_of_a_form(client: Client, db: None) -> None:
    assert client.get("/tokens/create/")["Location"] == "/sign-in/?next=/tokens/"
    assert client.get("/gate/reopen/")["Location"] == "/sign-in/?next=/library/"


# What was sent and cannot be used


def test_an_error_leads_back_to_the_form(page: Client) -> None:
    form = "http://testserver/collections/?sort=name"
    sent = page.post("/collections/create/", {"name": " "}, headers={"referer": form})
    assert sent.status_code == 422
    way = '<a class="button button-primary" href="/collections/?sort=name">Back to the form</a>'
    assert way in text_of(sent)
    assert "Go to the library" in text_of(sent)


def test_an_error_without_a_known_form_leads_to_the_library(page: Client) -> None:
    for headers in ({}, {"referer": "https://evil.example/collections/"}):
        sent = page.post("/collections/create/", {"name": " "}, headers=headers)
        assert "Back to the form" not in text_of(sent)
        assert '<a class="button button-primary" href="/library/">' in text_of(sent)


def test_a_page_that_is_not_there_leads_back_to_no_form(page: Client) -> None:
    form = {"referer": "http://testserver/collections/987/settings/"}
    sent = page.post("/collections/987/rename/", {"name": "New"}, headers=form)
    assert sent.status_code == 404
    assert "Back to the form" not in text_of(sent)


def test_a_page_that_fails_as_it_is_reloaded_leads_not_to_itself(page: Client) -> None:
    own = {"referer": "http://testserver/search/?q=%00"}
    opened = page.get("/search/?q=%00", headers=own)
    assert opened.status_code == 422
    assert "Back to the form" not in text_of(opened)


def test_a_form_that_has_expired_leads_back_to_it(owner: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    form = {"referer": "http://testserver/collections/"}
    refused = browser.post("/collections/create/", {"name": "New"}, headers=form)
    assert refused.status_code == 403
    assert 'href="/collections/">Back to the form</a>' in text_of(refused)
