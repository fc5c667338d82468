"""A server whose disk fills up: it says so, loses nothing, and goes on once there is space."""

import random
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from kbsite import postgres
from tests import consistency, template
from tests.full_disk import SmallDisk, small_disk
from tests.serving import Serving, processes_of, until

MEGABYTES = 170  # a new database has 50; two segments of its log are 32
WORDS = 3_000  # of a document, which no compression makes small
RETRIED = 150.0  # seconds: what an unexpected error stopped, as the database ended, waits for 60
HALF = (".part", ".tmp", ".new", ".backup-", ".new-", "xlogtemp")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "home", megabytes=MEGABYTES) as mounted:
        template.copy_to(mounted.path)
        yield mounted


@pytest.fixture
def serving(disk: SmallDisk) -> Iterator[Serving]:
    server = Serving(disk.path)
    try:
        yield server
    finally:
        with suppress(FileNotFoundError):
            disk.free()
        server.end(signal.SIGTERM)
        until(lambda: not processes_of(disk.path), seconds=30)


class Reader:
    """Adds documents, and remembers which were acknowledged."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.added: dict[str, str] = {}  # title -> id
        self._random = random.Random(12)

    def add(self) -> int:
        """Upload a document; return the status, which may not be a crash."""
        words = ["".join(self._random.choices("abcdefghij", k=8)) for _ in range(WORDS)]
        title = words[0]
        files = {"files": (f"{title}.md", f"# {title}\n\n{'. '.join(words)}.".encode())}
        answer = self.http.post("/api/v1/sources/files", files=files, data={"title": title})
        body = answer.json()
        match answer.status_code:
            case 202:
                self.added[title] = body["documents"][0]["source"]["id"]
            case 503:
                assert body["code"] == "database_lost"
                assert answer.headers["Retry-After"]
            case _:
                assert (answer.status_code, body["code"]) == (507, "storage_full")
                assert "No space is left" in body["detail"]
        return answer.status_code

    def is_done(self) -> bool:
        """Tell whether all that was acknowledged is ready."""
        states = [self.http.get(f"/api/content/sources/{pk}/") for pk in self.added.values()]
        assert {state.status_code for state in states} == {200}
        return all(state.json()["state"] == "ready" for state in states)

    def finds(self, title: str) -> bool:
        result = self.http.get("/api/v1/search", params={"q": title, "mode": "words"}).json()
        return any(passage["title"] == title for passage in result["passages"])


@pytest.fixture
def reader(serving: Serving) -> Iterator[Reader]:
    token = serving.json("token", "create", "reader", "--write")["token"]
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=serving.url, headers=headers, timeout=60) as http:
        yield Reader(http)


def rows(home: Path, sql: str) -> list[tuple[Any, ...]]:
    place = postgres.database_settings(home)
    dsn = {name.lower(): place[name] for name in ("HOST", "PORT", "USER")}
    with psycopg.connect(dbname=place["NAME"], autocommit=True, **dsn) as connection:
        return connection.execute(sql).fetchall()


def fill_the_log(home: Path) -> None:
    """Make the database write its log until it has no space for more, and ends."""
    with suppress(psycopg.OperationalError):
        for _ in range(MEGABYTES):
            rows(home, "SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
        pytest.fail("there was space for all")


def half_files(home: Path) -> list[Path]:
    paths = home.rglob("*")
    return [path for path in paths if path.name.endswith(HALF) or path.name.startswith(HALF)]


def test_nothing_is_lost_while_the_disk_fills_and_work_goes_on_once_there_is_space(
    disk: SmallDisk, serving: Serving, reader: Reader
) -> None:
    until(serving.has_worker)
    worker = serving.worker_pid()
    keep = ("db", "backup", str(disk.path / "library.backup"), "--keep", "3")
    serving.kb(*keep)
    for left in (10_000_000, 2_000_000, 200_000):
        disk.fill(left=left)
        assert {reader.add() for _ in range(3)} <= {202, 507}
    assert "No space" in serving.kb(*keep, code=8).stderr
    disk.fill()
    assert [reader.add() for _ in range(3)] == [507, 507, 507]
    ready = reader.http.get("/readyz").json()
    assert ready["state"] == "degraded"
    assert "disk_low" in {check.get("code") for check in ready["checks"]}

    fill_the_log(disk.path)
    assert reader.add() in (503, 507)  # 507: the database has been started again by now
    assert reader.http.get("/healthz").status_code == 200

    disk.free()
    until(lambda: reader.add() == 202)
    until(reader.is_done, seconds=RETRIED)
    assert all(reader.finds(title) for title in reader.added)
    assert consistency.contradictions(lambda sql: rows(disk.path, sql)) == {}
    assert len(list(disk.path.glob("library-*.backup"))) == 1
    until(lambda: not half_files(disk.path), seconds=5)
    assert serving.worker_pid() == worker
    assert serving.process.poll() is None
