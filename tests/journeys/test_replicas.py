"""Reads from replicas: who has written sees it, and a replica that is late or dead costs nobody an
answer.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbsite.database.replicas import LEFT_OUT, MAX_LAG
from tests.instance import wait_until
from tests.replication import Team, team

COLLECTIONS = "/api/content/collections/"


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("team")) as made:
        yield made


def test_replicas_answer_but_nobody_misses_what_they_wrote(servers: Team) -> None:
    path = _collection(servers)
    before = servers.reads()
    for number in range(10):
        _write(servers, path, f"Draft {number}")
        assert _read(servers, "ada", path) == f"Draft {number}"
    wait_until(lambda: _is_by_replica(servers, "ada", path), what="a replica's answer")
    assert sum(servers.reads().values()) > sum(before.values())
    with_pages = servers.reads()["replica"]
    assert servers.ask("ada", "/api/v1/search?q=anything").status_code == 200
    assert servers.reads()["replica"] == with_pages + 1


def test_a_replica_that_is_held_back_answers_nobody_who_knows_better(servers: Team) -> None:
    path = _collection(servers)
    _write(servers, path, "Before")
    _is_settled(servers)
    for replica in servers.replicas:
        replica.sql("SELECT pg_wal_replay_pause()")
    try:
        _write(servers, path, "After")
        assert {_read(servers, "ada", path) for _ in range(6)} == {"After"}
        # Who has not written may see what was there, for as long as a replica may be late.
        patience = MAX_LAG + LEFT_OUT + 10
        wait_until(lambda: _read(servers, "bob", path) == "After", what="news", patience=patience)
        behind = _doctor(servers)
        assert behind["ok"] is True
        assert "bytes behind" in behind["detail"]
    finally:
        for replica in servers.replicas:
            replica.sql("SELECT pg_wal_replay_resume()")
    wait_until(lambda: _is_by_replica(servers, "bob", path), what="the replicas' return")


def test_a_dead_replica_costs_nobody_an_answer_and_comes_back_by_itself(servers: Team) -> None:
    path = _collection(servers)
    _is_settled(servers)
    for replica in servers.replicas:
        replica.kill()
        assert all(servers.ask("bob", path).status_code == 200 for _ in range(10))
    assert _doctor(servers)["ok"] is False
    for replica in servers.replicas:
        replica.lease.revive()
    wait_until(lambda: _is_by_replica(servers, "bob", path), what="the replicas' return")


def test_without_its_primary_a_library_is_read_and_a_promoted_replica_takes_writes(
    tmp_path: Path,
) -> None:
    with team(tmp_path) as servers:
        path = _collection(servers)
        _write(servers, path, "Before")
        _is_settled(servers)
        servers.primary.kill()
        wait_until(
            lambda: servers.ask("bob", path).status_code == 200, what="reads without a primary"
        )
        assert [_read(servers, name, path) for name in ("ada", "bob", "ada")] == ["Before"] * 3
        refused = servers.ask("ada", path, "PATCH", description="Lost")
        assert refused.status_code == 503
        assert refused.json()["code"] == "database_lost"
        servers.replicas[0].sql("SELECT pg_promote()")
        wait_until(
            lambda: servers.ask("ada", path, "PATCH", description="Kept").status_code == 200,
            what="the promoted server",
        )
        assert {_read(servers, "ada", path) for _ in range(6)} == {"Kept"}


def _collection(servers: Team) -> str:
    answer = servers.ask("ada", COLLECTIONS)
    assert answer.status_code == 200, (answer.text, servers.site.output()[-3000:])
    listed = answer.json()
    return f"{COLLECTIONS}{listed['collections'][0]['pk']}/"


def _write(servers: Team, path: str, text: str) -> None:
    answer = servers.ask("ada", path, "PATCH", description=text)
    assert answer.status_code == 200, answer.text


def _read(servers: Team, name: str, path: str) -> str:
    answer = servers.ask(name, path)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["description"])


def _is_by_replica(servers: Team, name: str, path: str) -> bool:
    before = servers.reads()["replica"]
    _read(servers, name, path)
    return servers.reads()["replica"] > before


def _is_settled(servers: Team) -> None:
    # What was committed may not be on the primary's disk yet: tests do not wait for that.
    written = servers.primary.sql("SELECT pg_current_wal_insert_lsn()")
    for replica in servers.replicas:
        wait_until(
            lambda replica=replica: replica.sql(  # type: ignore[misc]
                f"SELECT pg_last_wal_replay_lsn() >= '{written}'"
            ),
            what="a replica",
        )


def _doctor(servers: Team) -> dict[str, Any]:
    report = servers.site.kb("doctor", "--json", code=None).stdout
    checks: list[dict[str, Any]] = json.loads(report)["checks"]
    return next(check for check in checks if check["name"] == "Replicas")
