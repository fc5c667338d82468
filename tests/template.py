"""A data directory with an empty, migrated library, made once and copied: a new database and its
migrations take four seconds, a copy a quarter of one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from kbsite import postgres

ROOT = Path(__file__).resolve().parents[1]
SHELF = ROOT / "build" / "templates"  # kept for the next run
MADE_BY = (
    "kbsite/boot.py",
    "kbsite/postgres/*.py",
    "kbsite/settings/django.py",
    "requirements.lock",
    "*/migrations/*.py",
)


def copy_to(home: Path) -> None:
    """Give an empty data directory the template's database, stopped; one that has a database, or a
    file there, is left alone.
    """
    if (home / "postgres").exists():
        return
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = SHELF / _digest()
    SHELF.mkdir(parents=True, exist_ok=True)
    with (SHELF / "lock").open("w") as lock:
        fcntl.flock(
            lock,
            fcntl.LOCK_EX,
            # one process of a parallel run makes it, the others wait; nobody removes what is being
            # copied
        )
        if not made.exists():
            _forget_others()
            _make(made)
        # Python's own copy forgets whose the files are; the server refuses files of another
        # account.
        subprocess.run(["cp", "-a", str(made / "postgres"), str(home / "postgres")], check=True)


@cache
def _digest() -> str:
    files = sorted(path for pattern in MADE_BY for path in ROOT.glob(pattern))
    digest = hashlib.sha256(f"{sys.version}\n{os.getuid()}\n".encode())
    for file in files:
        digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _forget_others() -> None:
    for folder in SHELF.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)


def _make(place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="cuebase-template-") as folder:
        home = Path(folder)
        with postgres.start(home, fast=True):
            script = "from kbsite import boot\nboot.boot()"
            subprocess.run(
                [sys.executable, "-c", script], cwd=ROOT, env=_environment(home), check=True
            )
        shutil.rmtree(home / "postgres" / "log", ignore_errors=True)
        unfinished = place.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        subprocess.run(
            ["cp", "-a", str(home / "postgres"), str(unfinished / "postgres")], check=True
        )
        unfinished.rename(place)


def _environment(home: Path) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "CELERY_BROKER_URL", "PROXY_URL")
    }
    return {
        **inherited,
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
        "YOUTUBE_KB_DATA_DIR": str(home),
        "SECRET_KEY": "only-for-tests-" * 4,
    }
