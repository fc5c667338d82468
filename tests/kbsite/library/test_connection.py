"""What a server answers that is no Cuebase, or another version of it."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from kbsite.library.connection import is_this_machine
from kbsite.library.remote import RemoteLibrary
from tests.loopback import StandIn
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, NotSignedIn, Unavailable

HTML, JSON, PROBLEM = "text/html", "application/json", "application/problem+json"
ANSWERS = {
    "page": (200, HTML, b"<h1>Welcome</h1>"),
    "other": (200, JSON, b'{"passages": 7}'),
    "list": (200, JSON, b"[]"),
    "deep": (200, JSON, b"[" * 200_000),
    "proxy": (502, HTML, b"Bad gateway"),
    "moved": (308, HTML, b""),
    "vague": (404, PROBLEM, b'{"code": 7, "detail": null}'),
    "newer": (409, PROBLEM, b'{"code": "of_tomorrow", "detail": "Not now.", "hint": "Later."}'),
}


class Handler(BaseHTTPRequestHandler):
    """Answers by the first part of the path."""

    def do_GET(self) -> None:
        status, kind, body = ANSWERS[self.path.split("/")[1]]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 308:
            self.send_header("Location", "https://kb.example.org/")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b"event: stage\ndata: {\n\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with StandIn(Handler) as server:
        yield server.url


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("page", "does not answer as Cuebase does"),
        ("other", "answers with what this version does not know"),
        ("list", "answers with what this version does not know"),
        ("deep", "does not answer as Cuebase does"),
        ("proxy", "answers 502, and not as Cuebase does"),
        ("moved", "sends on to https://kb.example.org/"),
        ("vague", "does not answer as Cuebase does"),
    ],
)
def test_another_server_is_recognised(url: str, name: str, sentence: str) -> None:
    with (
        RemoteLibrary(f"{url}/{name}", "kb_x") as library,
        pytest.raises(Unavailable, match=sentence) as refused,
    ):
        library.search("queue")
    assert refused.value.hint


def test_an_error_that_this_version_does_not_know_keeps_its_words(url: str) -> None:
    with (
        RemoteLibrary(f"{url}/newer", "kb_x") as library,
        pytest.raises(KnowledgeBaseError, match="Not now") as raised,
    ):
        library.search("queue")
    assert raised.value.hint == "Later."


def test_a_broken_stream_is_told(url: str) -> None:
    with (
        RemoteLibrary(f"{url}/page", "kb_x") as library,
        pytest.raises(Unavailable, match="does not answer as Cuebase does"),
    ):
        list(library.answer("Why?"))


def test_characters_that_are_no_text_are_refused_before_they_are_sent(url: str) -> None:
    with RemoteLibrary(f"{url}/page", "kb_x") as library, pytest.raises(InvalidInput):
        library.search("\udcff")


@pytest.mark.parametrize("token", ["", " ", "kb_\nx", "kb_ x", "kb_ü"])
def test_what_is_no_token_is_not_sent(token: str) -> None:
    with pytest.raises(NotSignedIn):
        RemoteLibrary("http://localhost", token)


@pytest.mark.parametrize(
    "address",
    ["", "kb.example.org", "ftp://x", "http://", "http://[", "http://x:port", "https://x/?a=b"],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        RemoteLibrary(address, "kb_x")


def test_a_password_in_an_address_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        RemoteLibrary("https://ada:geheim@kb.example.org", "kb_x")
    assert "geheim" not in refused.value.message + refused.value.hint


def test_http_is_for_this_machine_unless_a_setting_allows_it(settings: Any) -> None:
    for host in ("localhost", "kb.localhost", "127.0.0.2", "::1"):
        assert is_this_machine(host)
    for host in ("kb.example.org", "192.168.0.7", "localhost.example.org", "0.0.0.0"):
        assert not is_this_machine(host)
    with pytest.raises(InvalidInput, match="Without https"):
        RemoteLibrary("http://192.168.0.7", "kb_x")
    settings.CUEBASE_PLAIN_HTTP = True
    RemoteLibrary("http://192.168.0.7", "kb_x").close()
