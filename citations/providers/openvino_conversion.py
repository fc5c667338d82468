"""Graphs made of weights, kept in the folder of models: made once for each weights, by one process while the others wait."""

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
from pathlib import Path

from citations import conf
from citations.errors import ModelError
from citations.providers import weights

GRAPH, WEIGHTS, SEAL, REASON = "model.xml", "model.bin", "sums.json", "reason.txt"
READ_FROM = {
    "vector": ("config.json", "modules.json"),
    "logits": ("config.json", "modules.json", "tokenizer_config.json"),
}
MADE_WITH = ("openvino", "torch", "transformers")
FORM = 1  # of what is made; another number makes everything anew
SECONDS = 3_600
UNCONVERTIBLE = 3  # the program's exit code, see ``export``
ROOT = Path(__file__).resolve().parents[2]
logger = logging.getLogger(__name__)


class Unconvertible(Exception):
    """This model cannot be turned into a graph; the slow way is left."""


def ensure_graph(folder: Path, *, head: str) -> Path:
    """Return the file of the graph of the model in ``folder``, made now if it is missing or damaged. ``head`` is "vector" or "logits".

    Raises ``Unconvertible``, and ``ModelError`` where it cannot be kept.
    """
    kept = conf.models_dir() / f"{_slug(folder)}-{_key(folder, head)}"
    if not _is_whole(kept):
        with _turn(kept):
            if not _is_whole(kept):  # another process may have made it meanwhile
                _make(folder, head, kept)
    if (kept / REASON).is_file():
        raise Unconvertible((kept / REASON).read_text())
    return kept / GRAPH


def is_ready(folder: Path, *, head: str) -> bool:
    """Say whether the graph of the model in ``folder`` has been made."""
    return _is_whole(conf.models_dir() / f"{_slug(folder)}-{_key(folder, head)}")


def discard_graph(graph: Path) -> None:
    """Throw a graph away that cannot be used, so that it is made anew."""
    shutil.rmtree(graph.parent, ignore_errors=True)


def _slug(folder: Path) -> str:
    """Return a name that a person knows the model by: the hub's, the package's, or the folder's."""
    named = next(
        (part for part in reversed(folder.parts) if part.startswith("models--")),
        folder.parent.name if folder.name == "model" else folder.name,
    )
    return re.sub(r"[^\w.-]", "-", named.removeprefix("models--"), flags=re.ASCII)[:60]


def _key(folder: Path, head: str) -> str:
    parts = [
        str(FORM),
        head,
        *(version(name) for name in MADE_WITH),
        *(weights.digest(path) for path in weights.files(folder)),
    ]
    read = (
        *(folder / name for name in READ_FROM[head]),
        *sorted(folder.glob("*Pooling/config.json")),
    )
    parts += [path.read_text(errors="replace") for path in read if path.is_file()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _is_whole(kept: Path) -> bool:
    try:
        sums = json.loads((kept / SEAL).read_text())
        return bool(sums) and all(
            weights.sha256(kept / name) == expected for name, expected in sums.items()
        )
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def _turn(kept: Path) -> Iterator[None]:
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        file = kept.with_name(f".{kept.name}.lock").open("w")
    except OSError as error:
        raise _unkept(error) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)  # the kernel lets go of it however the process ends
        yield


def _make(folder: Path, head: str, kept: Path) -> None:
    logger.info("Making %s ready for this machine: once, a few seconds to a minute", _slug(folder))
    made = Path(tempfile.mkdtemp(prefix=f".{kept.name}-", dir=kept.parent))
    try:
        _export(folder, head, made)
        names = [name for name in (GRAPH, WEIGHTS, REASON) if (made / name).is_file()]
        (made / SEAL).write_text(json.dumps({name: weights.sha256(made / name) for name in names}))
        shutil.rmtree(kept, ignore_errors=True)
        made.rename(kept)
    except OSError as error:
        raise _unkept(error) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _export(folder: Path, head: str, made: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "citations.providers.openvino_export",
        str(folder),
        head,
        str(made / GRAPH),
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
    told = (ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"])[-1][:500]
    if ran.returncode == UNCONVERTIBLE:
        (made / REASON).write_text(told)
    elif ran.returncode:
        raise ModelError(
            f"{_slug(folder)} could not be made ready for this machine: {told}",
            hint="Is there enough memory and disk?",
        )


def _unkept(error: OSError) -> ModelError:
    return ModelError(
        f"A model cannot be kept in {conf.models_dir()}: {error.strerror or error}",
        hint="Check MODELS_DIR, its owner and its free space.",
    )
