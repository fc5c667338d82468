"""Applications that make themselves known are bounded, checked, and never anybody else."""

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trustme
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from oauth2_provider.models import Application

from kbsite.oauth import clients
from tests.kbsite.oauth.program import CALLBACK, METADATA, Program, call, register
from tests.makers import signed_in

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "metadata",
    [
        {"redirect_uris": []},
        {"redirect_uris": "https://a.example/"},
        {"redirect_uris": ["https://a.example/"] * 11},
        {"redirect_uris": ["http://a.example/"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["data:text/html,x"]},
        {"redirect_uris": ["https://a.example/ https://b.example/"]},
        {"redirect_uris": ["https://a.example/#x"]},
        {"redirect_uris": ["https://u:p@a.example/"]},
        {"redirect_uris": ["https://[::1"]},
        {"redirect_uris": ["https://a.example/" + "x" * 500]},
        {"redirect_uris": ["https://a.example/\0"]},
        {"redirect_uris": [{}]},
        {"grant_types": ["password"]},
        {"grant_types": ["client_credentials"]},
        {"grant_types": [{}]},
        {"response_types": ["token"]},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_name": "x" * 101},
        {"client_name": "a\0b"},
        {"client_name": {"a": 1}},
    ],
    ids=str,
)
def test_a_registration_that_could_do_harm_is_refused(metadata: dict[str, Any]) -> None:
    answer = register(**metadata)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("invalid_")
    assert not Application.objects.exists()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 9_000, b"\xff"])
def test_a_broken_registration_is_answered_without_a_crash(body: bytes) -> None:
    answer = Client().post("/oauth/register/", body, content_type="application/json")
    assert answer.status_code == 400


def test_a_large_registration_is_refused() -> None:
    body = b" " * 20_000
    answer = Client().post("/oauth/register/", body, content_type="application/json")
    assert answer.status_code == 413


def test_an_address_registers_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = [register(redirect_uris=[]).status_code for _ in range(61)]
    assert statuses == [400] * 60 + [429]
    assert 0 < int(register()["Retry-After"]) <= 3_600


def test_so_many_wait_to_be_connected_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_UNUSED", 2)
    assert [register().status_code for _ in range(3)] == [201, 201, 503]


def test_registration_can_be_switched_off(settings: Any) -> None:
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "DCR_ENABLED": False}
    assert register().status_code == 404
    metadata = Client().get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in metadata


def test_a_registration_shows_itself_and_goes_but_does_not_change(owner: User) -> None:
    body = register().json()
    own = {"Authorization": f"Bearer {body['registration_access_token']}"}
    where = body["registration_client_uri"].removeprefix("http://testserver")
    assert Client().get(where, headers=own).json()["redirect_uris"] == [CALLBACK]
    change = {**METADATA, "redirect_uris": ["https://evil.example/"]}
    answer = Client().put(where, change, content_type="application/json", headers=own)
    assert answer.status_code == 405
    tokens = {"access_token": body["registration_access_token"]}
    assert call(tokens).status_code == 401  # it is no key to the library
    assert Client().delete(where).status_code == 401
    assert Client().delete(where, headers=own).status_code == 204
    assert not Application.objects.exists()


def test_a_program_with_a_secret_has_to_send_it(owner: User) -> None:
    body = register(token_endpoint_auth_method="client_secret_post").json()
    program = Program()
    program.client_id = body["client_id"]
    location = program.ask(owner)
    assert program.exchange(location).status_code == 401
    assert program.exchange(location, client_secret="wrong").status_code == 401
    assert program.exchange(location, client_secret=body["client_secret"]).status_code == 200


class Document(ThreadingHTTPServer):
    """An https server on this machine that publishes an application's document."""

    daemon_threads = True

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(context)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.client_id = f"https://localhost:{self.server_port}/client.json"
        self.body: dict[str, Any] = {**METADATA, "client_id": self.client_id}
        self.status, self.kind, self.pause, self.asked = 200, "application/json", 0.0, 0
        self.location = ""
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Document

    def do_GET(self) -> None:
        about = self.server
        about.asked += 1
        body = json.dumps(about.body).encode()
        self.send_response(about.status)
        self.send_header("Content-Type", about.kind)
        self.send_header("Content-Length", str(len(body)))
        if about.location:
            self.send_header("Location", about.location)
        self.end_headers()
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(about.pause)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def document(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> Iterator[Document]:
    """A document that counts as one of a public address, with a certificate that is trusted."""
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(path))
    cache.clear()
    with Document(authority) as server:
        yield server
        server.shutdown()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transcripts.youtube.guard.is_public", lambda _: True)


def open_consent(owner: User, client_id: str) -> Any:
    program = Program()
    program.client_id = client_id
    browser = signed_in(owner)
    return browser.get("/oauth/authorize/", program.request())


def test_an_application_is_known_by_the_document_at_its_address(
    owner: User, document: Document, public: None
) -> None:
    page = open_consent(owner, document.client_id).content.decode()
    assert "Connect Reader?" in page
    assert 'by <strong class="wrap">localhost</strong>' in page
    program = Program()
    program.client_id = document.client_id
    assert program.connect(owner)["scope"] == "read"
    assert document.asked == 1  # it is kept as long as it says


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.body.update(client_id="https://claude.ai/client.json"),
        lambda it: it.body.update(redirect_uris=["http://evil.example/"]),
        lambda it: it.body.update(client_secret="x"),
        lambda it: it.body.update(client_name="x" * 20_000),
        lambda it: setattr(it, "kind", "text/html"),
        lambda it: setattr(it, "status", 404),
        lambda it: vars(it).update(status=302, location=f"{it.client_id}2"),
    ],
    ids=["another id", "redirect", "secret", "size", "type", "absent", "elsewhere"],
)
def test_a_document_that_does_not_fit_is_refused(
    owner: User, document: Document, public: None, change: Callable[[Document], Any]
) -> None:
    change(document)
    assert open_consent(owner, document.client_id).status_code == 400
    assert open_consent(owner, document.client_id).status_code == 400
    assert document.asked == 1  # nor is it asked for again at once
    assert not Application.objects.filter(client_id=document.client_id).exists()


def test_a_trickle_does_not_hold_a_thread(
    owner: User, document: Document, public: None, settings: Any
) -> None:
    timeout = {"CIMD_FETCH_TIMEOUT_SECONDS": 0.3}
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, **timeout}
    document.pause = 0.05
    started = time.monotonic()
    assert open_consent(owner, document.client_id).status_code == 400
    assert time.monotonic() - started < 3


def test_nothing_is_asked_of_this_machine_nor_of_its_network(
    owner: User, document: Document
) -> None:
    for host in (
        "localhost",
        "127.0.0.1",
        "[::1]",
        "10.0.0.1",
        "169.254.169.254",
        "[::ffff:7f00:1]",
    ):
        address = f"https://{host}:{document.server_port}/client.json"
        assert open_consent(owner, address).status_code == 400
    assert document.asked == 0


def test_a_document_is_fetched_for_a_user_only(document: Document, public: None) -> None:
    program = Program()
    program.client_id = document.client_id
    assert Client().get("/oauth/authorize/", program.request()).status_code == 302  # to sign in
    assert program.token(grant_type="refresh_token", refresh_token="x").status_code == 401
    assert program.revoke("x") == 401
    assert document.asked == 0


def test_documents_can_be_switched_off(
    owner: User, document: Document, public: None, settings: Any
) -> None:
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "CIMD_ENABLED": False}
    assert open_consent(owner, document.client_id).status_code == 400
    metadata = Client().get("/.well-known/oauth-authorization-server").json()
    assert metadata["client_id_metadata_document_supported"] is False
