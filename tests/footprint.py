"""The memory that this process and its children take."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


class Footprint:
    """The largest resident memory of this process and of any child, in bytes."""

    def __init__(self) -> None:
        self.own = self.child = 0

    def measure(self) -> None:
        process = psutil.Process()
        command = process.cmdline()
        self.own = max(self.own, process.memory_info().rss)
        for child in process.children(recursive=True):
            try:
                if (
                    child.cmdline() != command
                ):  # until it runs its program, it is a copy of this one
                    self.child = max(self.child, child.memory_info().rss)
            except psutil.NoSuchProcess:
                continue


@contextmanager
def footprint() -> Iterator[Footprint]:
    measured, done = Footprint(), threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            measured.measure()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield measured
    finally:
        done.set()
        watcher.join()
