"""OpenVINO, loaded without the part of it that sends usage data."""

import sys
from functools import cache
from typing import Any


@cache
def openvino() -> Any:
    """Import OpenVINO. Its converter, which reports every import to its maker, stays out; the package goes on without it."""
    sys.modules.setdefault("openvino.tools.ovc", None)  # type: ignore[arg-type]
    import openvino as found

    return found
