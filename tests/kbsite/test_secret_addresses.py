"""Whoever reads the log learns no address that lets in, whatever was answered there."""

import io
import json
import logging
import logging.config
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from django.urls import get_resolver

from citations.models import SharedLink
from citations.notebook import highlights, shared_links
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.notebook.shared_links import ShareTarget
from kbsite import secret_addresses
from kbsite.mcp.server import Application
from kbsite.models import SignInLink
from kbsite.telemetry.logs import OriginFilter, RedactedStream
from kbsite.telemetry.requests import WatchedRequests
from tests.journeys.test_isolation import routes
from tests.kbsite.mcp.endpoint import Endpoint, served
from tests.loopback import NO_TLS
from tests.makers import make_paper, make_user
from tests.serving import Serving, until
from transcripts.core.scope import Scope
from transcripts.models import Collection

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW")
# A client's id is no secret: to manage its registration takes a token.
NOT_SECRET = {"oauth/register/<str:client_id>/"}
SAID = "The error runs backwards."


def test_each_address_that_lets_strangers_in_is_known_as_a_secret() -> None:
    open_routes = {
        route
        for route, pattern in routes(get_resolver().url_patterns)
        if "<" in route
        and not route.startswith("api/")  # which asks for a token itself
        and not getattr(pattern.callback, "login_required", True)
    }
    assert len(open_routes) >= 5
    for route in open_routes - NOT_SECRET:
        filled = "/" + "/".join("5ecret" if "<" in part else part for part in route.split("/"))
        assert secret_addresses.is_secret(filled), route
        assert "5ecret" not in secret_addresses.redact(f"Not Found: {filled}").partition("media")[0]


def test_a_form_of_an_address_without_a_secret_may_say_where_it_is_from() -> None:
    plain = [route for route, _ in routes(get_resolver().url_patterns) if "<" not in route]
    assert "sign-in/code/" in plain
    assert [route for route in plain if secret_addresses.is_secret(f"/{route}")] == []


@pytest.mark.parametrize(
    "text",
    [
        "Referer checking failed - https://kb.example.org/sign-in/5ecret/?by=ann does not match",
        '"GET /Shared/5ecret HTTP/1.1"',
        "/sign-in/?next=%2Fshared%2F5ecret%2F",
        "GET '/sign-in/team/done/?state=5ecret&code=5ecret'",
        "http://ann:5ecret@proxy",
    ],
)
def test_a_secret_is_masked_wherever_it_stands(text: str) -> None:
    assert "5ecret" not in secret_addresses.redact(text)


@pytest.fixture
def endpoint(transactional_db: None) -> Iterator[Endpoint]:
    with served(WatchedRequests(Application())) as running:
        yield running


@pytest.fixture(params=["line", "json"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """All that all loggers write, as the log of a server has it."""
    json_format = {"class": "pythonjsonlogger.json.JsonFormatter"}
    formatter: logging.Formatter = logging.Formatter("{levelname} {name}: {message}", style="{")
    if request.param == "json":
        formatter = logging.config.DictConfigurator({}).configure_formatter(json_format)
    handler = RedactedStream(io.StringIO())
    handler.setFormatter(formatter)
    handler.addFilter(OriginFilter())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler.stream  # type: ignore[misc]
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.fixture
def link(scope: Scope, collection: Collection) -> SharedLink:
    """A highlight that is shared."""
    owner = make_user("owner", collection=collection)
    shared_links.allow_links(collection, is_allowed=True)
    book = make_paper(collection, [SAID])
    selected = SelectedText(exact=SAID)
    kept = highlights.keep(scope, owner, str(book.uuid), selected, HighlightNotes())
    return shared_links.share(scope, owner, ShareTarget(highlight=kept.placed.row.uuid))


def knock(endpoint: Endpoint, path: str) -> set[int]:
    """Ask for an address in every way but the one that uses it up; return the statuses."""
    ways: list[tuple[str, str, dict[str, Any]]] = [
        *((method, path, {}) for method in METHODS if method != "GET"),
        ("GET", f"{path}?q=%00", {}),
        ("GET", path, {"headers": {"Host": "elsewhere.example"}}),
        ("POST", path, {"headers": {"Referer": f"https://elsewhere.example{path}"}}),
        ("GET", path.rstrip("/") + "x/y/", {}),
        ("GET", path.replace("/s", "/S", 1), {}),
        ("GET", f"/sign-in/?next={path}", {}),
        ("GET", f"/sign-in/team/done/?code={path.split('/')[2]}&state={path.split('/')[2]}", {}),
    ]
    statuses = {announce_too_much(endpoint, path)}
    with httpx2.Client(base_url=endpoint.base, verify=NO_TLS, timeout=60) as http:
        for method, address, options in ways:
            statuses.add(http.request(method, address, **options).status_code)
    return statuses


def announce_too_much(endpoint: Endpoint, path: str) -> int:
    """Announce a body that is too large; return the status."""
    connection = HTTPConnection(endpoint.base.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", "9" * 15)
    connection.endheaders()
    with closing(connection):
        return connection.getresponse().status


def fail(monkeypatch: pytest.MonkeyPatch, error: Callable[[str], Exception]) -> None:
    """Let every way that a link is followed fail, with its address in the message."""

    def follow(secret: object, *_: object) -> Any:
        raise error(f"http://testserver/sign-in/{secret}/ and /shared/{secret}/ cannot be followed")

    monkeypatch.setattr(SignInLink, "redeem", follow)
    monkeypatch.setattr(shared_links, "follow_to_play", follow)
    monkeypatch.setattr(shared_links, "follow", follow)


def test_no_log_has_a_sign_in_link_or_the_address_of_a_shared_link_in_it(
    endpoint: Endpoint, log: io.StringIO, link: SharedLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, shared = SignInLink.issue(make_user("ada")), str(link.uuid)
    paths = [
        f"/sign-in/{secret}/",
        f"/shared/{shared}/",
        f"/shared/{shared}/page/",
        f"/shared/{shared}/media/{uuid4()}/",
    ]
    statuses = set()
    for path in paths:
        statuses |= knock(endpoint, path)
    with httpx2.Client(base_url=endpoint.base, verify=NO_TLS, timeout=60) as http:
        for error in (RuntimeError, OperationalError):
            with monkeypatch.context() as patch:
                fail(patch, error)
                statuses |= {http.get(path).status_code for path in paths}
        statuses |= {http.get(path).status_code for path in paths for _ in range(130)}
    assert statuses >= {200, 302, 400, 403, 404, 405, 413, 422, 429, 500, 503}
    written = log.getvalue()
    assert "Internal Server Error" in written
    assert "Traceback" in written
    for each in (secret, shared):
        assert each not in written


def test_djangos_lines_name_routes_and_no_addresses(log: io.StringIO, client: Client) -> None:
    client.head("/sign-in/5ecret/?q=question")
    client.get("/nowhere/question/?q=question")
    lines = log.getvalue()
    assert "Method Not Allowed (HEAD): /sign-in/<str:secret>/" in lines
    assert "Not Found: unmatched" in lines
    assert "question" not in lines


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_served_library_writes_no_link_that_signs_in(tmp_path: Any, form: str) -> None:
    serving = Serving(tmp_path / "home", "--no-worker", LOG_FORMAT=form)
    try:
        secret = serving.link.rstrip("/").rpartition("/")[2]
        greeting = serving.output().count(secret)
        for method in METHODS[1:]:
            answer = httpx2.request(method, serving.link, verify=NO_TLS, timeout=60)
            assert answer.status_code == {"HEAD": 405, "OPTIONS": 405, "BREW": 400}.get(method, 403)
        until(lambda: serving.output().count("/sign-in/<str:secret>/") >= len(METHODS) - 2)
        assert serving.output().count(secret) == greeting
        if form == "json":
            lines = [line for line in serving.output().splitlines() if line[:1] == "{"]
            assert all(json.loads(line) for line in lines)
        assert httpx2.get(serving.link, verify=NO_TLS, timeout=60).status_code == 302
    finally:
        serving.end(15)


def test_the_page_of_a_secret_address_sends_it_to_nobody(link: SharedLink) -> None:
    for path in ("/sign-in/5ecret/", f"/shared/{link.uuid}/", "/shared/5ecret/page/"):
        for method in ("get", "head", "post"):
            answer = getattr(Client(), method)(path)
            assert answer["Referrer-Policy"] == "no-referrer", (path, answer.status_code)
    assert Client().get("/sign-in/")["Referrer-Policy"] == settings.SECURE_REFERRER_POLICY
