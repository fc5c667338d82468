"""Install packages with pip, and say how far it is.

python deploy/install.py [ARGUMENT OF pip install …], where packages are pinned by ``name==version``
or in the files of ``-r``. What pip warns of, and its errors, are printed as they are.
"""

import re
import subprocess
import sys
from pathlib import Path

PIN = re.compile(r"^([\w.-]+)==", re.MULTILINE)
COLLECTED = re.compile(r"(?:Collecting|Requirement already satisfied:) ([\w.-]+)")
DOWNLOADED = re.compile(r"Downloading \S*?([\w.]+)-\d\S* \((.+)\)")
INTERVAL = 20  # packages between two lines, where no terminal shows a line that changes


def main() -> int:
    """Run pip; return its exit code."""
    pinned = {_key(name) for name in PIN.findall(_pins(sys.argv[1:]))}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    collected: set[str] = set()
    with subprocess.Popen(
        [*command, "--progress-bar", "off", *sys.argv[1:]], stdout=subprocess.PIPE, text=True
    ) as pip:
        for line in pip.stdout or ():
            if match := COLLECTED.match(line):
                before = len(collected)
                collected |= {_key(match[1])} & pinned
                if len(collected) > before:
                    _show(len(collected), len(pinned), match[1])
            elif match := DOWNLOADED.search(line):
                _show(len(collected), len(pinned), f"{match[1]}, {match[2]}", is_detail=True)
            elif line.startswith("Installing collected packages"):
                _show(len(pinned), len(pinned), "all are here; unpacking them")
    if sys.stdout.isatty():
        print()
    return pip.returncode


def _pins(arguments: list[str]) -> str:
    files = [name for option, name in zip(arguments, arguments[1:], strict=False) if option == "-r"]
    return "\n".join([*arguments, *(Path(name).read_text(encoding="utf-8") for name in files)])


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _show(number: int, count: int, what: str, *, is_detail: bool = False) -> None:
    line = f"  {number} of {count}: {what}"
    if sys.stdout.isatty():
        print(f"\r\033[K{line[:78]}", end="", flush=True)
    elif not is_detail and (number % INTERVAL == 0 or number == count):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
