"""Every kind of process killed while a server is busy: nothing is lost and nobody has to come."""

import random
from pathlib import Path

import pytest

from tests.chaos.run import Chaos
from tests.chaos.victims import KINDS

SEED = 12


@pytest.mark.timeout(600)  # recovery has no limit of time here: machines are noisy
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_a_busy_server_recovers_from_a_kill_of_each_kind_of_process(tmp_path: Path) -> None:
    with Chaos(tmp_path / "home", seed=SEED) as chaos:
        chaos.work()
        for kind in random.Random(SEED).sample(list(KINDS), len(KINDS)):
            assert chaos.kill(kind) is not None, f"there was no {kind} to kill"
        chaos.work()
        chaos.settle()
        assert chaos.ledger.faults == []
