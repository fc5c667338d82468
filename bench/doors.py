"""Measure each door of a running server: page, static file, REST, MCP, the first event of a stream.

Run ``python bench/doors.py`` from the repository; ``--rounds`` for more than 200. Two servers share
one data directory with the sample library: `kb serve`, started as people start it, and the same
application under plain uvicorn. A round asks both for everything once, over a connection that each
keeps open; who is asked first alternates. The goal is at most 1.1 times plain uvicorn's median.
"""

import argparse
import http.client
import json
import os
import platform
import re
import shlex
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeVar
from urllib.parse import urlsplit

from environment import HOME, ROOT, boot

boot(database=False)

import uvicorn
from bm25 import percentile, write

GOAL: Final = 1.1
WARM_ROUNDS: Final = 10
START_SECONDS: Final = 120.0
LINK: Final = re.compile(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+/")
SERVE: Final = ("-m", "kbsite.cli", "serve", "--sample", "--port", "0")
PLAIN: Final = ("-m", "uvicorn", "kbsite.asgi:application", "--log-level", "warning")
MCP_VERSION: Final = "2025-11-25"

T = TypeVar("T")


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        port = free_port()
        with log.open("a") as more, started((*PLAIN, "--port", str(port)), more) as plain:
            wait_for(lambda: answers(port), plain)
            keys = Keys(session=sign_in(link), token=new_token())
            served = {"kb serve": urlsplit(link).port or 0, "uvicorn": port}
            times = measure(served, doors(keys), rounds)
    report = "\n".join(section(times, rounds))
    print(report)
    write(report)


@contextmanager
def started(arguments: tuple[str, ...], output: TextIO) -> Iterator["subprocess.Popen[bytes]"]:
    """Run one server of the data directory; end it afterwards."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=output,
        stderr=output,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def wait_for(condition: Callable[[], T], process: "subprocess.Popen[bytes]") -> T:
    """Return the first result that is true."""
    deadline = time.monotonic() + START_SECONDS
    while not (result := condition()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"A server did not start; see its lines in {HOME}.")
        time.sleep(0.1)
    return result


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Tell whether a server answers on the port."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


# Who asks, and for what


@dataclass(frozen=True, slots=True)
class Keys:
    """A browser's session cookie and a program's token. Both servers accept both."""

    session: str
    token: str


def sign_in(link: str) -> str:
    """Open a one-time link; return the session's cookie."""
    parts = urlsplit(link)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=30)
    connection.request("GET", parts.path)
    response = connection.getresponse()
    cookies = [value.partition(";")[0] for value in response.headers.get_all("Set-Cookie") or []]
    connection.close()
    return next(cookie for cookie in cookies if cookie.startswith("sessionid="))


def new_token() -> str:
    """Create a read-only token."""
    command = [sys.executable, "-m", "kbsite.cli", "token", "create", "bench", "--json"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return str(json.loads(process.stdout)["token"])


@dataclass(frozen=True, slots=True)
class Door:
    """A request, and whether it is over with the first event of its stream."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    is_stream: bool = False

    def ask(self, connection: http.client.HTTPConnection) -> float:
        """Return the milliseconds until the whole response, or its first event, was read."""
        start = time.perf_counter()
        connection.request(self.method, self.path, self.body or None, self.headers)
        response = connection.getresponse()
        if self.is_stream:
            while response.readline().strip():
                pass
        else:
            response.read()
        elapsed = (time.perf_counter() - start) * 1000
        if response.status != 200:
            raise SystemExit(f"{self.path}: status {response.status}")
        if self.is_stream:
            connection.close()
        return elapsed


def doors(keys: Keys) -> dict[str, Door]:
    """Return what is measured, by the names of the table."""
    browser = {"Cookie": keys.session}
    program = {"Authorization": f"Bearer {keys.token}"}
    return {
        "page (library)": Door("GET", "/library/", browser),
        "static file": Door("GET", "/static/cuebase/base.css", {}),
        "REST (jobs)": Door("GET", "/api/v1/jobs", program),
        "MCP list": mcp(keys, "list_transcripts", {}),
        "MCP search": mcp(keys, "search_knowledge_base", {"query": "how does ranking work"}),
        "first event of a stream": Door("GET", "/activity/events/", browser, is_stream=True),
    }


def mcp(keys: Keys, tool: str, arguments: dict[str, str]) -> Door:
    """Return a call of a tool."""
    call = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {
        "Authorization": f"Bearer {keys.token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": MCP_VERSION,
    }
    return Door("POST", "/mcp", headers, json.dumps(message).encode())


# Measuring

Times = dict[tuple[str, str], list[float]]


def measure(served: dict[str, int], doors: dict[str, Door], rounds: int) -> Times:
    """Ask every server through every door, once a round; return the milliseconds of each."""
    connections = {
        (door, server): http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for door in doors
        for server, port in served.items()
    }
    times: Times = defaultdict(list)
    for number in range(-WARM_ROUNDS, rounds):
        for name, door in doors.items():
            servers = list(served) if number % 2 else list(reversed(served))
            for server in servers:
                connection = connections[name, server]
                if connection.sock is None:
                    # A stream ends its connection: open the next one before the clock runs.
                    Door("GET", "/healthz", {}).ask(connection)
                elapsed = door.ask(connection)
                if number >= 0:
                    times[name, server].append(elapsed)
    for connection in connections.values():
        connection.close()
    return times


def section(times: Times, rounds: int) -> Iterator[str]:
    """Yield the section of the results."""
    yield "## Doors of a running server"
    yield ""
    command = shlex.join(["python", "bench/doors.py", *sys.argv[1:]])
    yield f"`{command}`: milliseconds, median / 95th percentile, of {rounds} interleaved"
    yield "requests on kept-alive connections, sample library. The goal is a ratio of medians of at"
    yield f"most {GOAL}. Python {platform.python_version()}, uvicorn {uvicorn.__version__},"
    yield f"{os.cpu_count()} cores."
    yield ""
    yield "| door | kb serve | plain uvicorn | ratio |"
    yield "|---|---:|---:|---:|"
    for door in dict.fromkeys(name for name, _ in times):
        ours, plain = times[door, "kb serve"], times[door, "uvicorn"]
        ratio = statistics.median(ours) / statistics.median(plain)
        yield f"| {door} | {spread(ours)} | {spread(plain)} | {ratio:.2f} |"


def spread(values: list[float]) -> str:
    """Return median and 95th percentile."""
    return f"{statistics.median(values):.1f} / {percentile(values):.1f}"


if __name__ == "__main__":
    main()
