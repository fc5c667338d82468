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
import platform
import re
import shlex
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bm25 import percentile, write
from doors import LINK, SERVE, Keys, new_token, sign_in, started, wait_for
from environment import DATA, HOME
from ingest import transcripts as real_transcripts

import kbsite.boot
from citations.ingest import pipeline as ingest_pipeline
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
        """Record a response."""
        self.times.setdefault(status, []).append(milliseconds)

    @property
    def served(self) -> list[float]:
        return self.times.get(200, [])


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--watchers", type=int, default=300)
    parser.add_argument("--sources", type=int, default=150)
    parser.set_defaults(library="sample library")
    options = parser.parse_args()
    os.environ |= {"API_CALLS_PER_MINUTE": "0", "STREAMS_AT_ONCE": "0"}
    if (DATA / "dev" / "transcripts").is_dir():
        options.library = fill(options.sources)
    options.busy = os.getloadavg()[0]
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        keys = Keys(session=sign_in(link), token=new_token())
        phases = asyncio.run(measure(link.partition("/sign-in")[0], keys, process.pid, options))
    report = "\n".join(section(phases, options))
    print(report)
    write(report)


def fill(count: int) -> str:
    """Ingest so many real transcripts; say what they are."""
    kbsite.boot.boot()
    shelf = Collection.objects.default()
    for path in real_transcripts(count):
        key = f"{path.parent.name}-{path.stem}"
        storage.add_captions(shelf, path.read_bytes(), name=path.name, key=key)
    ingest_pipeline.index_words()
    for source in Source.objects.order_by("pk"):
        ingest_pipeline.ingest(source.pk)
    merging.merge()
    return f"{Source.objects.count()} real sources of {Chunk.objects.count():,} chunks"


async def measure(url: str, keys: Keys, pid: int, options: argparse.Namespace) -> Sequence[Phase]:
    """Run the phases one after another."""
    few = await load(f"{FEW} clients", url, keys, pid, FEW, options.seconds / 3)
    many = await load(
        f"{options.clients} clients", url, keys, pid, options.clients, options.seconds
    )
    await asyncio.sleep(REST)
    after = await load(f"{FEW} clients, {REST:.0f} s later", url, keys, pid, FEW, REST)
    alone = await load("1 client", url, keys, pid, 1, options.seconds / 3)
    opened: set[int] = set()
    watching = [
        asyncio.create_task(watch(url, keys, number, opened)) for number in range(options.watchers)
    ]
    while len(opened) < options.watchers:
        await asyncio.sleep(REST)
    await asyncio.sleep(4 * REST)  # until each has drawn its list, in turn
    idle = Phase(f"{options.watchers} idle streams, nobody else")
    before = spent(pid)
    await asyncio.sleep(REST)
    idle.cores = (spent(pid) - before) / REST
    beside = await load(f"1 client beside {options.watchers} idle streams", url, keys, pid, 1, 20)
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return few, many, after, alone, idle, beside


async def load(name: str, url: str, keys: Keys, pid: int, clients: int, seconds: float) -> Phase:
    """Let clients ask for so long."""
    phase, before, ends = Phase(name), spent(pid), time.monotonic() + seconds
    await asyncio.gather(*(ask(url, keys, phase, number, ends) for number in range(clients)))
    phase.cores = (spent(pid) - before) / seconds
    return phase


async def ask(url: str, keys: Keys, phase: Phase, number: int, ends: float) -> None:
    """Ask for one path after another, beginning with another one in each client."""
    client = Client(url, keys)
    paths = cycle(PATHS[number % len(PATHS) :] + PATHS[: number % len(PATHS)])
    while time.monotonic() < ends:
        begun = time.perf_counter()
        status, pause = await client.get(next(paths))
        phase.note(status, (time.perf_counter() - begun) * 1000)
        if pause:
            client.close()  # as the refusal does
            await asyncio.sleep(pause)
    client.close()


async def watch(url: str, keys: Keys, number: int, opened: set[int]) -> None:
    """Read the events of the Activity page until cancelled; reconnect as a browser does."""
    while True:
        client = Client(url, keys)
        status, pause = await client.get("/activity/events/")
        opened |= {number} if status == 200 else set()
        while await client.reader.read(65_536):
            continue
        client.close()
        await asyncio.sleep(pause)


class Client:
    """A connection kept open: hundreds of full clients would take the server's processor."""

    reader: asyncio.StreamReader

    def __init__(self, url: str, keys: Keys) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._headers = (
            f"Host: {parts.netloc}\r\nCookie: {keys.session}\r\n"
            f"Authorization: Bearer {keys.token}\r\n\r\n"
        )
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


def spent(pid: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def section(phases: Sequence[Phase], options: argparse.Namespace) -> Iterator[str]:
    """Yield the section of the results."""
    command = shlex.join(["python", "bench/load.py", *sys.argv[1:]])
    yield "## More requests than a server can serve"
    yield ""
    yield f"`{command}`: responses and milliseconds, {options.library},"
    yield f"clients on the same machine. Python {platform.python_version()},"
    yield f"{os.cpu_count()} cores."
    yield "*Cores* are those of the web server's process. Refusals are 503 with Retry-After."
    yield f"Load of the machine before: {options.busy:.1f}."
    yield ""
    yield "| | served | median | 95th | refused | 95th | other statuses | cores |"
    yield "|---|---:|---:|---:|---:|---:|---|---:|"
    for phase in phases:
        refused = phase.times.get(503, [])
        others = Counter({status: len(times) for status, times in phase.times.items()})
        del others[200], others[503]
        served = phase.served or [0.0]
        yield (
            f"| {phase.name} | {len(phase.served)} | {statistics.median(served):.0f}"
            f" | {percentile(served):.0f} | {len(refused)} | {percentile(refused or [0.0]):.0f}"
            f" | {dict(others) or '–'} | {phase.cores:.2f} |"
        )


if __name__ == "__main__":
    main()
