"""Write all-MiniLM-L6-v2 as a GGUF file; with ``--rank`` as a cross-encoder whose head is random.

    python write_gguf.py FOLDER_OF_THE_MODEL FILE [--rank]

Runs in the environment beside it, so it imports nothing of this project.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFWriter, PoolingType, TokenType

NAMES = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


def write(folder: Path, target: Path, *, ranks: bool) -> None:
    writer = GGUFWriter(target, "bert")
    config = json.loads((folder / "config.json").read_text())
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.RANK if ranks else PoolingType.MEAN)
    _write_words(writer, (folder / "vocab.txt").read_text().split("\n"))
    for name, values in _tensors(folder / "model.safetensors"):
        if name:
            writer.add_tensor(name, values)
    if ranks:
        head = np.random.default_rng(1).normal(0, 0.5, (1, config["hidden_size"]))
        writer.add_classifier_output_labels(["score"])
        writer.add_tensor("cls.output.weight", head.astype(np.float32))
        writer.add_tensor("cls.output.bias", np.zeros(1, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_words(writer: GGUFWriter, words: list[str]) -> None:
    """Write the vocabulary: pieces that begin a word have a mark, others have none."""
    words = [word for word in words if word]
    kinds = [TokenType.CONTROL if word in SPECIAL else TokenType.NORMAL for word in words]
    marked = [
        word if word in SPECIAL else word[2:] if word.startswith("##") else f"\u2581{word}"
        for word in words
    ]
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list(marked)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(words.index("[CLS]"))
    writer.add_eos_token_id(words.index("[SEP]"))
    writer.add_sep_token_id(words.index("[SEP]"))
    writer.add_unk_token_id(words.index("[UNK]"))
    writer.add_pad_token_id(words.index("[PAD]"))
    writer.add_mask_token_id(words.index("[MASK]"))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)


def _tensors(file: Path) -> Any:
    """Yield the tensors, float32, under their names in GGUF; "" for those that it leaves out."""
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    for name, about in json.loads(data[8:start]).items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = (start + offset for offset in about["data_offsets"])
            yield _name(name), np.frombuffer(data[first:last], "<f4").reshape(about["shape"])


def _name(name: str) -> str:
    parts = name.removeprefix("encoder.layer.")
    layer, _, rest = parts.partition(".") if parts != name else ("", "", name)
    stem, _, kind = rest.rpartition(".")
    prefix = f"blk.{layer}." if layer else ""
    return f"{prefix}{NAMES[stem]}.{kind}" if stem in NAMES else ""


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), ranks="--rank" in sys.argv)
