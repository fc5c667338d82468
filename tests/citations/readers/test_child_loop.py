"""A program answers until it keeps too much memory; the next request then has another."""

from pathlib import Path

from citations.readers.sandbox import ChildProcess
from tests.programs import require

PROGRAM = """
import os
from citations.readers import child_loop

kept = []

def answer(request):
    kept.append(bytes(request["bytes"] * [1]))
    return {"pid": os.getpid()}, [b"one", b"two"]

child_loop.set_limits(2 << 30)
child_loop.serve(answer, idle=10, most=150 << 20)
"""


def test_a_program_with_too_much_memory_ends_after_its_answer(tmp_path: Path) -> None:
    require("" if Path("/proc/self/statm").exists() else "The system does not tell the memory.")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    child = ChildProcess(path)
    replies = [child.ask({"bytes": size}, seconds=20) for size in (1, 1, 200_000_000, 1)]
    child.close()
    assert all(reply.blobs == (b"one", b"two") for reply in replies)
    first, second, third, other = (reply.head["pid"] for reply in replies)
    assert first == second == third != other
