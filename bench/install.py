"""Measure what an installation costs: download, disk, seconds to the first hit, idle memory.

Run ``python bench/install.py`` from the repository after ``make release``. An empty virtual
environment outside the tree gets the wheels of ``dist/`` and what they require, from the package
index and its cache, as `pip install cuebase` does. Then `kb serve --sample` starts in an empty data
directory, and `kb search --mode meaning` is repeated until it finds something.

Where a Debian root can be made (root, mmdebstrap), a user without rights also installs in each way
that the documentation names, and asks a question.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import psutil
from harness.environment import ROOT, command, machine
from harness.report import publish, table

from tests import debian_root, sources
from tests.debian_root import DebianRoot

QUERY: Final = "asking again later when a service fails"
QUESTION: Final = "What is exponential backoff?"
IDLE_SECONDS: Final = (30.0, 330.0)  # after the first hit, until memory is read; MODEL_IDLE_SECONDS
GOALS: Final = {"download": 250, "disk": 650, "first hit": 60, "memory": 500}
ALL: Final = "all"
UVX: Final = "uvx --find-links dist cuebase"


class Way(NamedTuple):
    """A way to install: commands in a home that has ``dist`` and ``source``; what they fill."""

    name: str
    install: str
    program: str
    folder: str


WAYS: Final = (
    Way("`uvx cuebase`", f"{UVX} --version", UVX, ".cache/uv"),
    Way(
        "`pipx install cuebase`",
        "pipx install --quiet --pip-args='--find-links dist' cuebase",
        ".local/bin/cuebase",
        ".local/share/pipx",
    ),
    Way("`make run`", "make -C source setup", "source/.venv/bin/kb", "source/.venv"),
    Way(
        "`deploy/image/build.sh`",
        "sh source/deploy/image/build.sh source $HOME/image",
        "image/bin/cuebase",
        "image",
    ),
)


def main() -> None:
    if not list((ROOT / "dist").glob("cuebase-*.whl")):
        raise SystemExit("There is no wheel in dist/; `make release` builds it.")
    with tempfile.TemporaryDirectory(prefix="cuebase-install-") as folder:
        home = Path(folder)
        figures, packages = wheels(home)
        fresh = () if debian_root.missing() else ways(home)
    publish(
        "Installation",
        f"{command()}: {packages} wheels in an empty virtual environment, and the first start with"
        " the sample library. Memory is the proportional set size of all processes after idle"
        f" seconds. {machine()}, load {os.getloadavg()[0]:.1f}.",
        table(("", "measured", "goal"), figures),
        *fresh,
    )


def wheels(folder: Path) -> tuple[list[Sequence[object]], int]:
    """Install the wheels; return what that costs beside its goals, and their number."""
    files, environment = folder / "files", folder / "environment"
    pip("download", "--dest", str(files), "cuebase")
    begun = time.monotonic()
    venv.create(environment, with_pip=True)
    pip("install", "--no-index", "--find-links", str(files), "cuebase", of=environment)
    seconds = time.monotonic() - begun
    pip("uninstall", "--yes", "pip", of=environment)
    disk = size(environment)
    first, memories = serve(environment / "bin" / "kb", folder)
    figures = [
        ("download, MB", size(files), GOALS["download"]),
        ("on disk, MB: pip compiles every module, used or not", disk, GOALS["disk"]),
        ("installing, s (files at hand)", seconds, ""),
        ("from the start to a hit by meaning, s", first, ""),
        ("both, s", seconds + first, GOALS["first hit"]),
        *(
            (f"memory after {idle:.0f} s, MB: {name}", own, GOALS["memory"] if name == ALL else "")
            for idle, memory in zip(IDLE_SECONDS, memories, strict=True)
            for name, own in memory.items()
        ),
    ]
    return [(name, f"{value:.0f}", goal) for name, value, goal in figures], len([*files.iterdir()])


def ways(folder: Path) -> tuple[str, str]:
    """Return the table of what each way costs in a fresh Debian, and what it tells."""
    sources.copy_to(folder / "source")
    root = DebianRoot(folder / "root")
    for given in (ROOT / "dist", folder / "source"):
        root.give(given, given.name)
    root.run("python3 -m venv tools; tools/bin/pip install --quiet uv pipx")
    rows = []
    for number, way in enumerate(WAYS):
        prepare = f"export PATH=$HOME/tools/bin:$PATH YOUTUBE_KB_DATA_DIR=$HOME/library-{number}; "
        begun = time.monotonic()
        root.run(prepare + way.install)
        installed = time.monotonic()
        demo = f"{way.program} demo > demo.log 2>&1; "
        ask = f"{demo}{way.program} ask {shlex.quote(QUESTION)} --json"
        if not json.loads(root.run(prepare + ask))["citations"]:
            raise SystemExit(f"{way.name}: the answer cites nothing.")
        cells = (installed - begun, size(root.home / way.folder), time.monotonic() - installed)
        rows.append((way.name, *(f"{cell:.0f}" for cell in cells)))
    heads = (
        *("", "installing, s", f"on disk after use, MB (goal {GOALS['disk']})"),
        "from then to an answer with citations, s",
    )
    about = (
        f"In a fresh Debian ({debian_root.SUITE}), by a user without rights, packages downloaded:"
    )
    return about, table(heads, rows)


def pip(*arguments: str, of: Path | None = None) -> None:
    """Run pip, of this environment or for another one."""
    python = str(of / "bin" / "python") if of else sys.executable
    command = [sys.executable, "-m", "pip", "--python", python, *arguments, "--quiet"]
    if arguments[0] == "download":
        command += ["--find-links", str(ROOT / "dist")]
    subprocess.run(command, check=True, env=without_tree())


def without_tree() -> dict[str, str]:
    """Return the environment variables without what leads to this checkout."""
    left_out = ("PYTHONPATH", "DJANGO_SETTINGS_MODULE", "DATABASE_URL")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def size(folder: Path) -> float:
    """Return the megabytes that the files of a folder hold; a file with two names counts once."""
    statuses = (path.lstat() for path in folder.rglob("*") if path.is_file())
    return sum({status.st_ino: status.st_size for status in statuses}.values()) / 1e6


def serve(kb: Path, folder: Path) -> tuple[float, list[dict[str, float]]]:
    """Start the server; return seconds until the first hit, and megabytes of memory by process
    after each of ``IDLE_SECONDS``.
    """
    home = folder / "home"
    environment = {**without_tree(), "YOUTUBE_KB_DATA_DIR": str(home), "HOME": str(folder)}
    begun = time.monotonic()
    with running([str(kb), "serve", "--sample", "--port", "0"], folder, environment):
        search = [str(kb), "search", QUERY, "--mode", "meaning", "--json"]
        while not is_found(search, folder, environment):
            time.sleep(0.5)
        first = time.monotonic() - begun
        memories = []
        for idle in IDLE_SECONDS:
            time.sleep(begun + first + idle - time.monotonic())
            memories.append(memory(home))
        return first, memories


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program whose output goes to a file; end it afterwards."""
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def is_found(search: Sequence[str], folder: Path, environment: dict[str, str]) -> bool:
    """Tell whether the search finds anything yet."""
    process = subprocess.run(
        search, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return process.returncode == 0 and bool(json.loads(process.stdout)["passages"])


def memory(home: Path) -> dict[str, float]:
    """Return megabytes of each kind of process that serves the data directory, and of all."""
    kinds = {"web server": 0.0, "worker": 0.0, "PostgreSQL": 0.0}
    server = postmaster(home)
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            ancestors = {parent.pid for parent in process.parents()} | {process.pid}
            if server in ancestors:
                kind = "PostgreSQL"
            elif str(home.parent) in line and ("serve" in line or "worker" in line):
                kind = "worker" if "worker" in line else "web server"
            else:
                continue
            kinds[kind] += process.memory_full_info().pss / 1e6
    return {**kinds, ALL: sum(kinds.values())}


def postmaster(home: Path) -> int:
    """Return the process of the embedded PostgreSQL."""
    (file,) = home.rglob("postmaster.pid")
    return int(file.read_text().splitlines()[0])


if __name__ == "__main__":
    main()
