"""The bundle for Claude Desktop: what is in it, and that it speaks for a server."""

import asyncio
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from kbsite.mcp_clients import bundle
from tests.conformance import suite
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply
from tests.makers import make_video

ADDRESS = "https://kb.example.org"


def unpacked(folder: Path) -> Any:
    """Unpack the bundle; return its manifest."""
    with zipfile.ZipFile(io.BytesIO(bundle.build(ADDRESS))) as archive:
        archive.extractall(folder)
    return json.loads((folder / "manifest.json").read_text())


def test_a_bundle_proposes_the_address_and_keeps_the_token_secret(tmp_path: Path) -> None:
    manifest = unpacked(tmp_path)
    assert manifest["user_config"]["address"]["default"] == ADDRESS
    assert manifest["user_config"]["token"]["sensitive"] is True
    assert (tmp_path / manifest["server"]["entry_point"]).is_file()
    assert (tmp_path / manifest["icon"]).read_bytes().startswith(b"\x89PNG")
    assert bundle.build(ADDRESS) == bundle.build(ADDRESS)


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
