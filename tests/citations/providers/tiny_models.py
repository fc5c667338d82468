"""Tiny models with random weights, built as real ones are, and what sentence-transformers makes of
some texts with them.

They are made once and kept in ``build/tiny``, so that only the first run of the tests waits for
torch.
"""

import fcntl
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
FORM = 6  # of what is made
FOLDER = (
    ROOT
    / "build"
    / "tiny"
    / f"{FORM}-{version('torch')}-{version('transformers')}-{version('sentence-transformers')}"
)
MEAN, CLS, LOWER, ROBERTA, DENSE, CROSS, TWO_LABELS, ROBERTA_CROSS, ELECTRA, E5 = (
    "mean",
    "cls",
    "lower",
    "roberta",
    "dense",
    "cross",
    "two-labels",
    "roberta-cross",
    "electra",
    "e5",
)
QUERY = "what is a gradient"
TEXTS = [
    "a",
    "",
    "gradients point uphill, and descent goes the other way",
    "Error 404: not found",
    "the cat sat on the mat " * 30,
    "ä ö ü ß, 日本語, 😀",
    "half a character: \ud800 and a NUL: \0.",
    "x" * 300,
    *[f"sentence number {number} has {'very ' * number}many words" for number in range(24)],
]


def folder(name: str) -> Path:
    """Return the folder of a tiny model; all of them are made now if they are not there."""
    if not FOLDER.is_dir():
        FOLDER.parent.mkdir(parents=True, exist_ok=True)
        with (FOLDER.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not FOLDER.is_dir():
                environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
                subprocess.run(
                    [
                        sys.executable,
                        "-m",
                        "tests.citations.providers.tiny_model_weights",
                        str(FOLDER),
                    ],
                    cwd=ROOT,
                    env=environment,
                    check=True,
                )
    return FOLDER / name


def expected(name: str) -> np.ndarray:
    """Return what sentence-transformers gives for ``TEXTS``: vectors, or the scores of each against
    ``QUERY``.
    """
    return np.asarray(np.load(folder(name).with_suffix(".npy")))
