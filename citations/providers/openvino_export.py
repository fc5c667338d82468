"""Converts a model to an OpenVINO graph, pooling included, in a process of its own.

``python -m citations.providers.openvino_export FOLDER HEAD OUT``: FOLDER has the weights, HEAD is
``vector`` or ``logits``, OUT is the graph's file. A graph is built from the weights, or traced in
torch if the architecture is another one and torch is installed. Exit code 3 means that the model
cannot be converted; the last line of the error output says why.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from citations.providers import openvino_graph
from citations.providers.openvino_graph import UnknownArchitecture
from citations.providers.runtime import UNCONVERTIBLE, openvino


def convert_model(folder: Path, head: str) -> Any:
    """Return the graph of a model. Raises any error."""
    try:
        return openvino_graph.build(folder, head)
    except UnknownArchitecture:
        if find_spec("transformers") is None:
            raise
    from citations.providers import openvino_tracing

    return openvino_tracing.convert_model(folder, head)


if __name__ == "__main__":
    try:
        model = convert_model(Path(sys.argv[1]), sys.argv[2])
    except MemoryError:
        raise
    except Exception as reason:  # noqa: BLE001  a model may fail in any way
        print(" ".join(f"{type(reason).__name__}: {reason}".split())[:500], file=sys.stderr)
        sys.exit(UNCONVERTIBLE)
    # Outside the try: a full disk is not the model's fault.
    openvino().save_model(model, Path(sys.argv[3]), compress_to_fp16=False)
