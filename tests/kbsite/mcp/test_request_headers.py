"""Clients as they are: what they accept, which version they speak, what else they send."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint
from tests.kbsite.mcp.test_server import CALL
from tests.loopback import NO_TLS

START = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}
JSON, STREAM = "application/json", "text/event-stream"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", JSON),
        ("application/json; charset=utf-8", JSON),
        ("*/*", JSON),
        ("", JSON),
        ("application/*", JSON),
        ("text/html, image/gif, *; q=.2, */*; q=.2", JSON),
        ("application/json;q=0.9, */*;q=0.1", JSON),
        ("application/json, text/event-stream;q=0", JSON),
        ("application/json, text/event-stream;q=0.5", JSON),
        ("application/json;q=abc", JSON),
        ("application/json, text/event-stream", STREAM),
        ("text/event-stream,application/json", STREAM),
        ("APPLICATION/JSON, TEXT/EVENT-STREAM", STREAM),
        ("application/json;q=0.5, text/event-stream", STREAM),
        ("text/event-stream", STREAM),
        ("text/*, application/json", STREAM),
    ],
)
def test_the_answer_has_the_form_that_the_client_prefers(
    endpoint: Endpoint, shelf: Shelf, accept: str, kind: str
) -> None:
    for body in (CALL, START):
        response = endpoint.post(body, token=shelf.token, Accept=accept)
        assert response.status_code == 200
        assert response.headers["content-type"].partition(";")[0] == kind
        if kind == JSON:
            assert response.json()["id"] == 1
            assert int(response.headers["content-length"]) == len(response.content)


def test_an_error_is_json_for_a_client_that_reads_json_alone(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    unknown = {**CALL, "params": {"name": "nothing", "arguments": {}}}
    response = endpoint.post(unknown, token=shelf.token, Accept=JSON)
    assert response.json()["error"]["message"] == "Unknown tool: nothing"


def test_a_client_that_reads_neither_form_is_told_so(endpoint: Endpoint, shelf: Shelf) -> None:
    for accept in ("text/html", "application/json;q=0", "nonsense"):
        response = endpoint.post(CALL, token=shelf.token, Accept=accept)
        assert response.status_code == 406
        assert "Accept names neither" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "version", ["2099-01-01", "1.0", "nonsense", "", "2025-06-18, 2025-06-18", b"\xff"]
)
def test_an_unknown_version_is_refused_by_its_name(
    endpoint: Endpoint, shelf: Shelf, version: Any
) -> None:
    for body in (CALL, {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        response = endpoint.post(body, token=shelf.token, **{"MCP-Protocol-Version": version})
        assert response.status_code == 400
        error = response.json()["error"]
        assert error["message"].startswith("MCP-Protocol-Version “")
        assert "2025-11-25" in error["message"]
        assert "2025-06-18" in error["data"]["supported"]


def test_an_unknown_version_is_refused_with_the_id_of_a_message_in_several_parts(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    parts = [part.encode() for part in json.dumps(CALL).partition(",")]
    headers = {"Content-Type": JSON, "MCP-Protocol-Version": "2099-01-01"}
    headers["Authorization"] = f"Bearer {shelf.token}"

    def slowly() -> Iterator[bytes]:
        for part in parts:
            yield part
            time.sleep(0.1)

    with httpx2.Client(timeout=30, verify=NO_TLS) as http:
        response = http.post(endpoint.url, content=slowly(), headers=headers)
    assert (response.status_code, response.json()["id"]) == (400, CALL["id"])


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_version_with_a_handshake_is_served(
    endpoint: Endpoint, shelf: Shelf, version: str
) -> None:
    params = {**START["params"], "protocolVersion": version}  # type: ignore[dict-item]
    answer = endpoint.post({**START, "params": params}, token=shelf.token, Accept=JSON).json()
    assert answer["result"]["protocolVersion"] == version
    sent = {"MCP-Protocol-Version": version}
    assert endpoint.post(CALL, token=shelf.token, **sent).status_code == 200


def test_a_version_that_nobody_knows_is_answered_with_the_newest(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    params = {**START["params"], "protocolVersion": "2099-01-01"}  # type: ignore[dict-item]
    answer = endpoint.post({**START, "params": params}, token=shelf.token, Accept=JSON).json()
    assert answer["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("Application/JSON", 200),
        ("application/json; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("", 415),
    ],
)
def test_a_body_that_is_not_said_to_be_json_is_refused_by_its_type(
    endpoint: Endpoint, shelf: Shelf, content: str, status: int
) -> None:
    response = endpoint.post(CALL, token=shelf.token, **{"Content-Type": content})
    assert response.status_code == status
    if status == 415:
        assert "Content-Type has to be application/json" in response.json()["error"]["message"]
