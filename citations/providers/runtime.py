"""The libraries that run models, loaded so that nothing is sent to their makers."""

import os
import sys
from functools import cache
from typing import Any

# Read by the libraries when they are imported, so it stands where all of them come from.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault(
    "HF_HUB_VERBOSITY", "error"
)  # it writes past the bar of a download; what it gives up on is told
os.environ.setdefault(
    "TOKENIZERS_PARALLELISM", "false"
)  # a call has the threads that MODEL_THREADS gives it, and processes may be forked


@cache
def openvino() -> Any:
    """Import OpenVINO without its converter, which would report the import to its maker; the package is made to go on without it."""
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
    import openvino as found

    return found
