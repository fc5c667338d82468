"""A model's weights become a graph for OpenVINO, once; the result is kept in the folder of models. Torch is needed for that alone."""

import hashlib
import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

from citations import conf
from citations.providers import weights
from citations.providers.inference import openvino

GRAPH = "model.xml"
CONFIGS = ("config.json", "modules.json", "1_Pooling/config.json")
VERSION = 1  # of what this module makes


def converted(folder: Path, *, head: str) -> Path:
    """Return the graph of the model in ``folder``, made now if need be. ``head`` is "vector" or "logits"."""
    kept = conf.models_dir() / _key(folder, head)
    if not (kept / GRAPH).is_file():
        _keep(_graph(folder, head=head), kept)
    return kept / GRAPH


def _key(folder: Path, head: str) -> str:
    parts = [str(VERSION), openvino().__version__, head, weights.digest(folder / weights.FILE)]
    parts += [(folder / name).read_text() for name in CONFIGS if (folder / name).is_file()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _keep(graph: Any, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        openvino().save_model(graph, made / GRAPH, compress_to_fp16=False)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    except OSError:
        if not (folder / GRAPH).is_file():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _graph(folder: Path, *, head: str) -> Any:
    import torch
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder
    from transformers import AutoModel

    class Pooled(torch.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            kept = attention_mask.unsqueeze(-1).to(hidden.dtype)
            return torch.nn.functional.normalize((hidden * kept).sum(1) / kept.sum(1).clamp(min=1e-9), dim=-1)

    model = AutoModel.from_pretrained(str(folder), attn_implementation="sdpa", local_files_only=True).eval()
    ids = torch.full((2, 7), 5)
    mask = torch.ones_like(ids)
    mask[1, 5:] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decoder = TorchScriptPythonDecoder(Pooled(model), example_input={"input_ids": ids, "attention_mask": mask})
        frontend = FrontEndManager().load_by_framework("pytorch")
        return frontend.convert(frontend.load(decoder))
