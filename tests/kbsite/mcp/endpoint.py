"""The endpoint as its users have it: uvicorn on a port of its own, and the SDK's client speaking
HTTP to it.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from starlette.types import ASGIApp

from tests import web_server
from tests.loopback import NO_TLS
from tests.web_server import Lifespan

T = TypeVar("T")


class Endpoint:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.url = f"{self.base}/mcp"

    @asynccontextmanager
    async def client(self, token: str, **options: Any) -> AsyncIterator[Client]:
        """Connect as the holder of a token."""
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {token}"}, timeout=60, verify=NO_TLS
            ) as http,
            Client(streamable_http_client(self.url, http_client=http), **options) as client,
        ):
            yield client

    def talk(self, token: str, work: Callable[[Client], Awaitable[T]], **options: Any) -> T:
        """Connect, do something with the client, and return what it returns; a protocol error rises
        as itself, not in the client's groups.
        """

        async def whole() -> T | MCPError:
            async with self.client(token, **options) as client:
                try:
                    return await work(client)
                except MCPError as error:
                    return error

        outcome = asyncio.run(whole())
        if isinstance(outcome, MCPError):
            raise outcome
        return outcome

    def call(self, token: str, tool: str, **arguments: Any) -> CallToolResult:
        """Call one tool."""
        return self.talk(token, lambda client: client.call_tool(tool, arguments))

    def post(self, body: Any, *, token: str = "", **headers: str | bytes) -> httpx2.Response:
        """Send one message as it is, without a client."""
        given = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **headers,
        }
        if token:
            given["Authorization"] = f"Bearer {token}"
        sent = [
            (name.encode(), value if isinstance(value, bytes) else value.encode())
            for name, value in given.items()
        ]
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        with httpx2.Client(timeout=30, verify=NO_TLS) as http:
            return http.post(self.url, content=content, headers=sent)


@contextmanager
def served(application: ASGIApp, *, lifespan: Lifespan = "on") -> Iterator[Endpoint]:
    """Serve an application while the block runs."""
    with web_server.served(application, lifespan=lifespan) as port:
        yield Endpoint(port)


def text(result: CallToolResult) -> str:
    """Return an answer's text."""
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def reply(result: CallToolResult) -> str:
    """Return an answer's text; the call must have succeeded."""
    assert not result.is_error, text(result)
    return text(result)


def material(answer: str) -> str:
    """Return what sources say in an answer, without the marks around it."""
    (block,) = re.findall(r"<(not-instructions-\w+)>\n(.*?)\n</\1>", answer, re.DOTALL)
    return str(block[1])


def cursor(answer: str) -> str:
    """Return the cursor of the next page, "" at the end."""
    match = re.search(r"cursor=(\S+)$", answer, re.MULTILINE)
    return match[1] if match else ""
