"""A Cuebase of its own in a folder: its processes are real and separate, so that they can be
killed.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

from kbsite import postgres
from tests import template
from tests.fork_server import Fork
from tests.programs import require_program, run_python
from tests.waiting import looks

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0  # seconds until a test gives up; machines are noisy


class Instance:
    """A data directory with its embedded PostgreSQL, which lives as long as the ``with`` block."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "PROXY_URL")
            },
            "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
            "YOUTUBE_KB_DATA_DIR": str(home),
            "SECRET_KEY": "only-for-tests-" * 4,
            "YOUTUBE_PACING_SECONDS": "0",
            "EMBEDDING_PROVIDER": "fake",
            "PYTHONUNBUFFERED": "1",
            **environment,
        }

    def __enter__(self) -> Self:
        template.copy_to(self.home)
        self._server = postgres.start(self.home, fast=True)
        self._connection = self._connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()
        self._server.release()

    @property
    def dsn(self) -> str:
        """The address of the database, as a setting."""
        return self._server.dsn

    def python(self, code: str) -> str:
        """Run code in a process that is set up; returns what it prints."""
        script = f"from kbsite import boot\nboot.boot()\n{code}"
        return run_python("-c", script, environment=self.environment).stdout

    def json(self, code: str) -> Any:
        """Run code that prints JSON, and return it read."""
        return json.loads(self.python(f"import json\n{code}"))

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the database, over one connection: tests ask twenty times a second, and each new one
        would be a process of the server.
        """
        if self._connection.closed:
            self._connection = self._connect()
        return self._connection.execute(query, values).fetchall()

    def _connect(self) -> "psycopg.Connection[tuple[Any, ...]]":
        # Nothing is prepared: a backup that is restored makes the tables anew.
        return psycopg.connect(self._server.dsn, autocommit=True, prepare_threshold=None)

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Keep everyone else from writing to a table while the block runs."""
        with psycopg.connect(self._server.dsn) as connection:
            connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            yield
            with suppress(psycopg.OperationalError):  # the database has restarted meanwhile
                connection.rollback()

    def restart(self, how: signal.Signals) -> None:
        """End the database by this signal, and start it again. What was committed is on the disk,
        which tests otherwise do not wait for.
        """
        with self._connect() as connection:
            connection.execute("CHECKPOINT")
        pid = int((self.home / "postgres/data/postmaster.pid").read_text().partition("\n")[0])
        os.kill(pid, how)
        wait_until(lambda: not self._server.is_running(), what="the end of the database")
        self._server.revive()
        self._connection.close()

    @contextmanager
    def worker(self) -> Iterator[Fork]:
        """Run a worker; it is killed at the end of the block if it still lives."""
        with (self.home / "worker.log").open("ab") as log:
            process = Fork(
                "-m",
                "kbsite.cli",
                "worker",
                environment=self.environment,
                stdout=log.fileno(),
                stderr=log.fileno(),
            )
        try:
            yield process
        finally:
            kill(process)


def kill(process: "subprocess.Popen[bytes] | Fork") -> None:
    """End a process and its children at once, as a power cut would."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)


@contextmanager
def redis_server(folder: Path, *, port: int = 0) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """Run a Redis that keeps nothing on disk; without the program, the test is skipped."""
    port = port or free_port()
    command = [
        require_program("redis-server"),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        str(folder),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: is_listening(port), what="Redis")
        yield process, f"redis://127.0.0.1:{port}/0"
    finally:
        kill(process)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition: Callable[[], Any], *, what: str, patience: float = PATIENCE) -> Any:
    """Wait for a condition and return its value; fail with ``what`` when it does not come."""
    for _ in looks(patience):
        if value := condition():
            return value
    raise AssertionError(f"waited {patience:.0f} s for {what}")
