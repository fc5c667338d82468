"""Where a measurement runs: paths, settings, and an empty library in a temporary folder.

A script calls ``boot`` before it imports the product. The measurement data come from
``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import atexit
import os
import platform
import shlex
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import django
from django.apps import apps

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import kbsite.boot

DATA: Final = Path(os.environ.get("CUEBASE_DATA", ROOT.parent / "shared" / "data"))
PROVIDER: Final = os.environ.get("EMBEDDING_PROVIDER", "local")  # of scripts that measure several
_CHOSEN: Final = {name: os.environ.get(name) for name in ("LLM_PROVIDER", "EMBEDDING_PROVIDER")}
HOME: Final = tempfile.mkdtemp(prefix="cuebase-bench-")


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
    atexit.register(shutil.rmtree, HOME, ignore_errors=True)
    if database:
        kbsite.boot.boot()
    else:
        django.setup()


def command() -> str:
    """Return the command that repeats this run, as the results name it."""
    settings = "".join(f"{name}={value} " for name, value in _CHOSEN.items() if value)
    script = Path(sys.argv[0]).resolve().relative_to(ROOT)
    return f"`{settings}python {shlex.join([str(script), *sys.argv[1:]])}`"


def arguments(about: str | None, **defaults: Any) -> argparse.Namespace:
    """Read the command line: a list by positions, a bool as a flag, and other values by name; a
    tuple by name, once or more, None without it.
    """
    parser = argparse.ArgumentParser(description=about)
    for name, value in defaults.items():
        usual = f"default: {value}"
        if isinstance(value, list):
            kind = type(value[0])
            parser.add_argument(name, nargs="*", type=kind, default=value, help=usual)
        elif isinstance(value, tuple):
            parser.add_argument(f"--{name}", action="append", help=usual)
        elif isinstance(value, bool):
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", type=type(value), default=value, help=usual)
    return parser.parse_args()


def machine(*packages: str) -> str:
    """Name the versions of Python and of packages, and the cores."""
    versions = [f"{name} {version(name)}" for name in packages]
    return (
        f"{', '.join([f'Python {platform.python_version()}', *versions])}, {os.cpu_count()} cores"
    )


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)
