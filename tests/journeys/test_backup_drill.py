"""The whole way of a backup: 100 sources, damage, and a restore on two kinds of servers."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT, Popen
from typing import Any

import psycopg
import pytest

from kbsite import postgres
from kbsite.cli import backups
from kbsite.postgres import programs
from kbsite.postgres.account import account_for
from tests.instance import Instance, free_port, kill, wait_until
from tests.kbsite.cli.conftest import kb_in
from tests.upgrades import ENVIRONMENT
from transcripts.core.errors import InvalidInput


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """What can be found in a library of 100 sources, and its backup; the library is gone."""
    folder = tmp_path_factory.mktemp("drill")
    with Instance(folder / "home", **ENVIRONMENT) as instance:
        contents = ask(instance, "make()")
        kb_in(instance, "db", "backup", str(folder / "library.backup"))
    return contents, folder / "library.backup"


def ask(instance: Instance, call: str) -> Any:
    code = f"from tests.journeys import backup_drill\nprint(json.dumps(backup_drill.{call}))"
    return instance.json(code)


@contextmanager
def external_server(folder: Path) -> Iterator[str]:
    """Run a PostgreSQL that listens on a port; give the address for a user without rights."""
    with postgres.start(folder, fast=True) as server:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE plain LOGIN PASSWORD 'tides'")
            connection.execute("CREATE DATABASE library OWNER plain")
        with psycopg.connect(server.dsn, dbname="library", autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
    data, port = folder / "postgres" / "data", free_port()
    (data / "pg_hba.conf").write_text("host library plain 127.0.0.1/32 scram-sha-256\n")
    command = [str(programs.program("postgres")), "-D", str(data), "-p", str(port), "-F"]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]
    options = programs.process_options(account_for(folder / "postgres"))
    with (folder / "log").open("wb") as log:
        process = Popen(command, stdout=log, stderr=STDOUT, **options)
        try:
            url = f"postgres://plain:tides@127.0.0.1:{port}/library"
            wait_until(lambda: answers(url), what="PostgreSQL")
            yield url
        finally:
            kill(process)


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def test_each_of_200_flipped_bits_is_detected(library: tuple[Any, Path], tmp_path: Path) -> None:
    _, file = library
    assert backups.check(file).manifest.tables["citations_source"].rows == 100
    intact = file.read_bytes()
    for bit in random.Random(200).sample(range(len(intact) * 8), 200):
        content = bytearray(intact)
        content[bit // 8] ^= 1 << bit % 8
        (tmp_path / "damaged").write_bytes(content)
        with pytest.raises(InvalidInput, match="damaged"):
            backups.check(tmp_path / "damaged")


def test_a_restore_on_an_embedded_server_loses_nothing(
    library: tuple[Any, Path], tmp_path: Path
) -> None:
    contents, file = library
    with Instance(tmp_path / "home", **ENVIRONMENT) as instance:
        kb_in(instance, "db", "restore", str(file))
        assert ask(instance, "read()") == contents


def test_a_restore_on_an_external_server_loses_nothing(
    library: tuple[Any, Path], tmp_path: Path
) -> None:
    contents, file = library
    with external_server(tmp_path / "server") as url:
        instance = Instance(tmp_path / "home", **ENVIRONMENT, DATABASE_URL=url)
        kb_in(instance, "db", "restore", str(file))
        assert ask(instance, "read()") == contents
