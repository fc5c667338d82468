"""What the programs of ``sandbox.ChildProcess`` share: limits, and the loop that answers requests.

A request is a JSON object in one line of standard input. The answer on standard output is the
length of its head (4 bytes, big endian), the head (JSON, with the sizes of the blobs), the blobs.
A program ends when a request takes longer than its ``seconds``, at the end of the input, with its
parent, and after some time without a request. It is run by its path and imports no framework.
"""

import json
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment]

Answer = tuple[dict[str, Any], Sequence[bytes]]


def set_limits(memory: int) -> None:
    """Limit this process to so many bytes of address space, and leave interrupts to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        except (ValueError, OSError):
            return  # a system without this limit


def serve(
    answer: Callable[[dict[str, Any]], Answer], *, idle: int, most: int | None = None
) -> None:
    """Answer requests until none comes for ``idle`` seconds, or the process keeps more than
    ``most`` bytes of memory: the next request then starts another.
    """
    parent = os.getppid()
    input_ready = select.poll()
    input_ready.register(0, select.POLLIN | select.POLLHUP)
    waited = 0
    while waited < idle and os.getppid() == parent:
        if not input_ready.poll(10_000):
            waited += 10
            continue
        waited = 0
        line = sys.stdin.buffer.readline()
        if not line:
            return
        request = json.loads(line)
        # The alarm ends the process even within a library, and without its parent.
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        header, blobs = answer(request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _write(header, blobs)
        if most is not None and _resident() > most:
            return


def _resident() -> int:
    """Return the bytes of memory that the process has, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _write(header: dict[str, Any], blobs: Sequence[bytes]) -> None:
    head = json.dumps({**header, "blobs": [len(blob) for blob in blobs]}).encode()
    out = sys.stdout.buffer
    out.write(len(head).to_bytes(4, "big") + head)
    for blob in blobs:
        out.write(blob)
    out.flush()
