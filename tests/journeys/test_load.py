"""A short form of bench/load.py: many more clients than a server serves at once. Nothing depends on
the speed of the machine.
"""

import asyncio
import time
from collections import Counter
from pathlib import Path

import httpx

from tests.instance import Instance
from tests.journeys.test_watching import SEED, Server

PATHS = ("/library/", "/api/v1/jobs", "/search/?q=network", "/api/v1/search?q=network")
CLIENTS = 60
SECONDS = 4.0


async def load(server: Server) -> Counter[int]:
    """Let the clients ask for a while; return how often they got each status."""
    statuses: Counter[int] = Counter()
    ends = time.monotonic() + SECONDS

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        while time.monotonic() < ends:
            response = await client.get(PATHS[number % len(PATHS)])
            statuses[response.status_code] += 1
            assert response.status_code == 200 or response.headers["Retry-After"]
            number += 1

    headers = {"Authorization": server.client.headers["Authorization"]}
    async with httpx.AsyncClient(
        base_url=server.client.base_url,
        cookies=server.browser.cookies,
        headers=headers,
        timeout=60,
        limits=httpx.Limits(max_connections=CLIENTS),
    ) as client:
        await asyncio.gather(*(ask(client, number) for number in range(CLIENTS)))
    return statuses


def test_too_many_clients_are_served_or_told_when_to_come_back_and_then_all_is_well(
    tmp_path: Path,
) -> None:
    settings = {"RERANKER": "none", "DB_POOL_SIZE": "4", "API_CALLS_PER_MINUTE": "0"}
    with (
        Instance(tmp_path, **settings) as instance,
        Server(instance, *instance.json(SEED)) as server,
    ):
        statuses = asyncio.run(load(server))
        assert set(statuses) == {200, 503}, statuses
        time.sleep(1)
        again = [server.browser.get(path).status_code for path in PATHS]
        assert again == [200] * len(PATHS), "everything is normal again"
        assert "Traceback" not in server.log.read_text()
