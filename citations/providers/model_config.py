"""What the files beside a model's weights say of it: how its vectors are made, how much text it takes, what it wants before a text."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citations.errors import ModelError

POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_DEFAULT_TOKENS = 512
_ENDLESS = 100_000  # tokenizers write a huge number where they know no limit
_PLAIN_TOKENIZERS = ("PreTrainedTokenizerFast", "TokenizersBackend")
_QUERY, _DOCUMENT = (
    ("query",),
    ("document", "passage", "corpus"),
)  # the names of prompts, most usual first


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """How a model is built. ``pooling`` is mean, cls, or empty where only sentence-transformers knows; ``max_tokens`` counts the special ones as well."""

    dimensions: int
    max_tokens: int
    pooling: str
    pad: int
    segments: bool  # whether it tells the second text of a pair from the first
    labels: int
    lower: bool = False
    query: str = ""
    document: str = ""

    @classmethod
    def read(cls, folder: Path) -> "ModelConfig":
        """Read the files in ``folder``. Raises ``ModelError`` where they are no model's."""
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
                f"{folder.name} is not the folder of a model that can be read: {error}"
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
        segments=config.get("type_vocab_size", 0) > 1 and _tells_segments(tokenizer),
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
    places = int(config.get("max_position_embeddings", _DEFAULT_TOKENS))
    if "roberta" in config.get("model_type", ""):
        places -= (
            int(config.get("pad_token_id") or 0) + 1
        )  # its places are counted from behind the padding's
    told = int(tokenizer.get("model_max_length") or _ENDLESS)
    return min(places, told)


def _tells_segments(tokenizer: dict[str, Any]) -> bool:
    """Say whether transformers hands the segments on that a tokenizer counts: tokenizers of no particular model keep them to themselves."""
    if "model_input_names" in tokenizer:
        return "token_type_ids" in tokenizer["model_input_names"]
    return tokenizer.get("tokenizer_class") not in _PLAIN_TOKENIZERS


def _pooling(folder: Path) -> str:
    """Return how token vectors become one, or "" for what is not known here: other modules, other poolings, several at once."""
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
