"""What every benchmark starts with: paths, settings, and an empty library in a temporary folder.

A benchmark calls ``boot`` before it imports any other module of the project. The measurement
data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import django
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import kbsite.boot

DATA = Path(os.environ.get("CUEBASE_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "bench" / "RESULTS.md"
PROVIDER = os.environ.get("EMBEDDING_PROVIDER", "local")  # of benchmarks that measure several
_PARENT = os.environ.get("CUEBASE_BENCH_HOME")  # set for a child process that shares a library
HOME = _PARENT or tempfile.mkdtemp(prefix="cuebase-bench-")


def boot(*, database: bool = True, **settings: str) -> None:
    """Set Django up, by default with an empty embedded database; later calls do nothing."""
    if apps.ready:
        return
    defaults = {
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
        "YOUTUBE_KB_DATA_DIR": HOME,
        "SECRET_KEY": "only-for-benchmarks-" * 3,
        "LLM_PROVIDER": "none",
        "EMBEDDING_PROVIDER": "local",
    }
    os.environ.update(defaults | settings)
    os.environ.pop("DATABASE_URL", None)
    if not _PARENT:
        atexit.register(shutil.rmtree, HOME, ignore_errors=True)
    if database:
        kbsite.boot.boot()
    else:
        django.setup()


def command(script: str) -> str:
    """Return the command that repeats a benchmark of ``PROVIDER``, as its results name it."""
    setting = "" if PROVIDER == "local" else f"EMBEDDING_PROVIDER={PROVIDER} "
    return f"{setting}python {shlex.join([script, *sys.argv[1:]])}"
