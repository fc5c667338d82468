"""What the benchmarks of speech share: this project's settings in a folder of their own, the model
that lectures are heard with, and real windows.
"""

import json
from functools import cache

from environment import DATA, boot

boot(database=False, HF_HUB_OFFLINE="1")


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
