"""How much a request may bring along, and how slowly, whoever sends it."""

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbsite.middleware import request_limits
from kbsite.middleware.request_limits import BodyLimit, BodyTimeLimit, TemporaryUpload, most_bytes
from tests.web_server import connect, heard, served

STILL_SECONDS = 0.5
HEAD = b"POST %s HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nContent-Length: 1000\r\n\r\n"
MEMBER = [(b"authorization", b"Bearer kb_x")]
Answer = tuple[int | None, bytes, int]  # status, body, bytes that the application got


@pytest.fixture(autouse=True)
def small(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    settings.MAX_DOCUMENT_BYTES = 400
    settings.MAX_UPLOAD_BYTES = settings.MAX_MEDIA_BYTES = 10


def send(*parts: bytes, headers: Any = MEMBER, path: str = "/add/") -> Answer:
    """Send a body in parts to an application that takes all of it before it answers, as Django
    does.
    """
    events = [
        {"type": "http.request", "body": part, "more_body": place < len(parts)}
        for place, part in enumerate(parts, 1)
    ]
    sent: list[Any] = []
    got = 0

    async def application(scope: Any, receive: Any, send: Any) -> None:
        nonlocal got
        while True:
            event = await receive()
            if event["type"] == "http.disconnect":
                return
            got += len(event["body"])
            if not event["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    async def receive() -> Any:
        return events.pop(0)

    async def keep(event: Any) -> None:
        sent.append(event)

    asyncio.run(
        BodyLimit(application)({"type": "http", "path": path, "headers": headers}, receive, keep)
    )
    assert [event["type"] for event in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], sent[1]["body"], got


def test_two_of_the_largest_documents_and_a_form_go_at_once() -> None:
    assert most_bytes() == 900
    assert send(b"x" * 450, b"x" * 450) == (200, b"done", 900)


def test_one_byte_more_is_refused_before_it_is_taken_in() -> None:
    status, body, response = send(b"x" * 450, b"x" * 450, b"x", b"x" * 450)
    assert (status, response) == (413, 900)
    assert b"more than 900 bytes" in body


def test_what_says_that_it_is_too_large_is_not_taken_in_at_all() -> None:
    status, body, response = send(
        b"x", headers=[*MEMBER, (b"content-length", b"901")], path="/api/v1/sources"
    )
    assert (status, response) == (413, 0)
    assert json.loads(body)["code"] == "too_large"


@pytest.mark.parametrize("length", [b"0", b"-1", b"many", b"9" * 40, "²".encode()])
def test_what_it_says_does_not_let_more_in(length: bytes) -> None:
    assert send(b"x" * 901, headers=[*MEMBER, (b"content-length", length)])[0] == 413


def test_a_stranger_may_send_no_files() -> None:
    assert send(b"x" * 100, headers=[])[0] == 200
    assert send(b"x" * 101, headers=[])[0] == 413
    assert send(b"x" * 101, headers=[(b"cookie", b"sessionid=x")])[0] == 200


def test_an_upload_leaves_no_file_behind_when_its_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    handler = TemporaryUpload()
    handler.new_file("files", "talk.pdf", "application/pdf", 0)
    handler.receive_data_chunk(b"%PDF-1.7", 0)
    file = handler.file_complete(8)
    assert (file.name, file.size, file.read()) == ("talk.pdf", 8, b"%PDF-1.7")
    assert not list(tmp_path.iterdir())
    file.close()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """An application that takes a body and answers; a client gone before is an error to /strict."""

    async def site(scope: Any, receive: Any, send: Any) -> None:
        while (event := await receive()).get("more_body"):
            continue
        if event["type"] == "http.disconnect" and scope["path"] == "/strict":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            raise RuntimeError
        if event["type"] == "http.request":
            if scope["path"] == "/slow-answer":
                await asyncio.sleep(3 * STILL_SECONDS)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"done"})

    monkeypatch.setattr(request_limits, "STILL_SECONDS", STILL_SECONDS)
    with served(BodyTimeLimit(site)) as port:
        yield port


@pytest.mark.parametrize("path", [b"/add/", b"/strict", b"/api/v1/sources"])
def test_a_body_that_stops_is_refused_and_its_connection_closed(port: int, path: bytes) -> None:
    with connect(port, sends=HEAD % (path, b"*/*") + b"x") as client:
        started = time.monotonic()
        head, _, body = heard(client).partition(b"\r\n\r\n")
        assert time.monotonic() - started < 20 * STILL_SECONDS
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head
    if path.startswith(b"/api/"):
        assert json.loads(body)["code"] == "too_slow"
    else:
        assert b"did not arrive in time" in body


def test_a_browser_gets_a_page(port: int) -> None:
    with connect(port, sends=HEAD % (b"/add/", b"text/html")) as client:
        assert b"<h1" in heard(client)


def test_a_body_that_drips_is_refused(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "LEAST_RATE", 100)
    with connect(port, sends=HEAD % (b"/add/", b"*/*")) as client:
        client.settimeout(STILL_SECONDS / 5)
        response = b""
        for _ in range(100):
            client.sendall(b"x")
            with contextlib.suppress(TimeoutError):
                response = client.recv(1_000)
                break
        assert response.startswith(b"HTTP/1.1 408 ")


def test_a_slow_and_steady_upload_is_taken_in(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "LEAST_RATE", 100)
    with connect(port, sends=HEAD % (b"/add/", b"*/*")) as client:
        for _ in range(20):
            client.sendall(b"x" * 50)
            time.sleep(STILL_SECONDS / 5)
        assert heard(client).endswith(b"done\r\n0\r\n\r\n")


def test_a_response_may_take_longer_than_a_body_may_pause(port: int) -> None:
    with connect(port, sends=HEAD % (b"/slow-answer", b"*/*") + b"x" * 1_000) as client:
        assert heard(client).endswith(b"done\r\n0\r\n\r\n")
