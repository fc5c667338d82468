"""A request head has to be whole in time; what comes after it may take as long as it takes."""

import asyncio
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kbsite.middleware import request_limits
from tests.web_server import connect, heard, served

HEAD_SECONDS = 0.5
GET = b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n"


async def site(scope: Any, receive: Any, send: Any) -> None:
    """Answer; on /stream for longer than a head may take, on /early before the body is there."""
    if scope["path"] != "/early":
        while (await receive()).get("more_body"):
            continue
    length = [] if scope["path"] == "/stream" else [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    if scope["path"] == "/stream":
        for _ in range(6):
            await send({"type": "http.response.body", "body": b"tick", "more_body": True})
            await asyncio.sleep(HEAD_SECONDS / 3)
        await send({"type": "http.response.body", "body": b"end"})
    else:
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(request_limits, "HEAD_SECONDS", HEAD_SECONDS)
    with served(site, keep_alive=1) as port:
        yield port


def answered(client: socket.socket) -> bytes:
    """Return a response, which ends with its length."""
    response = b""
    while not response.endswith((b"ok", b"end\r\n0\r\n\r\n")):
        response += client.recv(1_000)
    return response


def is_cut_off(client: socket.socket, part: bytes) -> bool:
    """Send something again and again, until the connection is closed."""
    for _ in range(100):
        try:
            client.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            return True
        time.sleep(HEAD_SECONDS / 5)
    return False


@pytest.mark.parametrize("part", [b"", b"\r\n", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\nCookie: a"])
def test_a_head_that_does_not_end_ends_its_connection(port: int, part: bytes) -> None:
    clients = [connect(port, sends=part) for _ in range(20)]
    started = time.monotonic()
    for client in clients:
        with client:
            assert heard(client) == b""
    assert time.monotonic() - started < 10 * HEAD_SECONDS


def test_bytes_that_trickle_in_do_not_put_the_end_off(port: int) -> None:
    with connect(port, sends=b"GET / HTTP/1.1\r\n") as client:
        assert is_cut_off(client, b"X-Header: x\r\n")


@pytest.mark.parametrize("part", [b"\r\n", b"GET / HTTP"])
def test_the_next_head_on_a_connection_has_its_own_time(port: int, part: bytes) -> None:
    with connect(port) as client:
        for _ in range(4):
            time.sleep(HEAD_SECONDS / 2)
            client.sendall(GET % b"")
            answered(client)
        client.sendall(part)
        assert heard(client) == b""


def test_an_idle_connection_is_closed(port: int) -> None:
    with connect(port, sends=GET % b"") as client:
        assert heard(client).endswith(b"ok")


def test_a_long_response_and_the_request_after_it_are_not_touched(port: int) -> None:
    with connect(port, sends=GET % b"stream") as client:
        assert answered(client).count(b"tick") == 6
        client.sendall(GET % b"")
        assert heard(client).endswith(b"ok")


def test_a_body_may_take_longer_than_a_head(port: int) -> None:
    with connect(port, sends=b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n") as client:
        for _ in range(6):
            time.sleep(HEAD_SECONDS / 3)
            client.sendall(b"x")
        assert heard(client).endswith(b"ok")


def test_the_rest_of_a_body_that_was_answered_already_does_not_go_on_for_ever(port: int) -> None:
    head = b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    with connect(port, sends=head) as client:
        assert is_cut_off(client, b"x")
