"""Runs of several ways in turn, so that a busy moment of the machine hits all alike."""

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Asked = TypeVar("Asked")
Way = Callable[[Asked], Mapping[str, float]]  # milliseconds by name
Times = dict[str, list[float]]  # milliseconds by name


def timed(call: Callable[[], object]) -> float:
    before = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - before) / 1e6


def clocked(name: str, call: Callable[[Asked], object]) -> Way[Asked]:
    """Return a way that is timed as a whole."""
    return lambda question: {name: timed(lambda: call(question))}


def in_turn(ways: Sequence[Way[Asked]], questions: Iterable[Asked], *, warm: int = 0) -> Times:
    """Ask all ways each question, in an order that changes; the first ``warm`` do not count."""
    times: Times = {}
    for number, question in enumerate(questions, start=-warm):
        for way in random.Random(number).sample(ways, len(ways)):
            spent = way(question)
            for name, milliseconds in spent.items() if number >= 0 else ():
                times.setdefault(name, []).append(milliseconds)
    return times
