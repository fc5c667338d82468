"""Links, commands and the bundle for Claude Desktop carry what the clients read."""

import asyncio
import base64
import io
import json
import os
import shlex
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from kbsite import mcp_clients
from tests.conformance import suite
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply
from tests.makers import make_video

ADDRESS = "https://kb.example.org"
URL = f"{ADDRESS}/mcp"
HEADERS = {"Authorization": "Bearer kb_x"}


def test_claude_is_given_the_name_and_the_address() -> None:
    query = parse_qs(urlsplit(mcp_clients.claude_link(URL)).query)
    assert query == {
        "modal": ["add-custom-connector"],
        "connectorName": ["Cuebase"],
        "connectorUrl": [URL],
    }


def test_cursor_is_given_the_configuration_in_base64() -> None:
    for token, headers in (("kb_x", {"headers": HEADERS}), ("", {})):
        query = parse_qs(urlsplit(mcp_clients.cursor_link(URL, token)).query)
        assert query["name"] == ["cuebase"]
        assert json.loads(base64.b64decode(query["config"][0])) == {"url": URL, **headers}


def test_vscode_is_given_the_configuration_in_its_address() -> None:
    scheme, _, given = mcp_clients.vscode_link(URL, "kb_x").partition("?")
    assert scheme == "vscode:mcp/install"
    server = {"name": "cuebase", "type": "http", "url": URL, "headers": HEADERS}
    assert json.loads(unquote(given)) == server


def test_the_command_for_claude_code_is_quoted_for_a_shell() -> None:
    words = shlex.split(mcp_clients.claude_code_command(URL, "kb_x"))
    assert words[-4:] == ["cuebase", URL, "--header", "Authorization: Bearer kb_x"]
    assert mcp_clients.claude_code_command(URL).endswith(f"--transport http cuebase {URL}")


def unpacked(folder: Path) -> Any:
    """Unpack the bundle; return its manifest."""
    with zipfile.ZipFile(io.BytesIO(mcp_clients.build_bundle(ADDRESS))) as archive:
        archive.extractall(folder)
    return json.loads((folder / "manifest.json").read_text())


def test_a_bundle_proposes_the_address_and_keeps_the_token_secret(tmp_path: Path) -> None:
    manifest = unpacked(tmp_path)
    assert manifest["user_config"]["address"]["default"] == ADDRESS
    assert manifest["user_config"]["token"]["sensitive"] is True
    assert (tmp_path / manifest["server"]["entry_point"]).is_file()
    assert (tmp_path / manifest["icon"]).read_bytes().startswith(b"\x89PNG")
    assert mcp_clients.build_bundle(ADDRESS) == mcp_clients.build_bundle(ADDRESS)


@pytest.mark.node
def test_the_tool_of_the_specification_finds_nothing_wrong(tmp_path: Path) -> None:
    suite.require_node()
    unpacked(tmp_path)
    done = suite.validate_bundle(tmp_path / "manifest.json")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.node
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_its_program_relays_to_the_server(
    endpoint: Endpoint, shelf: Shelf, tmp_path: Path, mode: str
) -> None:
    suite.require_node()
    make_video(shelf.collection, title="Ünïcode lecture")

    async def work(client: Client) -> Any:
        count = len((await client.list_tools()).tools)
        return count, await client.call_tool("get_transcript", {"videoId": "lecture-1"})

    count, read = _talk(work, tmp_path, endpoint.base, shelf.reading, mode=mode)
    assert count == 14  # without those that write
    assert "Ünïcode lecture" in reply(read)


@pytest.mark.node
def test_its_program_says_why_a_server_does_not_answer(endpoint: Endpoint, tmp_path: Path) -> None:
    suite.require_node()

    async def work(client: Client) -> Any:
        return await client.list_tools()

    for address, message in (
        (f"{endpoint.base}/", "refuses the token"),
        ("http://127.0.0.1:1/mcp", "does not answer"),
    ):
        with pytest.RaisesGroup(pytest.RaisesExc(MCPError, match=message), flatten_subgroups=True):
            _talk(work, tmp_path, address, "kb_unknown", mode="legacy")


def _talk(work: Any, folder: Path, address: str, token: str, *, mode: str) -> Any:
    """Start the program as Claude Desktop does, and return what ``work`` returns."""
    entry = unpacked(folder)["server"]["entry_point"]
    program = StdioServerParameters(
        command=suite.node(),
        args=[str(folder / entry)],
        env={"PATH": os.environ["PATH"], "CUEBASE_URL": address, "CUEBASE_TOKEN": token},
    )

    async def whole() -> Any:
        async with Client(stdio_client(program), mode=mode) as client:
            return await work(client)

    return asyncio.run(whole())
