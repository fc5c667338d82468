"""Models that are too slow are left alone for a while."""

import pytest

from citations.providers import pauses
from citations.providers.pauses import Pause


def test_a_model_that_is_too_slow_again_is_left_alone_twice_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(pauses, "monotonic", lambda: clock[0])
    pause = Pause()
    assert not pause.lasts
    for length in (30, 60, 120):
        for _ in range(8):  # searches that wait together begin one pause
            pause.begin()
        clock[0] += length - 1
        assert pause.lasts
        clock[0] += 1
        assert not pause.lasts
    pause.begin()
    pause.end()
    assert not pause.lasts
    pause.begin()
    clock[0] += 30
    assert not pause.lasts
