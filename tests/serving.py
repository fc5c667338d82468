"""A running `kb serve`: real processes in a data directory of their own."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import requests

from tests.fork_server import Fork
from tests.programs import run_program, run_python
from tests.waiting import looks

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 150.0  # seconds until a test gives up; machines are noisy
LINK = re.compile(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+/")
MCP = re.compile(r"(http://127\.0\.0\.1:\d+)/mcp")
KB = ("-m", "kbsite.cli")
OWN_KB = (sys.executable, *KB)  # as a process of its own, which /proc shows as what it is


def environment(home: Path, **more: str) -> dict[str, str]:
    """Settings of their own for the processes of one data directory."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "PUBLIC_URL", "PORT", "HOST")
    }
    return {
        **inherited,
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
        "YOUTUBE_KB_DATA_DIR": str(home),
        "YOUTUBE_PACING_SECONDS": "0",
        "PYTHONUNBUFFERED": "1",
        "EMBEDDING_PROVIDER": "fake",  # a start must not wait for vectors
        **more,
    }


class Serving:
    """A running `kb serve`, of ``program`` in ``folder``, or else forked."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        program: Sequence[str] = (),
        folder: Path = ROOT,
        **more: str,
    ) -> None:
        self.home = home
        self._program, self._folder = program, folder
        self.environment = environment(home, **more)
        self.log = home.with_name(f"{home.name}.log")
        self._arguments = ("serve", "--port", "0", *arguments)
        self.process: subprocess.Popen[bytes] | Fork
        self.start()

    def start(self) -> None:
        """Start it, again if it ended, and wait until it serves."""
        greetings = self.output().count("Ctrl-C")  # of earlier starts
        with self.log.open("ab") as log:
            self.process = self._started(log) if self._program else self._forked(log)
        until(lambda: self.output().count("Ctrl-C") > greetings or self.process.poll() is not None)
        assert self.process.poll() is None, self.output()
        self.link = (LINK.findall(self.output()) or [""])[-1]  # until somebody has signed in
        self.url = MCP.findall(self.output())[-1]

    def _started(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*self._program, *self._arguments],
            cwd=self._folder,
            env=self.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _forked(self, log: IO[bytes]) -> Fork:
        return Fork(
            *KB,
            *self._arguments,
            environment=self.environment,
            cwd=self._folder,
            stdout=log.fileno(),
            stderr=log.fileno(),
        )

    def output(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def kb(self, *arguments: str, code: int | None = 0) -> "subprocess.CompletedProcess[str]":
        where: Any = {"environment": self.environment, "cwd": self._folder}
        if self._program not in ((), OWN_KB):  # that of this tree is the same when it is forked
            return run_program(*self._program, *arguments, code=code, **where)
        return run_python(*KB, *arguments, code=code, **where)

    def json(self, *arguments: str) -> Any:
        done = self.kb(*arguments, "--json")
        assert not [
            line for line in done.stderr.splitlines() if "ready for this machine" not in line
        ]  # once, on a new machine
        return json.loads(done.stdout)

    def has_worker(self) -> bool:
        """Tell whether a worker has reported to the database."""
        checks = requests.get(f"{self.url}/readyz", timeout=30).json()["checks"]
        return any(check["name"] == "Worker" and check["state"] == "ok" for check in checks)

    def worker_pid(self) -> int | None:
        for children in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # the thread or the worker has ended
                for pid in map(int, children.read_text().split()):
                    if b"--with-parent" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        return pid
        return None

    def end(self, number: int) -> int:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def until(condition: Callable[[], object], *, seconds: float = PATIENCE) -> None:
    """Wait for something to become true."""
    if not any(condition() for _ in looks(seconds)):
        raise AssertionError("it did not happen in time")


def processes_of(home: Path) -> dict[int, str]:
    """Return the command lines of a data directory's processes and of all that these started."""
    commands: dict[int, str] = {}
    parents: dict[int, int] = {}
    mine: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if not line:  # a zombie has none
                continue
            pid = int(folder.name)
            stat = (folder / "stat").read_text()
            commands[pid], parents[pid] = line, int(stat.rpartition(")")[2].split()[1])
            variable = f"YOUTUBE_KB_DATA_DIR={home}\0".encode()
            if variable in (folder / "environ").read_bytes() or f"{home}/postgres" in line:
                mine.add(pid)
    while started := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= started
    return {pid: commands[pid] for pid in mine}
