"""A small disk that can really be filled."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_FILLER = "filler"


class SmallDisk:
    """A file system of its own, mounted at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *, left: int = 0) -> None:
        """Fill it until ``left`` bytes are free."""
        with (self.path / _FILLER).open("ab") as filler:
            while (room := shutil.disk_usage(self.path).free - left) > 0:
                filler.write(bytes(min(room, 1 << 20)))
                filler.flush()

    def free(self) -> None:
        (self.path / _FILLER).unlink()


@contextmanager
def small_disk(path: Path, *, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a disk in memory; the test is skipped where this is not allowed."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small disk")
    path.mkdir(exist_ok=True)
    options = f"size={megabytes}m,mode=755"
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a disk")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
