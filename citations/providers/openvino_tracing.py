"""Converts a model of any architecture to an OpenVINO graph, by tracing it in torch."""

import warnings
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoModelForSequenceClassification
from transformers import logging as transformers_logging

from citations.providers.model_config import ModelConfig
from citations.providers.runtime import openvino

SAMPLES = ((1, 3), (3, 11))  # (texts, tokens): other shapes than the traced one
TOLERANCE = 0.02  # of the largest value; bfloat16 stays below it, a wrong graph does not


def convert_model(folder: Path, head: str) -> Any:
    """Return the graph of a model after comparing it with torch. Raises any error."""
    warnings.simplefilter("ignore")
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    torch.set_num_threads(1)
    config = ModelConfig.read(folder)
    module = _module(folder, head, config)
    graph = _traced(module, _inputs(config, head, (2, 7)))
    compiled = openvino().Core().compile_model(graph, "CPU")
    for shape in SAMPLES:
        _compare(module, compiled, _inputs(config, head, shape))
    return graph


class PooledEncoder(torch.nn.Module):
    """A model with pooled token vectors, of length 1."""

    def __init__(self, inner: torch.nn.Module, pooling: str) -> None:
        super().__init__()
        self.inner = inner
        self.pooling = pooling

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        """Return vectors, shape (texts, dimensions)."""
        hidden = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        if self.pooling == "cls":
            return torch.nn.functional.normalize(hidden[:, 0], dim=-1)
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        # The sum has the direction of the mean.
        return torch.nn.functional.normalize((hidden * mask).sum(1), dim=-1)


class PairScorerGraph(torch.nn.Module):
    """A model that scores a pair of texts."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
        """Return logits, shape (pairs, labels)."""
        kinds = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, **kinds).logits


def _module(folder: Path, head: str, config: ModelConfig) -> torch.nn.Module:
    kind = AutoModel if head == "vector" else AutoModelForSequenceClassification
    model = kind.from_pretrained(
        str(folder),
        attn_implementation="sdpa",
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
    ).eval()
    return (
        PooledEncoder(model, config.pooling) if head == "vector" else PairScorerGraph(model)
    ).eval()


def _inputs(config: ModelConfig, head: str, shape: tuple[int, int]) -> dict[str, Any]:
    ids = torch.randint(5, 20, shape, generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1:, shape[1] // 2 :] = 0
    inputs = {"input_ids": ids.where(mask == 1, config.pad), "attention_mask": mask}
    if head == "logits" and config.segments:
        inputs["token_type_ids"] = torch.ones_like(ids) * (torch.arange(shape[1]) > 1) * mask
    return inputs


def _traced(module: torch.nn.Module, inputs: dict[str, Any]) -> Any:
    runtime = openvino()  # first, as the next imports would load all of it
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    frontend = FrontEndManager().load_by_framework("pytorch")
    # Referenced, as load and convert use its memory.
    decoder = TorchScriptPythonDecoder(module, example_input=inputs)
    loaded = frontend.load(decoder)
    graph = frontend.convert(loaded)
    for name in inputs:
        graph.input(name).get_node().set_partial_shape(runtime.PartialShape([-1, -1]))
    graph.validate_nodes_and_infer_types()
    return graph


def _compare(module: torch.nn.Module, compiled: Any, inputs: dict[str, Any]) -> None:
    with torch.no_grad():
        expected = module(**inputs)
    actual = torch.from_numpy(compiled({name: value.numpy() for name, value in inputs.items()})[0])
    if actual.shape != expected.shape or (
        actual - expected
    ).abs().max() > TOLERANCE * expected.abs().max().clamp(min=1e-3):
        raise ValueError("the graph's numbers differ from the model's")
