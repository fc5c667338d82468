"""Measure what a server serves and refuses when far more people come than it can serve at once.

Run ``python bench/load.py`` from the repository; ``--clients``, ``--seconds``, ``--watchers`` for
others. The server is `kb serve` over its socket. Its library is that of the samples and of as many
real transcripts as ``--sources`` says, if these are in ``CUEBASE_DATA``. Every client reads pages
and asks the REST API in a loop, and comes back when a refusal says so. All are one user, so that
the limits for each user are off. Measured are ten clients, two hundred, ten again five seconds
later, and one client beside three hundred idle streams. The clients run on the same machine.
"""

import argparse
import asyncio
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from harness.environment import arguments, boot, command, machine

boot(API_CALLS_PER_MINUTE="0", STREAMS_AT_ONCE="0")

from harness.judged import ingest
from harness.report import percentile, publish, table
from harness.server import new_token, serving
from harness.sets import SPEECH, mixed

from citations.ingest import discovery
from citations.lexical import merging
from citations.models import Chunk, Source
from transcripts.adding import storage
from transcripts.models import Collection

FEW: Final = 10  # clients
REST: Final = 5.0  # s after the load
TICKS: Final = os.sysconf("SC_CLK_TCK")
PATHS: Final = (
    "/library/",
    "/search/?q=how+does+ranking+work",
    "/api/v1/jobs",
    "/api/v1/search?q=ranking",
)


@dataclass(slots=True)
class Phase:
    """What one phase measured: milliseconds by status, and the share of a core that it took."""

    name: str
    times: dict[int, list[float]] = field(default_factory=dict)
    cores: float = 0.0

    def note(self, status: int, milliseconds: float) -> None:
        self.times.setdefault(status, []).append(milliseconds)


def main() -> None:
    options = arguments(__doc__, clients=200, seconds=60.0, watchers=300, sources=150)
    library = fill(options.sources) if SPEECH.is_dir() else "sample library"
    busy = os.getloadavg()[0]
    with serving("--sample") as server:
        keys = f"Cookie: {server.sign_in()}\r\nAuthorization: Bearer {new_token()}\r\n\r\n"
        target = Target(server.origin, server.process.pid, keys)
        phases = asyncio.run(measure(target, options))
    publish(
        "More requests than a server can serve",
        f"{command()}: responses and milliseconds, {library}, clients on the same machine."
        f" {machine()}. *Cores* are those of the web server's process. Refusals are 503 with"
        f" Retry-After. Load of the machine before: {busy:.1f}.",
        table(
            ("", "served", "median", "95th", "refused", "95th", "other statuses", "cores"),
            rows(phases),
        ),
    )


def fill(count: int) -> str:
    """Ingest so many real transcripts; say what they are."""
    shelf = Collection.objects.default()
    for path in mixed(count):
        key = f"{path.parent.name}-{path.stem}"
        storage.add_captions(shelf, path.read_bytes(), name=path.name, key=key)
    discovery.adopt()
    ingest(shelf)
    merging.merge()
    return f"{Source.objects.count()} real sources of {Chunk.objects.count():,} chunks"


@dataclass(frozen=True, slots=True)
class Target:
    """A server, its process, and the headers that let a client in."""

    origin: str
    pid: int
    keys: str

    @property
    def spent(self) -> float:
        """The processor seconds of the process."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


async def measure(target: Target, options: argparse.Namespace) -> Sequence[Phase]:
    third = options.seconds / 3
    few = await load(f"{FEW} clients", target, FEW, third)
    many = await load(f"{options.clients} clients", target, options.clients, options.seconds)
    await asyncio.sleep(REST)
    after = await load(f"{FEW} clients, {REST:.0f} s later", target, FEW, REST)
    alone = await load("1 client", target, 1, third)
    opened: set[int] = set()
    watching = [
        asyncio.create_task(watch(target, number, opened)) for number in range(options.watchers)
    ]
    while len(opened) < options.watchers:
        await asyncio.sleep(REST)
    await asyncio.sleep(4 * REST)  # until each has drawn its list, in turn
    streams = f"{options.watchers} idle streams"
    idle = await load(f"{streams}, nobody else", target, 0, REST)
    beside = await load(f"1 client beside {streams}", target, 1, 20)
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return few, many, after, alone, idle, beside


async def load(name: str, target: Target, clients: int, seconds: float) -> Phase:
    """Let clients ask for so long."""
    phase, before, ends = Phase(name), target.spent, time.monotonic() + seconds
    await asyncio.gather(
        asyncio.sleep(seconds), *(ask(target, phase, number, ends) for number in range(clients))
    )
    phase.cores = (target.spent - before) / seconds
    return phase


async def ask(target: Target, phase: Phase, number: int, ends: float) -> None:
    """Ask for one path after another, beginning with another one in each client."""
    client = Client(target)
    paths = cycle(PATHS[number % len(PATHS) :] + PATHS[: number % len(PATHS)])
    while time.monotonic() < ends:
        begun = time.perf_counter()
        status, pause = await client.get(next(paths))
        phase.note(status, (time.perf_counter() - begun) * 1000)
        if pause:
            client.close()  # as the refusal does
            await asyncio.sleep(pause)
    client.close()


async def watch(target: Target, number: int, opened: set[int]) -> None:
    """Read the events of the Activity page until cancelled; reconnect as a browser does."""
    while True:
        client = Client(target)
        status, pause = await client.get("/activity/events/")
        opened |= {number} if status == 200 else set()
        while await client.reader.read(65_536):
            continue
        client.close()
        await asyncio.sleep(pause)


class Client:
    """A connection kept open: hundreds of full clients would take the server's processor."""

    reader: asyncio.StreamReader

    def __init__(self, target: Target) -> None:
        parts = urlsplit(target.origin)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._headers = f"Host: {parts.netloc}\r\n{target.keys}"
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> tuple[int, float]:
        """Ask, and read the body unless it is a stream; return status and seconds to wait."""
        if self._writer is None:
            self.reader, self._writer = await asyncio.open_connection(self._host, self._port)
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._headers}".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(re.findall(r"^([\w-]+): (.*?)\r$", head, re.MULTILINE))
        await self.reader.readexactly(int(fields.get("content-length", 0)))
        return int(head.split()[1]), float(fields.get("retry-after", 0))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def rows(phases: Sequence[Phase]) -> Iterator[Sequence[object]]:
    for phase in phases:
        served, refused = phase.times.get(200, []), phase.times.get(503, [])
        others = Counter({status: len(times) for status, times in phase.times.items()})
        del others[200], others[503]
        yield (
            phase.name,
            len(served),
            f"{median(served or [0.0]):.0f}",
            f"{percentile(served or [0.0]):.0f}",
            len(refused),
            f"{percentile(refused or [0.0]):.0f}",
            dict(others) or "–",
            f"{phase.cores:.2f}",
        )


if __name__ == "__main__":
    main()
