"""Install packages with pip, and say how far it is.

python deploy/install.py [ARGUMENT OF pip install …], where packages are pinned by ``name==version``
or in the files of ``-r``. What pip warns of, and its errors, are printed as they are.
"""

import re
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

PIN = re.compile(r"^([\w.-]+)==", re.MULTILINE)
COLLECTED = re.compile(
    r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)|Processing \S*/([\w.]+)-\d"
)
DOWNLOADED = re.compile(r"Downloading \S*?([\w.]+)-\d\S* \((.+)\)")
INTERVAL = 20  # packages between two lines, where no terminal shows one that changes


@dataclass(slots=True)
class Counter:
    """Shows a number of packages in one line that changes, or else in a line for every few."""

    count: int
    shown: int = 0

    def show(self, number: int, what: str) -> None:
        line = f"  {number} of {self.count}: {what}"
        if sys.stdout.isatty():
            print(f"\r\033[K{line[:78]}", end="", flush=True)
        elif number - self.shown >= INTERVAL or self.shown < number == self.count:
            print(line, flush=True)
            self.shown = number


def main() -> int:
    """Run pip; return its exit code."""
    pinned = {_key(name) for name in PIN.findall(_pins(sys.argv[1:]))}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    collected: set[str] = set()
    counter = Counter(len(pinned))
    with subprocess.Popen(
        [*command, "--progress-bar", "off", *sys.argv[1:]], stdout=subprocess.PIPE, text=True
    ) as pip:
        for line in pip.stdout or ():
            if match := COLLECTED.match(line):
                name = _key(match[1] or match[2])
                collected |= {name} & pinned
                counter.show(len(collected), name)
            elif match := DOWNLOADED.search(line):
                counter.show(len(collected), f"{match[1]}, {match[2]}")
            elif line.startswith("Installing collected packages"):
                _watch(pip, len(pinned))
    if sys.stdout.isatty():
        print()
    return pip.returncode


def _watch(pip: "subprocess.Popen[str]", count: int) -> None:
    """Show how many packages are unpacked: pip says nothing until it ends."""
    folder = Path(sysconfig.get_path("purelib"))
    counter = Counter(count)
    while pip.poll() is None:
        counter.show(min(count, len([*folder.glob("*.dist-info")])), "unpacked")
        time.sleep(0.2)


def _pins(arguments: list[str]) -> str:
    files = [name for option, name in zip(arguments, arguments[1:], strict=False) if option == "-r"]
    return "\n".join([*arguments, *(Path(name).read_text(encoding="utf-8") for name in files)])


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main())
