"""Write a library with the version that is checked out: ``python -m tests.upgrades NAME``.

``NAME.backup`` is its backup; ``NAME.json`` has the ids and texts that later versions must find.
"""

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.upgrades import ENVIRONMENT, FOLDER

NOTES = "# Tides\n\nThe moon raises the sea twice a day. Spring tides follow the full moon.\n"


def make(name: str, target: Path = FOLDER) -> None:
    """Make a library in a folder of its own; write its backup and its contents to ``target``."""
    with tempfile.TemporaryDirectory(prefix="cuebase-upgrade-") as folder:
        run = partial(run_in, Path(folder) / "home")
        document = Path(folder) / "tides.md"
        document.write_text(NOTES)
        run("-m", "kbsite.cli", "demo")
        run(
            "-m", "kbsite.cli", "user", "add", "ada", "--admin", "--password-stdin", text="tidal-37"
        )
        run("-m", "kbsite.cli", "add", str(document), "--collection", "samples")
        token = run("-m", "kbsite.cli", "token", "create", "reader", "--user", "ada", "--json")
        contents = run("-m", "tests.upgrades.contents", text=token)
        (target / f"{name}.json").write_text(contents)
        run("-m", "kbsite.cli", "db", "backup", str(target / f"{name}.backup"), "--yes")


def run_in(home: Path, *arguments: str, text: str = "") -> str:
    """Run Python with the library of a folder and return what it prints; end with its messages if
    it fails.
    """
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    process = subprocess.run(
        [sys.executable, *arguments],
        env={**environment, **ENVIRONMENT, "YOUTUBE_KB_DATA_DIR": str(home)},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        sys.exit(f"{arguments}: {process.stdout}{process.stderr}")
    return process.stdout


if __name__ == "__main__":
    make(sys.argv[1])
