"""Turns a model's weights into a graph that OpenVINO runs, pooling and all. Runs as a program of its own, so that torch leaves with it.

``python -m citations.providers.openvino_export FOLDER HEAD OUT``: FOLDER holds the weights, HEAD is ``vector`` or ``logits``, OUT is the file to write.
The exit code is 3 where the model cannot be converted, with the reason as the last line of the error output.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoModelForSequenceClassification
from transformers import logging as transformers_logging

from citations.providers.model_config import ModelConfig
from citations.providers.runtime import openvino

UNCONVERTIBLE = 3
SAMPLES = (
    (1, 3),
    (3, 11),
)  # (texts, tokens) to try the graph with: other shapes than the one it was traced with
CLOSE = 0.02  # of the largest value; a machine that computes with bfloat16 is within it, a wrong graph is not


def convert_model(folder: Path, head: str) -> Any:
    """Return the graph of a model, compared with torch. Raises whatever stands in the way."""
    torch.set_num_threads(1)
    blueprint = ModelConfig.read(folder)
    module = _module(folder, head, blueprint)
    graph = _traced(module, _inputs(blueprint, head, (2, 7)))
    compiled = openvino().Core().compile_model(graph, "CPU")
    for shape in SAMPLES:
        _compare(module, compiled, _inputs(blueprint, head, shape))
    return graph


class PooledEncoder(torch.nn.Module):
    """A model whose token vectors become one of length 1."""

    def __init__(self, inner: torch.nn.Module, pooling: str) -> None:
        super().__init__()
        self.inner = inner
        self.pooling = pooling

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        """Return vectors, shape (texts, dimensions)."""
        hidden = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        if self.pooling == "cls":
            return torch.nn.functional.normalize(hidden[:, 0], dim=-1)
        kept = attention_mask.unsqueeze(-1).to(hidden.dtype)
        return torch.nn.functional.normalize(
            (hidden * kept).sum(1), dim=-1
        )  # the length is lost anyway, so no division by the count


class PairScorerGraph(torch.nn.Module):
    """A model that says one number of a pair of texts."""

    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any = None) -> Any:
        """Return logits, shape (pairs, labels)."""
        kinds = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, **kinds).logits


def _module(folder: Path, head: str, blueprint: ModelConfig) -> torch.nn.Module:
    kind = AutoModel if head == "vector" else AutoModelForSequenceClassification
    model = kind.from_pretrained(
        str(folder),
        attn_implementation="sdpa",
        dtype=torch.float32,
        local_files_only=True,
        trust_remote_code=False,
    ).eval()
    return (
        PooledEncoder(model, blueprint.pooling) if head == "vector" else PairScorerGraph(model)
    ).eval()


def _inputs(blueprint: ModelConfig, head: str, shape: tuple[int, int]) -> dict[str, Any]:
    ids = torch.randint(5, 20, shape, generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1:, shape[1] // 2 :] = 0
    inputs = {"input_ids": ids.where(mask == 1, blueprint.pad), "attention_mask": mask}
    if head == "logits" and blueprint.segments:
        inputs["token_type_ids"] = torch.ones_like(ids) * (torch.arange(shape[1]) > 1) * mask
    return inputs


def _traced(module: torch.nn.Module, inputs: dict[str, Any]) -> Any:
    runtime = openvino()  # first: what is imported next would load all of it
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    frontend = FrontEndManager().load_by_framework("pytorch")
    decoder = TorchScriptPythonDecoder(
        module, example_input=inputs
    )  # held, since the next two work with what it points to
    loaded = frontend.load(decoder)
    graph = frontend.convert(loaded)
    for name in inputs:
        graph.input(name).get_node().set_partial_shape(runtime.PartialShape([-1, -1]))
    graph.validate_nodes_and_infer_types()
    return graph


def _compare(module: torch.nn.Module, compiled: Any, inputs: dict[str, Any]) -> None:
    with torch.no_grad():
        wanted = module(**inputs)
    got = torch.from_numpy(compiled({name: value.numpy() for name, value in inputs.items()})[0])
    if got.shape != wanted.shape or (got - wanted).abs().max() > CLOSE * wanted.abs().max().clamp(
        min=1e-3
    ):
        raise ValueError("the graph gives other numbers than the model")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        made = convert_model(Path(sys.argv[1]), sys.argv[2])
    except MemoryError:
        raise
    except Exception as reason:  # noqa: BLE001  a model of any kind may fail in any way; whoever asked goes another way then
        print(" ".join(f"{type(reason).__name__}: {reason}".split())[:500], file=sys.stderr)
        sys.exit(UNCONVERTIBLE)
    openvino().save_model(
        made, Path(sys.argv[3]), compress_to_fp16=False
    )  # a full disk is not the model's fault
