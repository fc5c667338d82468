"""Models of named architectures with random weights: as fast and as large as the real ones, whose
weights are not on this machine, and of no other use.
"""

from pathlib import Path
from typing import Any, Final

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, BertModel

from citations.providers import weights

BGE_BASE: Final = (
    BertConfig()
)  # BERT base, of which BAAI/bge-base-en-v1.5 is one: 12 layers of 768, 12 heads
TINYBERT: Final = BertConfig(
    hidden_size=128,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=512,
    id2label={0: "relevance"},
    label2id={"relevance": 0},
)


def bge_base(folder: Path) -> Path:
    """Make an embedding model of the shape of bge-base-en-v1.5 (768 dimensions, first token, length
    1).
    """
    torch.manual_seed(0)
    inner = folder / "inner"
    BertModel(BGE_BASE).save_pretrained(inner)
    _tokenizer().save_pretrained(inner)
    modules = [
        Transformer(str(inner), max_seq_length=512),
        Pooling(BGE_BASE.hidden_size, pooling_mode="cls"),
        Normalize(),
    ]
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"


def tinybert(folder: Path) -> Path:
    """Make a cross-encoder of the shape of ms-marco-TinyBERT-L-2-v2."""
    torch.manual_seed(0)
    BertForSequenceClassification(TINYBERT).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    """Return BERT's English one, which all of them have; it comes with all-MiniLM-L6-v2."""
    tokenizer = AutoTokenizer.from_pretrained(
        str(weights.find(weights.MINILM)), local_files_only=True
    )
    tokenizer.model_max_length = 512
    return tokenizer
