"""What the benchmarks of speech share: this project's settings in a folder of their own, the model that lectures are heard with, and real windows."""

import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]
HOME = tempfile.mkdtemp(prefix="cuebase-bench-")
os.environ.setdefault("MODELS_DIR", str(ROOT / "build" / "models"))
os.environ.update(
    YOUTUBE_KB_DATA_DIR=HOME,
    SECRET_KEY="only-for-benchmarks-" * 3,
    HF_HUB_OFFLINE="1",
    DJANGO_SETTINGS_MODULE="kbsite.settings",
)

import django

django.setup()

from bm25 import DATA
from kept import KeptEmbedder

from citations.providers import registry

WINDOWS = ("nyudl/windows.jsonl", "hfcourse/windows.jsonl", "calculus/windows_labelled.jsonl")


@cache
def encoder() -> KeptEmbedder:
    """Return the model that lectures are heard with; vectors of documents are made once."""
    return KeptEmbedder(registry.embedder("local"))


def lecture_windows() -> list[str]:
    """Return the windows of real lectures."""
    return [
        json.loads(line)["text"]
        for name in WINDOWS
        for line in (DATA / "dev" / "pairs" / name).read_text(encoding="utf-8").splitlines()
    ]
