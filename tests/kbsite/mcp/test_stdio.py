"""MCP over standard input and output: this machine's library, and a relay to a server."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.instance import ROOT, Instance
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply
from tests.makers import make_video
from tests.programs import run_program
from tests.youtube_standin import MANUAL, YouTubeStandIn

KB = ("-m", "kbsite.cli", "mcp")
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A library on this machine, which no server serves."""
    with Instance(tmp_path_factory.mktemp("local")) as instance:
        instance.python("from citations import samples; samples.load()")
        yield instance


def talk(
    work: Callable[[Client], Awaitable[Any]],
    *arguments: str,
    env: dict[str, str] | None = None,
    **options: Any,
) -> Any:
    """Start `kb mcp` as a client does, and return what ``work`` returns."""
    program = StdioServerParameters(
        command=sys.executable,
        args=[*KB, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
    )

    async def whole() -> Any:
        async with Client(stdio_client(program), **options) as client:
            return await work(client)

    return asyncio.run(whole())


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_library_of_this_machine_is_read_without_a_server_or_a_token(
    local: Instance, mode: str
) -> None:
    async def work(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        return len(tools), await client.call_tool("list_transcripts", {})

    count, listed = talk(work, env=local.environment, mode=mode)
    assert count == 15
    assert "How BM25 ranks" in reply(listed)


def test_nothing_but_protocol_is_on_the_standard_output(local: Instance) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "list_transcripts", "arguments": {}},
        },
    ]
    program = subprocess.Popen(
        [sys.executable, *KB],
        cwd=ROOT,
        env=local.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    for message in messages:
        program.stdin.write(json.dumps(message) + "\n")
    program.stdin.flush()
    answers = [json.loads(program.stdout.readline()) for _ in range(2)]
    rest, _ = program.communicate(timeout=60)
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "How BM25 ranks" in answers[1]["result"]["content"][0]["text"]
    assert rest == ""
    assert program.returncode == 0


@pytest.mark.youtube
def test_a_worker_is_started_for_what_is_added_and_ends_with_the_program(tmp_path: Path) -> None:
    address = f"https://www.youtube.com/watch?v={MANUAL}"

    async def work(client: Client) -> Any:
        return await client.call_tool("fetch_transcript", {"videoId": address})

    with YouTubeStandIn() as youtube, Instance(tmp_path / "home", **youtube.environment()) as own:
        assert "This is the stand-in." in reply(talk(work, env=own.environment))
        workers = [
            program
            for program in psutil.process_iter(["cmdline", "environ"])
            if "worker" in (program.info["cmdline"] or ())
            and (program.info["environ"] or {}).get("YOUTUBE_KB_DATA_DIR") == str(own.home)
        ]
        assert not psutil.wait_procs(workers, timeout=20)[1]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_relay_speaks_for_a_server(endpoint: Endpoint, shelf: Shelf, mode: str) -> None:
    make_video(shelf.collection, title="Ünïcode lecture")

    async def work(client: Client) -> Any:
        read = await client.read_resource("transcript://lecture-1")
        return read, await client.call_tool("get_transcript", {"videoId": "lecture-1"})

    env = {"CUEBASE_TOKEN": shelf.reading}
    resource, read = talk(work, "--url", endpoint.base, env=env, mode=mode)
    assert "Ünïcode lecture" in reply(read)
    assert resource.contents


@pytest.mark.parametrize(
    ("token", "port", "message"),
    [("kb_unknown", None, "refuses the token"), ("kb_x", 1, "does not answer")],
)
def test_a_relay_says_why_a_server_does_not_answer(
    endpoint: Endpoint, token: str, port: int | None, message: str
) -> None:
    url = f"http://127.0.0.1:{port}" if port else endpoint.base

    async def work(client: Client) -> Any:
        return await client.list_tools()

    with pytest.raises(MCPError, match=message):
        raise _first(lambda: talk(work, "--url", url, env={"CUEBASE_TOKEN": token}, mode="legacy"))


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    env = {**os.environ, "YOUTUBE_KB_DATA_DIR": str(tmp_path)}
    process = run_program(sys.executable, *KB, "--url", "ftp://host", code=None, environment=env)
    assert (process.returncode, process.stdout) == (2, "")
    assert "no address of a server" in process.stderr


def _first(call: Callable[[], Any]) -> BaseException:
    """Return the error that a call raises, out of the groups of the client's tasks."""
    try:
        call()
    except BaseException as error:  # noqa: BLE001  groups hold what the test wants to see
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        return error
    return AssertionError("nothing was raised")
