"""The tracked files of this checkout, and copies of them."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]


def tracked(*folders: str) -> list[str]:
    """Return the names of tracked files, of these folders or all."""
    listed = ["git", "ls-files", "-z", *folders]
    return subprocess.check_output(listed, cwd=ROOT, text=True).rstrip("\0").split("\0")


def copy_to(folder: Path, *names: str) -> None:
    """Copy tracked files and folders, by default all, as a clone would have them."""
    for name in tracked(*names):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
