"""Pauses of models that searches wait for, when they were too slow."""

import threading
from time import monotonic
from typing import Final

PAUSES: Final = (30.0, 1_800.0)  # seconds without asking after a late answer: at first, and at most


class Pause:
    """The time in which a model is not asked by this process, as it was too slow.

    It doubles each time that the model is too slow again: one may have been loading, another never
    is fast enough.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._length = 0.0
        self._end = 0.0

    def begin(self) -> None:
        """Begin it, unless another search that waited for the same model did."""
        shortest, longest = PAUSES
        with self._lock:
            if not self.lasts:
                self._length = min(max(2 * self._length, shortest), longest)
                self._end = monotonic() + self._length

    def end(self) -> None:
        self._length = self._end = 0.0

    @property
    def lasts(self) -> bool:
        return monotonic() < self._end
