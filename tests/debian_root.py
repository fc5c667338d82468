"""A fresh Debian, made by mmdebstrap, in which a user without rights runs commands."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

SUITE: Final = "bookworm"  # its Python is 3.11, for which the packages are pinned
PACKAGES: Final = "ca-certificates,make,python3-venv"
USER: Final = "cuebase"
HOME: Final = f"/home/{USER}"
SECONDS: Final = 600.0  # for one script
# Mounts and processes of a script end with it, because its namespaces do.
NAMESPACES: Final = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
ENTER: Final = """
root=$1; shift
mount -t proc proc "$root/proc"
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$1"; else touch "$root$1"; fi
  mount --rbind "$1" "$root$1"; shift
done
shift
exec chroot "--userspec=$USER" "$root" env --ignore-environment "$@"
"""


def missing() -> str:
    """Return what this machine lacks to make a root, or nothing."""
    if os.geteuid() != 0:
        return "only root can make a Debian root"
    return "" if shutil.which("mmdebstrap") else "mmdebstrap is not installed"


class DebianRoot:
    """A folder with a Debian, and a user in it; pip is set up there as it is on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / HOME[1:]
        make = ("mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", SUITE)
        subprocess.run([*make, str(folder)], check=True)
        subprocess.run(["chroot", str(folder), "useradd", "--create-home", USER], check=True)
        pip = pip_settings()
        self._bound = ["/dev", "/sys", "/etc/resolv.conf", *paths(pip)]
        self._variables = {"HOME": HOME, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", **pip}

    def run(self, script: str) -> str:
        """Run a shell script as the user, in its home; return its output.

        Raises ``CalledProcessError`` if it fails, ``TimeoutExpired`` after ten minutes.
        """
        variables = [f"{name}={value}" for name, value in self._variables.items()]
        enter = ["sh", "-euc", ENTER, "sh", str(self.folder), *self._bound, "--"]
        inside = [f"--chdir={HOME}", *variables, "sh", "-euc", script]
        return subprocess.check_output(
            [*NAMESPACES, *enter, *inside],
            env={**os.environ, "USER": USER},
            text=True,
            timeout=SECONDS,
        )

    def give(self, files: Path, name: str) -> None:
        """Copy a folder into the user's home."""
        shutil.copytree(files, self.home / name, symlinks=True)
        owner = self.home.stat()
        for path in (self.home / name, *(self.home / name).rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def pip_settings() -> dict[str, str]:
    """Return how pip is set up on this machine, as environment variables."""
    listed = subprocess.check_output([sys.executable, "-m", "pip", "config", "list"], text=True)
    settings = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2].replace("-", "_").upper()
        settings[f"PIP_{option}"] = ast.literal_eval(value)
    if certificates := settings.get("PIP_CERT"):
        settings["SSL_CERT_FILE"] = certificates  # uv knows this name
    return settings


def paths(settings: dict[str, str]) -> list[str]:
    """Return the files and folders of this machine that pip's settings name."""
    words = {word.removeprefix("file://") for value in settings.values() for word in value.split()}
    named = (Path(word) for word in sorted(words) if word.startswith("/") and Path(word).exists())
    # The pages of an index link to files beside its folder "simple".
    return [str(path.parent if path.name == "simple" else path) for path in named]
