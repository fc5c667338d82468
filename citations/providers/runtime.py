"""Loads the model libraries so that they send nothing to their makers."""

import os
import sys
from functools import cache
from typing import Any

# The libraries read these when they are imported.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_VERBOSITY", "error")  # its log would garble progress bars
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # processes may be forked


@cache
def openvino() -> Any:
    """Import OpenVINO without its converter, which would report the import to its maker."""
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
    import openvino as module

    return module
