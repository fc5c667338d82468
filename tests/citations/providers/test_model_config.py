"""What a model's files say of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.weights import ModelConfig

CONFIG = {
    "model_type": "bert",
    "hidden_size": 8,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "type_vocab_size": 2,
}


def written(folder: Path, **files: Any) -> Path:
    """Write JSON files; ``__`` in a name is a folder, and ``config`` has a default."""
    for name, content in {"config": CONFIG, **files}.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def modules(*types: str) -> list[dict[str, str]]:
    """A list of modules, the second in ``1_Pooling``."""
    return [
        {
            "type": f"sentence_transformers.models.{kind}",
            "path": f"{number}_{kind}" if number else "",
        }
        for number, kind in enumerate(types)
    ]


def test_the_packaged_model_is_read_as_it_is_documented() -> None:
    config = ModelConfig.read(weights.find(weights.MINILM))
    assert (
        config.dimensions,
        config.max_tokens,
        config.pooling,
        config.pad,
        config.query,
        config.lower,
    ) == (384, 256, "mean", 0, "", False)


def test_a_model_without_modules_is_pooled_by_the_mean(tmp_path: Path) -> None:
    assert ModelConfig.read(written(tmp_path)).pooling == "mean"


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "max"}, ""),
        ({"pooling_mode": ["mean", "max"]}, ""),
        ({"pooling_mode_max_tokens": True}, ""),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, ""),
        ({}, ""),
    ],
)
def test_the_pooling_is_the_one_that_is_written_or_left_to_sentence_transformers(
    tmp_path: Path, pooling: dict[str, Any], expected: str
) -> None:
    folder = written(
        tmp_path,
        modules=modules("Transformer", "Pooling", "Normalize"),
        **{"1_Pooling__config": pooling},
    )
    assert ModelConfig.read(folder).pooling == expected


def test_a_model_with_further_layers_is_left_to_sentence_transformers(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        modules=modules("Transformer", "Pooling", "Dense"),
        **{"1_Pooling__config": {"pooling_mode": "mean"}},
    )
    assert ModelConfig.read(folder).pooling == ""


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"sentence_bert_config": {"max_seq_length": 200}}, 200),
        ({}, 512),
        ({"tokenizer_config": {"model_max_length": 384}}, 384),
        ({"tokenizer_config": {"model_max_length": 10**30}}, 512),
        (
            {
                "config": {
                    **CONFIG,
                    "model_type": "xlm-roberta",
                    "max_position_embeddings": 514,
                    "pad_token_id": 1,
                }
            },
            512,
        ),
    ],
)
def test_the_longest_text_is_what_the_model_and_its_tokenizer_take(
    tmp_path: Path, files: dict[str, Any], expected: int
) -> None:
    assert ModelConfig.read(written(tmp_path, **files)).max_tokens == expected


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ({"tokenizer_class": "BertTokenizer"}, True),
        ({}, True),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, False),
        (
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            },
            True,
        ),
        (
            {
                "tokenizer_class": "BertTokenizer",
                "model_input_names": ["input_ids", "attention_mask"],
            },
            False,
        ),
    ],
)
def test_segments_are_told_where_transformers_tells_them(
    tmp_path: Path, tokenizer: dict[str, Any], expected: bool
) -> None:
    assert ModelConfig.read(written(tmp_path, tokenizer_config=tokenizer)).segments is expected
    assert not ModelConfig.read(
        written(tmp_path, tokenizer_config=tokenizer, config={**CONFIG, "type_vocab_size": 1})
    ).segments


def test_prompts_are_read(tmp_path: Path) -> None:
    config = ModelConfig.read(
        written(
            tmp_path,
            config_sentence_transformers={"prompts": {"query": "ask: ", "passage": "say: "}},
        )
    )
    assert (config.query, config.document) == ("ask: ", "say: ")


@pytest.mark.parametrize(
    "config",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"hidden_size": "many"}',
        '{"hidden_size": null}',
        '{"hidden_size": Infinity}',
        "[[1]]",
        "[" * 100_000,
    ],
)
def test_what_is_no_model_is_told(tmp_path: Path, config: str) -> None:
    with pytest.raises(ModelError, match="not the folder of a readable model"):
        ModelConfig.read(written(tmp_path, config=config))
