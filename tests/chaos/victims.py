"""The processes of a server, by kind, and how they are killed."""

import os
import re
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.serving import processes_of

KINDS: Final[Mapping[str, "re.Pattern[str]"]] = MappingProxyType(
    {
        "server": re.compile(r"kbsite\.cli serve"),
        "worker": re.compile(r"kbsite\.cli worker"),
        "reader": re.compile(r"readers/(pdf|markup)/worker\.py"),
        "database": re.compile(r"/postgres -D"),
        "connection": re.compile(r"^postgres: cuebase"),
        "part of the database": re.compile(r"^postgres: (?!cuebase|logger)"),
        "migration": re.compile(r"kbsite\.cli db migrate-embeddings"),
        "backup": re.compile(r"kbsite\.cli db backup|/pg_dump "),
        "command": re.compile(r"kbsite\.cli (add|collections) "),
    }
)


def find(home: Path, kind: str, *, seconds: float) -> list[int]:
    """Return the processes of a kind, in order, once there is one; none after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        lines = processes_of(home)
        if pids := [pid for pid, line in sorted(lines.items()) if KINDS[kind].search(line)]:
            return pids
        time.sleep(0.02)
    return []


def kill(pid: int) -> None:
    """End a process as the kernel would that has no memory left."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
