"""A program connects with nothing but the address: its user decides in Chromium."""

import asyncio
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from playwright.sync_api import Page, expect
from pydantic import AnyUrl

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.conformance import suite
from tests.instance import kill
from tests.kbsite.mcp.endpoint import text

pytestmark = pytest.mark.browser
WAIT = 60  # seconds
MESSAGES = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
Open = Visits


class Callback(ThreadingHTTPServer):
    """Where a program waits for its code."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/callback"
        self.answers: Queue[dict[str, list[str]]] = Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Callback

    def do_GET(self) -> None:
        if self.path.startswith("/callback"):
            self.server.answers.put(parse_qs(urlsplit(self.path).query))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Done</title><h1>You can close this page.</h1>")

    def log_message(self, *_: Any) -> None:
        pass


class Storage:
    """Keeps what the SDK knows, for one program."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Program(threading.Thread):
    """The SDK's client in a thread of its own; ``addresses`` are those that it opens."""

    def __init__(self, url: str, callback: Callback) -> None:
        super().__init__(daemon=True)
        self.url, self.callback, self.storage = url, callback, Storage()
        self.addresses: Queue[str] = Queue()
        self.tools: set[str] = set()
        self.added = ""
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            asyncio.run(self._talk())
        except BaseException as error:  # noqa: BLE001  shown by the test
            self.error = error

    async def _talk(self) -> None:
        metadata = OAuthClientMetadata(
            client_name="Study helper", redirect_uris=[AnyUrl(self.callback.url)], scope=None
        )
        oauth = OAuthClientProvider(
            self.url, metadata, self.storage, self._open, self._wait_for_code
        )
        async with (
            httpx2.AsyncClient(auth=oauth, timeout=WAIT) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            self.tools = {tool.name for tool in (await client.list_tools()).tools}
            answer = await client.call_tool("add_source", {"url": "example.org/x"})
            self.added = text(answer)

    async def _open(self, address: str) -> None:
        self.addresses.put(address)

    async def _wait_for_code(self) -> AuthorizationCodeResult:
        answer = await asyncio.to_thread(self.callback.answers.get, timeout=WAIT)
        return AuthorizationCodeResult(
            code=answer["code"][0], state=answer["state"][0], iss=answer["iss"][0]
        )


def mcp_remote(url: str) -> list[str]:
    """Return the command by which Claude Desktop reaches a server."""
    return [suite.node(), str(suite.MODULES / "mcp-remote/dist/proxy.js"), url, "--allow-http"]


def inspector(url: str) -> list[str]:
    program = str((suite.MODULES / ".bin/mcp-inspector").resolve())
    return [suite.node(), program, "--cli", url, "--transport", "http", "--method", "tools/list"]


def typescript_sdk(url: str) -> list[str]:
    return [suite.node(), str(suite.HERE / "sdk_client.mjs"), url]


def fastmcp(url: str) -> list[str]:
    suite.require_fastmcp()
    return [str(suite.PYTHON), str(suite.HERE / "fastmcp_client.py"), url]


@contextmanager
def running(command: list[str], home: Path) -> Iterator["subprocess.Popen[str]"]:
    """Run a program that finds no browser: what it would open, it prints."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "PATH": "",
        "PYTHONPATH": "",
        "BROWSER": "/bin/echo %s",
        "MCP_AUTO_OPEN_ENABLED": "true",
    }
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill(process)


def address_in(line: str) -> str:
    """Return the address in a line at which the user is asked, or ""."""
    match = re.search(r"http://\S+/oauth/authorize/\S+", line)
    return match[0] if match else ""


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback() as server:
        yield server
        server.shutdown()


def decide(page: Page, address: str, choice: str) -> None:
    """Answer the question at an address."""
    page.goto(address)
    page.get_by_label(choice).check()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.locator("h1")).to_have_text("You can close this page.")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_the_sdk_connects_by_the_address_alone_and_asks_for_more(
    site: Site, visit: Open, callback: Callback, scripts: bool
) -> None:
    ada = visit(java_script_enabled=scripts)
    ada.page.on("dialog", lambda dialog: dialog.accept())
    program = Program(f"{site.url}/mcp", callback)
    program.start()
    address = program.addresses.get(timeout=WAIT)
    if scripts:
        narrow = visit(viewport={"width": 360, "height": 740}).page
        narrow.goto(address)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 360
        check_accessibility(narrow)
    decide(ada.page, address, "read, search and ask")
    decide(ada.page, program.addresses.get(timeout=WAIT), "add, change")
    program.join(WAIT)
    assert program.error is None, program.error
    assert "search_knowledge_base" in program.tools
    assert "add_source" not in program.tools
    assert "is not" in program.added  # the address; with the right to write it is looked at
    assert program.storage.tokens.scope == "read write"
    page = ada.go("/tokens/")
    page.get_by_role("button", name="Revoke Study helper").click()
    expect(page.get_by_text("is revoked")).to_be_visible()
    assert ada.console == []


@pytest.mark.node
@pytest.mark.parametrize("program", [typescript_sdk, fastmcp])
def test_client_libraries_connect_by_the_address_alone_and_ask_for_more(
    site: Site, visit: Open, tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    suite.require_node()
    ada = visit()
    choices = iter(("read, search and ask", "add, change"))
    with running(program(f"{site.url}/mcp"), tmp_path) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if address := address_in(line):
                ada.page.goto(address)
                ada.page.get_by_label(next(choices)).check()
                ada.page.get_by_role("button", name="Connect", exact=True).click()
                ada.page.wait_for_url(re.compile("/callback"))
    output = "".join(said)
    tools = next(line for line in said if line.startswith("tools:"))
    assert "search_knowledge_base" in tools, output
    assert "add_source" not in tools
    added = next((line for line in said if line.startswith("added:")), "")
    assert "is not" in added, output  # the address; with the right to write it is looked at
    assert next(choices, None) is None


@pytest.mark.node
@pytest.mark.parametrize("program", [mcp_remote, inspector])
def test_other_clients_connect_by_the_address_alone(
    site: Site, visit: Open, tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    suite.require_node()
    ada = visit()
    with running(program(f"{site.url}/mcp"), tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in MESSAGES:
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        lines = iter(process.stdout)
        address = next(filter(None, map(address_in, lines)))
        ada.page.goto(address)
        ada.page.get_by_role("button", name="Connect", exact=True).click()
        assert any("search_knowledge_base" in line for line in lines)
