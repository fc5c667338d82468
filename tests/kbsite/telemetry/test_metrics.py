"""Counts of several processes come together, and outlive them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COUNT = """
import sys
from kbsite import boot
boot.set_up()
from kbsite.telemetry import metrics
from transcripts.core.stages import FinishedStage
metrics.observe(FinishedStage(work="search", name="lexical", seconds=0.1, tokens={"input": 2}))
print("counted", flush=True)
sys.stdin.read()
"""
READ = """
import json
from kbsite import boot
boot.set_up()
from kbsite.telemetry import metrics
found = {s.name: s.value for m in metrics.counted().collect() for s in m.samples}
print(json.dumps(found))
"""


def python(code: str, home: Path) -> "subprocess.Popen[str]":
    """Run code in a process that counts in a data directory of its own."""
    environment = {"YOUTUBE_KB_DATA_DIR": str(home), "SECRET_KEY": "s" * 50, "PATH": os.defpath}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def count(home: Path) -> "subprocess.Popen[str]":
    """Start a process that counts one search and then waits."""
    process = python(COUNT, home)
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


def searches(home: Path) -> float:
    """Return how many searches all processes of a data directory have counted."""
    process = python(READ, home)
    text, _ = process.communicate(timeout=60)
    return float(json.loads(text)["cuebase_stage_seconds_count"])


def end(*processes: "subprocess.Popen[str]") -> None:
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def test_processes_that_run_together_are_added_up_and_count_on_after_their_end(
    tmp_path: Path,
) -> None:
    first, second = count(tmp_path), count(tmp_path)
    assert searches(tmp_path) == 2
    end(first, second)
    assert searches(tmp_path) == 2
    end(count(tmp_path))
    assert searches(tmp_path) == 3
    assert len(list((tmp_path / "metrics").glob("counter_*.db"))) == 3, "slots are taken again"


@pytest.mark.parametrize("left", [b"", b"half", b"\xff" * 4 * 1024**2], ids=len)
def test_a_file_that_a_power_cut_left_is_begun_anew(tmp_path: Path, left: bytes) -> None:
    end(count(tmp_path))
    (tmp_path / "metrics" / "histogram_0.db").write_bytes(left)
    end(count(tmp_path))
    assert searches(tmp_path) == 1


def test_without_room_on_the_disk_a_process_counts_for_itself(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("in the way")
    end(count(tmp_path))
