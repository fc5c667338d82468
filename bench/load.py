"""Measure what a server serves and refuses when far more people come than it can serve at once.

Run ``python bench/load.py`` from the repository; ``--clients``, ``--seconds``, ``--watchers`` for
others. The server is `kb serve` with the sample library, over its socket. Every client reads pages
and asks the REST API in a loop, and comes back when a refusal says so. Measured are ten clients,
two hundred, ten again five seconds later, and one client beside three hundred idle streams. The
clients run on the same machine.
"""

import argparse
import asyncio
import os
import platform
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

import httpx
from bm25 import percentile, write
from doors import LINK, SERVE, Keys, new_token, sign_in, started, wait_for
from environment import HOME

FEW: Final = 10  # clients
REST: Final = 5.0  # s after the load
TICKS: Final = os.sysconf("SC_CLK_TCK")
PATHS: Final = (
    "/library/",
    "/search/?q=how+does+ranking+work",
    "/api/v1/jobs",
    "/api/v1/search?q=ranking",
    "/sources/",
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
    options = parser.parse_args()
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        keys = Keys(session=sign_in(link), token=new_token())
        phases = asyncio.run(measure(link.partition("/sign-in")[0], keys, process.pid, options))
    report = "\n".join(section(phases, options))
    print(report)
    write(report)


async def measure(url: str, keys: Keys, pid: int, options: argparse.Namespace) -> Sequence[Phase]:
    """Run the phases one after another."""
    few = await load(f"{FEW} clients", url, keys, pid, FEW, options.seconds / 3)
    many = await load(
        f"{options.clients} clients", url, keys, pid, options.clients, options.seconds
    )
    await asyncio.sleep(REST)
    after = await load(f"{FEW} clients, {REST:.0f} s later", url, keys, pid, FEW, REST)
    alone = await load("1 client", url, keys, pid, 1, options.seconds / 3)
    watching = [asyncio.create_task(watch(url, keys)) for _ in range(options.watchers)]
    await asyncio.sleep(4 * REST)
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
    headers = {"Cookie": keys.session, "Authorization": f"Bearer {keys.token}"}
    paths = cycle(PATHS[number % len(PATHS) :] + PATHS[: number % len(PATHS)])
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        while time.monotonic() < ends:
            begun = time.perf_counter()
            response = await client.get(next(paths))
            phase.note(response.status_code, (time.perf_counter() - begun) * 1000)
            await asyncio.sleep(float(response.headers.get("Retry-After", 0)))


async def watch(url: str, keys: Keys) -> None:
    """Read the events of the Activity page until cancelled; reconnect as a browser does."""
    headers = {"Cookie": keys.session}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=None) as client:
        while True:
            async with client.stream("GET", "/activity/events/") as response:
                async for _ in response.aiter_bytes():
                    continue
                await asyncio.sleep(float(response.headers.get("Retry-After", 0)))


def spent(pid: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def section(phases: Sequence[Phase], options: argparse.Namespace) -> Iterator[str]:
    """Yield the section of the results."""
    command = shlex.join(["python", "bench/load.py", *sys.argv[1:]])
    yield "## More requests than a server can serve"
    yield ""
    yield f"`{command}`: responses and milliseconds, sample library, clients on the same"
    yield f"machine. Python {platform.python_version()}, {os.cpu_count()} cores. *Cores* are those"
    yield "of the web server's process. Refusals are 503 with Retry-After."
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
