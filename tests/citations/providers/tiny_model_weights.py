"""Build the tiny models: ``python -m tests.citations.providers.tiny_model_weights FOLDER``.

Apart from ``tiny_models``, because torch is slow to import.
"""

import json
import os
import shutil
import string
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers import models as modules
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    ElectraConfig,
    ElectraModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

from tests.citations.providers.tiny_models import (
    CLS,
    CROSS,
    DENSE,
    E5,
    ELECTRA,
    LOWER,
    MEAN,
    QUERY,
    ROBERTA,
    ROBERTA_CROSS,
    TEXTS,
    TWO_LABELS,
)


def make(out: Path) -> None:
    """Make all tiny models and what they give."""
    made = out.with_name(f".{out.name}-{os.getpid()}")
    made.mkdir(parents=True)
    for name, pooling, lower in ((MEAN, "mean", False), (CLS, "cls", False), (LOWER, "mean", True)):
        _sentence_model(made / name, _bert(), _word_pieces(), pooling=pooling, lower=lower)
    _sentence_model(made / ROBERTA, _roberta(), _word_pieces(roberta=True), pooling="cls")
    _sentence_model(made / DENSE, _bert(), _word_pieces(), pooling="mean", dense=True)
    _sentence_model(made / ELECTRA, _electra(), _word_pieces(), pooling="mean")
    # As multilingual-e5-small: a BERT with the pieces of XLM-RoBERTa.
    _sentence_model(made / E5, _bert(type_vocab_size=2), _sentence_pieces(), pooling="mean")
    segments = ["input_ids", "token_type_ids", "attention_mask"]
    pairs = _word_pieces(model_input_names=segments)
    for name, labels in ((CROSS, 1), (TWO_LABELS, 2)):
        model = _bert(BertForSequenceClassification, num_labels=labels, type_vocab_size=2)
        _cross_encoder(made / name, model, pairs)
    model = _roberta(XLMRobertaForSequenceClassification, num_labels=1)
    _cross_encoder(made / ROBERTA_CROSS, model, _word_pieces(roberta=True))
    made.rename(out)


def _texts() -> list[str]:
    return [text.encode("utf-8", "replace").decode() for text in TEXTS]


def _sentence_model(
    path: Path,
    model: Any,
    tokenizer: Any,
    *,
    pooling: str,
    lower: bool = False,
    dense: bool = False,
) -> None:
    _save(path, model, tokenizer)
    first = modules.Transformer(str(path), max_seq_length=48)
    parts = [
        first,
        modules.Pooling(32, pooling),
        *([modules.Dense(32, 16)] if dense else []),
        modules.Normalize(),
    ]
    built = SentenceTransformer(
        modules=parts, device="cpu", prompts={"query": "query: ", "document": ""}
    )
    shutil.rmtree(path)
    built.save(str(path))
    if lower:
        config = path / "sentence_bert_config.json"
        config.write_text(
            json.dumps(
                {**json.loads(config.read_text()), "max_seq_length": 48, "do_lower_case": True}
            )
        )
    loaded = SentenceTransformer(str(path), device="cpu", local_files_only=True)
    texts = [text.lower() for text in _texts()] if lower else _texts()
    np.save(path.with_suffix(".npy"), loaded.encode(texts, prompt="", normalize_embeddings=True))


def _cross_encoder(path: Path, model: Any, tokenizer: Any) -> None:
    _save(path, model, tokenizer)
    encoder = CrossEncoder(
        str(path),
        device="cpu",
        max_length=64,
        activation_fn=torch.nn.Sigmoid(),
        local_files_only=True,
    )
    np.save(
        path.with_suffix(".npy"),
        encoder.predict([(QUERY, text) for text in _texts()], show_progress_bar=False),
    )


def _save(path: Path, model: Any, tokenizer: Any) -> None:
    model.save_pretrained(str(path))
    tokenizer.save_pretrained(str(path))


def _bert(kind: Any = None, **options: Any) -> Any:
    torch.manual_seed(1)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    return _shaken(
        (kind or BertModel)(
            BertConfig(
                vocab_size=len(_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]")), **sizes, **options
            )
        )
    )


def _roberta(kind: Any = None, **options: Any) -> Any:
    torch.manual_seed(2)
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 66,
    }
    special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "type_vocab_size": 1}
    return _shaken(
        (kind or XLMRobertaModel)(
            XLMRobertaConfig(
                vocab_size=len(_vocabulary("<s>", "<pad>", "</s>", "<unk>")),
                **sizes,
                **special,
                **options,
            )
        )
    )


def _electra() -> Any:
    torch.manual_seed(3)
    sizes = {
        "embedding_size": 16,
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
    }
    words = len(_vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]"))
    return _shaken(ElectraModel(ElectraConfig(vocab_size=words, **sizes)))


def _shaken(model: Any) -> Any:
    """Make the weights larger than fresh ones are, so that texts differ in more than noise."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "LayerNorm" not in name:
                weight.mul_(8)
    return model


def _vocabulary(*special: str) -> dict[str, int]:
    marks = string.ascii_letters + string.digits + string.punctuation
    return {
        piece: number
        for number, piece in enumerate([*special, *marks, *(f"##{mark}" for mark in marks)])
    }


def _word_pieces(*, roberta: bool = False, **options: Any) -> Any:
    start, pad, end, unknown = (
        ("<s>", "<pad>", "</s>", "<unk>") if roberta else ("[CLS]", "[PAD]", "[SEP]", "[UNK]")
    )
    words = (
        _vocabulary(start, pad, end, unknown) if roberta else _vocabulary(pad, unknown, start, end)
    )
    made = Tokenizer(models.WordPiece(words, unk_token=unknown, max_input_chars_per_word=400))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    second = 0 if roberta else 1
    made.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {end} $B:{second} {end}:{second}",
        special_tokens=[(start, words[start]), (end, words[end])],
    )
    made_of: Any = PreTrainedTokenizerFast
    return made_of(
        tokenizer_object=made,
        unk_token=unknown,
        pad_token=pad,
        cls_token=start,
        sep_token=end,
        model_max_length=64,
        **options,
    )


def _sentence_pieces() -> Any:
    special = ("<s>", "<pad>", "</s>", "<unk>")
    pieces = [piece.replace("##", "▁") for piece in _vocabulary(*special)]
    made = Tokenizer(models.Unigram([(piece, -2.0) for piece in pieces], unk_id=3))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made_of: Any = PreTrainedTokenizerFast
    return made_of(
        tokenizer_object=made,
        unk_token="<unk>",
        pad_token="<pad>",
        cls_token="<s>",
        sep_token="</s>",
        model_max_length=64,
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]))
