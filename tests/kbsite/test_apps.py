"""What would fail later is said at the start, with the command that mends it: on an external
server, with a user who may do little.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings
from psycopg_pool.base import AttemptWithBackoff

from kbsite import postgres
from tests.programs import run_python

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.ServerLease]:
    with postgres.start(tmp_path_factory.mktemp("external"), fast=True) as running:
        with psycopg.connect(running.dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE plain LOGIN")
            for name in ("bare", "ready"):
                connection.execute(f"CREATE DATABASE {name} OWNER plain")
        with psycopg.connect(running.dsn, dbname="ready", autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        yield running


def manage(
    server: postgres.ServerLease, home: Path, database: str, *command: str
) -> "subprocess.CompletedProcess[str]":
    """Run a management command as the user who may do little."""
    return run(server, home, database, "-m", "manage", *command)


def run(
    server: postgres.ServerLease, home: Path, database: str, *arguments: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python as the user who may do little."""
    host, port = quote(str(server.settings["HOST"])), server.settings["PORT"] or 5432
    url = f"postgres://plain@/{database}?host={host}&port={port}"
    environment = {"DATABASE_URL": url, "YOUTUBE_KB_DATA_DIR": str(home), "PATH": ""}
    return run_python(*arguments, code=None, environment=environment)


def test_a_database_without_the_extension_is_told_with_the_command_that_mends_it(
    server: postgres.ServerLease, tmp_path: Path
) -> None:
    for command in (("check", "--database", "default"), ("migrate",)):
        done = manage(server, tmp_path, "bare", *command)
        assert done.returncode == 1
        assert 'psql -d bare -c "CREATE EXTENSION vector"' in done.stderr


def test_a_command_says_the_same_without_a_traceback(
    server: postgres.ServerLease, tmp_path: Path
) -> None:
    done = run(server, tmp_path, "bare", "-m", "kbsite.cli", "worker")
    assert done.returncode == 8
    assert "its user may not create it" in done.stderr
    assert "CREATE EXTENSION vector" in done.stderr
    assert "Traceback" not in done.stderr


def test_where_a_superuser_has_made_the_extension_an_ordinary_user_migrates(
    server: postgres.ServerLease, tmp_path: Path
) -> None:
    done = manage(server, tmp_path, "ready", "migrate", "--verbosity", "0")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_request_that_waits_for_a_connection_sees_several_attempts_to_make_one() -> None:
    attempt, now = AttemptWithBackoff(timeout=300), 0.0
    for _ in range(5):
        attempt.update_delay(now)
        now += attempt.delay
    assert now < settings.DATABASES["default"]["OPTIONS"]["pool"]["timeout"]
