"""A model's configuration: how its vectors are made, its input limit, its prefixes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citations.errors import ModelError

POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_DEFAULT_TOKENS = 512
_UNLIMITED = 100_000  # tokenizers write a huge number without a limit
_PLAIN_TOKENIZERS = ("PreTrainedTokenizerFast", "TokenizersBackend")
_QUERY, _DOCUMENT = ("query",), ("document", "passage", "corpus")  # names of prefixes


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
            return _read(folder)
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


def _read(folder: Path) -> ModelConfig:
    config = _json(folder, "config.json")
    transformer = _json(folder, "sentence_bert_config.json")
    tokenizer = _json(folder, "tokenizer_config.json")
    prompts = _json(folder, "config_sentence_transformers.json").get("prompts") or {}
    return ModelConfig(
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
