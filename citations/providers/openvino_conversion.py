"""OpenVINO graphs of models, cached in MODELS_DIR and made by one process at a time."""

import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from citations import conf
from citations.errors import ModelError
from citations.providers import weights
from citations.providers.runtime import UNCONVERTIBLE
from transcripts.core.work.disk import make_private_folder

GRAPH, WEIGHTS, SEAL, REASON = "model.xml", "model.bin", "sums.json", "reason.txt"
READ_FROM = {
    "vector": ("config.json", "modules.json"),
    "logits": ("config.json", "modules.json", "tokenizer_config.json"),
}
MADE_WITH = ("openvino", "torch", "transformers")  # the last two only where they are installed
FORM = 2  # of the graphs; a new number makes all of them again
SECONDS = 3_600
ROOT = Path(__file__).resolve().parents[2]
logger = logging.getLogger(__name__)


class Unconvertible(Exception):
    """This model cannot be converted, so torch must run it."""


def ensure_graph(folder: Path, *, head: str) -> Path:
    """Return the graph's file of the model in ``folder``; convert it if missing or damaged.

    ``head`` is "vector" or "logits". Raises ``Unconvertible``, and ``ModelError`` if
    the graph cannot be stored.
    """
    cached = _cached(folder, head)
    if not _is_whole(cached):
        with _lock(cached):
            if not _is_whole(cached):  # another process may have converted it
                _convert(folder, head, cached)
    if (cached / REASON).is_file():
        raise Unconvertible((cached / REASON).read_text())
    return cached / GRAPH


def is_ready(folder: Path, *, head: str) -> bool:
    """Whether the graph of the model in ``folder`` is cached."""
    return _is_whole(_cached(folder, head))


def discard_graph(graph: Path) -> None:
    """Delete an unusable graph, so that it is made again."""
    shutil.rmtree(graph.parent, ignore_errors=True)


def _slug(folder: Path) -> str:
    """Return a readable name: the hub's, the package's, or the folder's."""
    named = next(
        (part for part in reversed(folder.parts) if part.startswith("models--")),
        folder.parent.name if folder.name == "model" else folder.name,
    )
    return re.sub(r"[^\w.-]", "-", named.removeprefix("models--"), flags=re.ASCII)[:60]


def _cached(folder: Path, head: str) -> Path:
    """Return the folder of a graph; its name tells what the graph is made from."""
    parts = [
        str(FORM),
        head,
        *(version(name) for name in MADE_WITH if find_spec(name)),
        *(weights.digest(path) for path in weights.files(folder)),
    ]
    read = (
        *(folder / name for name in READ_FROM[head]),
        *sorted(folder.glob("*Pooling/config.json")),
    )
    parts += [path.read_text(errors="replace") for path in read if path.is_file()]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    return conf.models_dir() / f"{_slug(folder)}-{key}"


def _is_whole(cached: Path) -> bool:
    try:
        sums = json.loads((cached / SEAL).read_text())
        return bool(sums) and all(
            weights.digest(cached / name) == expected for name, expected in sums.items()
        )
    except (OSError, ValueError, AttributeError, ModelError):
        return False


@contextmanager
def _lock(cached: Path) -> Iterator[None]:
    try:
        make_private_folder(cached.parent)
        file = cached.with_name(f".{cached.name}.lock").open("w")
    except OSError as error:
        raise _storage_error(error) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the kernel releases it when the process ends
        yield


def _convert(folder: Path, head: str, cached: Path) -> None:
    logger.info("Converting the model %s for this machine, once: up to a minute …", _slug(folder))
    unfinished = Path(tempfile.mkdtemp(prefix=f".{cached.name}-", dir=cached.parent))
    try:
        _export(folder, head, unfinished)
        names = [name for name in (GRAPH, WEIGHTS, REASON) if (unfinished / name).is_file()]
        (unfinished / SEAL).write_text(
            json.dumps({name: weights.sha256(unfinished / name) for name in names})
        )
        shutil.rmtree(cached, ignore_errors=True)
        unfinished.rename(cached)
    except OSError as error:
        raise _storage_error(error) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _export(folder: Path, head: str, target: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "citations.providers.openvino_export",
        str(folder),
        head,
        str(target / GRAPH),
    ]
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
    }
    ran = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    message = (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1][:500]
    if ran.returncode == UNCONVERTIBLE:
        (target / REASON).write_text(message)
    elif ran.returncode:
        raise ModelError(
            f"{_slug(folder)} could not be converted for this machine: {message}",
            hint="Check the free memory and disk space.",
        )


def _storage_error(error: OSError) -> ModelError:
    return ModelError(
        f"A model cannot be stored in {conf.models_dir()}: {error.strerror or error}",
        hint="Check MODELS_DIR, its owner and its free space.",
    )
