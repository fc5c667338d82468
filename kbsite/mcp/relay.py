"""Relays MCP between standard input and output and the endpoint of a server."""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import anyio
import httpx
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import CONNECTION_CLOSED, PROTOCOL_VERSION_META_KEY

TIMEOUT: Final = httpx.Timeout(30, read=300)  # seconds; answers may take long
_REFUSALS: Final = {
    401: "The server refuses the token. Make another on its Tokens page.",
    403: "The token may not do this.",
    404: "There is no MCP endpoint at this address; it ends with /mcp.",
    421: "The server does not know itself by this name. Its operator adds it to ALLOWED_HOSTS.",
}


class Relay:
    """Sends each line of the input to a server, and writes its messages to the output.

    A request always gets an answer: an error, if the server does not answer.
    """

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._version = ""  # of the protocol, once a handshake has settled it

    async def run(self) -> None:
        """Relay until the input ends and all requests are answered."""
        lines = anyio.wrap_file(sys.stdin)
        async with (
            httpx.AsyncClient(headers=self._headers, timeout=TIMEOUT) as http,
            anyio.create_task_group() as group,
        ):
            async for line in lines:
                if message := _parsed(line):
                    group.start_soon(self._forward, http, message)

    async def _forward(self, http: httpx.AsyncClient, message: dict[str, Any]) -> None:
        is_answered = "id" not in message or "method" not in message
        try:
            headers = self._headers_of(message)
            async with http.stream("POST", self._url, json=message, headers=headers) as response:
                async for answer in _messages(response):
                    self._write(answer)
                    is_answered |= answer.get("id") == message.get("id")
                reason = _REFUSALS.get(
                    response.status_code, f"The server answered {response.status_code}."
                )
        except httpx.HTTPError as error:
            reason = f"The server at {self._url} does not answer: {error}"
        if not is_answered:
            failure = {"code": CONNECTION_CLOSED, "message": reason}
            self._write({"jsonrpc": "2.0", "id": message["id"], "error": failure})

    def _headers_of(self, message: dict[str, Any]) -> dict[str, str]:
        """Return the headers that repeat parts of a message, as the endpoint checks."""
        params = message.get("params") or {}
        method = str(message.get("method", ""))
        version = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY) or self._version
        headers = {MCP_METHOD_HEADER: method, MCP_PROTOCOL_VERSION_HEADER: str(version)}
        if name := params.get(NAME_BEARING_METHODS.get(method, "")):
            headers[MCP_NAME_HEADER] = encode_header_value(str(name))
        return {key: value for key, value in headers.items() if value}

    def _write(self, message: dict[str, Any]) -> None:
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            self._version = str(result["protocolVersion"])
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


async def _messages(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        async for line in response.aiter_lines():
            if line.startswith("data:") and (message := _parsed(line[5:])):
                yield message
    elif message := _parsed((await response.aread()).decode(errors="replace")):
        yield message


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) and "jsonrpc" in message else None
