"""A child process is reused, started anew when it ended, killed in time, and never outlives its
parent.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from citations.readers.sandbox import ChildExited, ChildProcess, ChildTimeout
from tests.programs import run_program

PROGRAM = """
import json, os, signal, sys, time
out = sys.stdout.buffer
for line in sys.stdin.buffer:
    request = json.loads(line)
    if request["do"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if request["do"] == "crash once" and not os.path.exists(request["mark"]):
        open(request["mark"], "w").close()
        os._exit(3)
    if request["do"] == "be killed once" and not os.path.exists(request["mark"]):
        open(request["mark"], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if request["do"] == "hang":
        time.sleep(60)
    if request["do"] == "alarm":
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        time.sleep(60)
    blob = request.get("text", "").encode() * request.get("times", 1)
    if request["do"] == "environment":
        blob = " ".join(os.environ).encode()
    head = json.dumps({"pid": os.getpid(), "blobs": [len(blob)]}).encode()
    if request["do"] == "babble":
        head = b"nonsense"
    out.write(len(head).to_bytes(4, "big") + head + blob)
    out.flush()
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[ChildProcess]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    child = ChildProcess(program, grace=0.2)
    yield child
    child.close()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        if Path("/proc").is_dir():
            return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # it may end between the two looks
        return False
    return True


def gone(pid: int) -> bool:
    """Wait a little for a process to end."""
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_one_process_answers_all_that_is_asked_one_after_the_other(child: ChildProcess) -> None:
    first, second = (child.ask({"do": "echo", "text": text}, seconds=5) for text in ("a", "b"))
    assert (first.blobs, second.blobs) == ((b"a",), (b"b",))
    assert first.head["pid"] == second.head["pid"] == child.pid


def test_large_answers_arrive_whole(child: ChildProcess) -> None:
    assert (
        len(child.ask({"do": "echo", "text": "0123456789", "times": 500_000}, seconds=20).blobs[0])
        == 5_000_000
    )


def test_a_crash_is_told_and_the_next_request_is_answered_by_a_new_process(
    child: ChildProcess,
) -> None:
    before = child.ask({"do": "echo"}, seconds=5).head["pid"]
    with pytest.raises(ChildExited):
        child.ask({"do": "crash"}, seconds=5)
    assert gone(before)
    assert child.ask({"do": "echo"}, seconds=5).head["pid"] != before


def test_a_process_that_ended_while_it_was_idle_is_not_noticed(child: ChildProcess) -> None:
    pid = child.ask({"do": "echo"}, seconds=5).head["pid"]
    os.kill(pid, signal.SIGKILL)
    assert child.ask({"do": "echo", "text": "again"}, seconds=5).blobs == (b"again",)


def test_a_used_process_that_fails_is_given_a_second_try_in_a_new_one(
    child: ChildProcess, tmp_path: Path
) -> None:
    child.ask({"do": "echo"}, seconds=5)
    assert child.ask(
        {"do": "crash once", "mark": str(tmp_path / "mark"), "text": "done"}, seconds=5
    ).blobs == (b"done",)


def test_a_new_one_that_somebody_kills_is_given_a_second_try_too(
    child: ChildProcess, tmp_path: Path
) -> None:
    request = {"do": "be killed once", "mark": str(tmp_path / "mark"), "text": "done"}
    assert child.ask(request, seconds=5).blobs == (b"done",)


@pytest.mark.parametrize("deed", ["hang", "alarm"])
def test_what_takes_too_long_is_killed_and_not_tried_again(child: ChildProcess, deed: str) -> None:
    pid = child.ask({"do": "echo"}, seconds=5).head["pid"]
    began = time.monotonic()
    with pytest.raises(ChildTimeout):
        child.ask({"do": deed}, seconds=0.2)
    assert time.monotonic() - began < 3
    assert gone(pid)


def test_closing_ends_it_even_in_the_middle_of_a_request(child: ChildProcess) -> None:
    pid = child.ask({"do": "echo"}, seconds=5).head["pid"]
    errors: list[Exception] = []

    def ask() -> None:
        try:
            child.ask({"do": "hang"}, seconds=0.8)
        except ChildExited as error:
            errors.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    time.sleep(0.1)
    child.close()
    assert gone(pid)
    child.close()  # it has been asked again meanwhile, of a new process
    thread.join(5)
    assert errors


def test_it_is_told_nothing_of_the_environment_that_it_does_not_need(
    child: ChildProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "hidden")
    answer = child.ask({"do": "environment"}, seconds=5).blobs[0].decode()
    assert "A_SECRET" not in answer
    assert "PATH" in answer


def test_an_answer_that_is_none_ends_the_process(child: ChildProcess) -> None:
    with pytest.raises(ChildExited):
        child.ask({"do": "babble"}, seconds=5)
    assert child.ask({"do": "echo", "text": "a"}, seconds=5).blobs == (b"a",)


def test_threads_get_their_own_answers(child: ChildProcess) -> None:
    wrong: list[str] = []

    def ask(text: str) -> None:
        if any(
            child.ask({"do": "echo", "text": text}, seconds=10).blobs != (text.encode(),)
            for _ in range(20)
        ):
            wrong.append(text)

    threads = [threading.Thread(target=ask, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


PARENT = """
import os, sys
from pathlib import Path
from citations.readers.sandbox import ChildProcess
child = ChildProcess(Path(sys.argv[1]))
print(child.ask({"do": "echo"}, seconds=5).head["pid"], flush=True)
if sys.argv[2] == "fork":
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, str(child.ask({"do": "echo"}, seconds=5).head["pid"]).encode())
        child.close()
        os._exit(0)
    os.wait()
    print(os.read(reading, 100).decode(), child.ask({"do": "echo"}, seconds=5).head["pid"])
elif sys.argv[2] == "die":
    os.kill(os.getpid(), 9)
"""


def run(child_program: Path, way: str) -> list[int]:
    code = (
        f"import sys, types; package = types.ModuleType('citations.readers');"
        f" package.__path__ = [{str(Path('citations/readers').resolve())!r}]\n"
    )
    code += "sys.modules['citations.readers'] = package\n" + PARENT  # without Django
    ended = run_program(
        sys.executable, "-W", "ignore", "-c", code, str(child_program), way, code=None
    )
    return [int(pid) for pid in ended.stdout.split()]


@pytest.mark.parametrize("way", ["die", "end"])
def test_it_ends_with_its_parent_however_that_ends(
    child: ChildProcess, tmp_path: Path, way: str
) -> None:
    [pid] = run(tmp_path / "program.py", way)
    assert gone(pid)


def test_after_a_fork_each_process_has_its_own(child: ChildProcess, tmp_path: Path) -> None:
    before, forked, after = run(tmp_path / "program.py", "fork")
    assert forked != before == after
    assert gone(forked)
    assert gone(before)
