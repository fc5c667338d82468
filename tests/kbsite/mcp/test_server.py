"""Who gets in: tokens, hosts, origins, sizes, rates; and the web servers it runs under."""

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.db import OperationalError
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from kbsite.mcp import calls, server
from kbsite.mcp.server import MAX_BODY, Application
from kbsite.middleware import rate_limits, request_limits
from kbsite.middleware.request_limits import BodyTimeLimit
from kbsite.models import ApiToken
from tests import web_server
from tests.instance import redis_server
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply, served, text
from tests.makers import make_video
from transcripts.core.errors import Throttled
from transcripts.library import reading as library

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_transcripts", "arguments": {}},
}


def test_without_a_token_the_answer_says_where_to_learn_how_to_get_one(endpoint: Endpoint) -> None:
    response = endpoint.post(CALL)
    assert response.status_code == 401
    address = (
        response.headers["www-authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    )
    assert address == f"{endpoint.base}/.well-known/oauth-protected-resource/mcp"
    metadata = httpx2.get(address).json()
    assert metadata["resource"] == endpoint.url
    assert metadata["scopes_supported"] == ["read", "write"]


@pytest.mark.parametrize("token", ["kb_unknown", "nonsense", "kb_" + "x" * 90, "\xfc"])
def test_an_unknown_token_is_refused(endpoint: Endpoint, token: str) -> None:
    assert endpoint.post(CALL, Authorization=f"Bearer {token}".encode("latin-1")).status_code == 401


def test_a_revoked_token_is_refused(endpoint: Endpoint, shelf: Shelf) -> None:
    answer = endpoint.post(CALL, token=shelf.token)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "private, no-store, no-transform"
    ApiToken.objects.get(name="all", user=shelf.owner).revoke()
    assert endpoint.post(CALL, token=shelf.token).status_code == 401


def test_a_token_of_a_user_who_was_switched_off_is_refused(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    shelf.owner.is_active = False
    shelf.owner.save()
    assert endpoint.post(CALL, token=shelf.token).status_code == 401


def test_a_session_cookie_does_not_open_the_endpoint(
    endpoint: Endpoint, shelf: Shelf, client: Any
) -> None:
    client.force_login(shelf.owner)
    assert (
        endpoint.post(CALL, Cookie=f"sessionid={client.cookies['sessionid'].value}").status_code
        == 401
    )


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.org",
        "127.0.0.1.evil.example.org",
        "",
        "[::1",
        "a b",
        "localhost@evil.example.org",
    ],
)
def test_another_host_name_is_not_answered(endpoint: Endpoint, shelf: Shelf, host: str) -> None:
    assert endpoint.post(CALL, token=shelf.token, Host=host).status_code in (400, 421)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example.org",
        "null",
        "http://127.0.0.1.evil.example.org",
        "file://",
        "http://[",
        "https://kb.example.org.evil.org",
    ],
)
def test_a_page_of_another_origin_may_not_call(
    endpoint: Endpoint, shelf: Shelf, settings: Any, origin: str
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://kb.example.org"]
    assert endpoint.post(CALL, token=shelf.token, Origin=origin).status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        "https://kb.example.org",
        "https://tools.example.net",
        "http://localhost:6274",
        "https://public.example.com",
    ],
)
def test_the_settings_say_which_pages_may_call(
    endpoint: Endpoint, shelf: Shelf, settings: Any, origin: str
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://kb.example.org", "https://*.example.net"]
    settings.PUBLIC_URL = "https://public.example.com"
    assert endpoint.post(CALL, token=shelf.token, Origin=origin).status_code == 200


def test_a_wildcard_of_allowed_hosts_counts_here_too(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = [".example.org"]
    assert endpoint.post(CALL, token=shelf.token, Host="kb.example.org:8443").status_code == 200
    assert endpoint.post(CALL, token=shelf.token, Host="example.net").status_code == 421


def test_a_body_beyond_the_limit_is_not_read(endpoint: Endpoint, shelf: Shelf) -> None:
    assert endpoint.post(b" " * (MAX_BODY + 1), token=shelf.token).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}',
        b'{"a":' * 100_000,
    ],
)
def test_a_broken_message_is_answered_without_a_crash(
    endpoint: Endpoint, shelf: Shelf, body: bytes
) -> None:
    response = endpoint.post(body, token=shelf.token)
    assert response.status_code < 500
    assert "Traceback" not in response.text


def test_blanks_around_header_values_change_nothing(endpoint: Endpoint, shelf: Shelf) -> None:
    # The SDK compares Mcp-Method with the body; a client may send blanks behind the value, which
    # httptools keeps.
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": MODERN}}
    lines = [
        "POST /mcp/ HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {shelf.token}  ",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        "MCP-Protocol-Version: 2026-07-28 ",
        "Mcp-Method: tools/list  ",
        "Connection: close",
        f"Content-Length: {len(json.dumps(body))}",
    ]
    with socket.create_connection(
        ("127.0.0.1", int(endpoint.base.rpartition(":")[2])), timeout=10
    ) as wire:
        wire.sendall("\r\n".join([*lines, "", json.dumps(body)]).encode())
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"get_transcript" in answer


def test_a_lost_database_is_told_and_not_a_crash(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as patch:
        patch.setattr(library, "list_videos", fail)
        answer = shelf.write.refused("list_transcripts")
        assert "The database was out of reach." in answer
    monkeypatch.setattr(calls, "caller_of_token", fail)
    response = endpoint.post(CALL, token=shelf.token)
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_clients_of_both_protocols_are_served(endpoint: Endpoint, shelf: Shelf, mode: str) -> None:
    make_video(shelf.collection)

    async def listed(client: Any) -> Any:
        return await client.call_tool("list_transcripts", {})

    assert reply(endpoint.talk(shelf.token, listed, mode=mode)).startswith("1 videos")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_only_post_is_served_so_that_nobody_holds_an_idle_stream(
    endpoint: Endpoint, shelf: Shelf, method: str
) -> None:
    response = httpx2.request(
        method,
        endpoint.url,
        headers={"Authorization": f"Bearer {shelf.token}", "Accept": "text/event-stream"},
        timeout=5,
    )
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_everything_else_is_django(endpoint: Endpoint) -> None:
    assert "csrfmiddlewaretoken" in httpx2.get(f"{endpoint.base}/sign-in/").text
    assert httpx2.get(f"{endpoint.base}/mcp-other").status_code in (302, 404)


@pytest.mark.parametrize("content", [b"x" * 1_001, [b"x" * 500] * 3], ids=["said", "unsaid"])
def test_django_takes_in_no_body_that_is_too_large(
    endpoint: Endpoint, settings: Any, content: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    response = httpx2.post(
        f"{endpoint.base}/api/v1/sources",
        content=content if isinstance(content, bytes) else iter(content),
    )
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_it_serves_without_the_lifespan_protocol_too(shelf: Shelf) -> None:
    make_video(shelf.collection)
    with served(Application(), lifespan="off") as running:
        assert reply(running.call(shelf.token, "list_transcripts")).startswith("1 videos")
        assert reply(running.call(shelf.token, "list_transcripts")).startswith("1 videos")


def test_a_call_that_stops_in_its_middle_is_refused_in_time(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_limits, "STILL_SECONDS", 1.0)
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {shelf.token}\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{"
    )
    with (
        web_server.served(BodyTimeLimit(Application())) as port,
        web_server.connect(port, sends=head.encode()) as client,
    ):
        assert web_server.heard(client).startswith(b"HTTP/1.1 408 ")


def test_a_token_over_its_rate_is_told_when_to_come_back(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    settings.MCP_CALLS_PER_MINUTE = 3

    async def often(client: Any) -> Any:
        return [await client.call_tool("list_transcripts", {}) for _ in range(5)]

    results = endpoint.talk(shelf.token, often)
    assert [result.is_error for result in results] == [False, False, False, True, True]
    assert "Come back in" in text(results[-1])
    assert "Next: the same call" in text(results[-1])
    with pytest.raises(MCPError, match="Come back in"):
        endpoint.talk(shelf.token, lambda client: client.list_resources())
    assert not endpoint.call(
        shelf.reading, "list_transcripts"
    ).is_error  # each token has a rate of its own


def test_the_headers_of_an_answer_say_what_is_left_of_the_rate(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    settings.MCP_CALLS_PER_MINUTE = 2
    seen: list[httpx2.Headers] = []

    async def note(response: httpx2.Response) -> None:
        if b"tools/call" in response.request.content:
            seen.append(response.headers)

    async def often() -> None:
        headers = {"Authorization": f"Bearer {shelf.token}"}
        hooks: dict[str, Any] = {"response": [note]}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60, event_hooks=hooks) as http,
            Client(streamable_http_client(endpoint.url, http_client=http)) as client,
        ):
            for _ in range(3):
                await client.call_tool("list_transcripts", {})

    asyncio.run(often())
    assert [headers["RateLimit-Policy"] for headers in seen] == ['"mcp";q=2;w=60'] * 3
    left = [headers["RateLimit"].split(";")[1] for headers in seen]
    assert left == ["r=1", "r=0", "r=0"]
    assert "Retry-After" not in seen[1]
    assert 0 < int(seen[2]["Retry-After"]) <= 60


def test_the_rate_can_be_switched_off(settings: Any) -> None:
    settings.MCP_CALLS_PER_MINUTE = 0
    for _ in range(300):
        server.count_call(1)


def test_a_counter_out_of_reach_lets_calls_through(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    server.count_call(1)
    assert "counter cannot be reached" in caplog.text


def test_many_calls_at_once_leave_connections_for_the_pages(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection)

    async def flood() -> list[bool]:
        async with endpoint.client(shelf.token) as client:
            results = await asyncio.gather(
                *(client.call_tool("get_transcript", {"videoId": "lecture-1"}) for _ in range(60))
            )
            return [bool(result.is_error) for result in results]

    started = time.monotonic()
    assert not any(asyncio.run(flood()))
    assert (
        httpx2.get(f"{endpoint.base}/admin/", headers={"Cookie": "sessionid=unknown"}).status_code
        == 302
    )  # looks into the database
    assert (
        time.monotonic() - started < 20
    )  # a leaked connection would make somebody wait that long for the pool


@pytest.mark.redis
def test_with_redis_all_processes_count_together(settings: Any, tmp_path: Path) -> None:
    with redis_server(tmp_path) as (_, address):
        settings.CELERY_BROKER_URL = address
        settings.MCP_CALLS_PER_MINUTE = 2
        server.count_call(1)
        rate_limits.forget()  # as another process would begin
        server.count_call(1)
        with pytest.raises(Throttled):
            server.count_call(1)
        server.count_call(2)
        rate_limits.forget()
