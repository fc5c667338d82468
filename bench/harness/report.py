"""Figures as Markdown, and the sections of bench/RESULTS.md."""

import re
import statistics
import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from harness.environment import ROOT

RESULTS = ROOT / "bench" / "RESULTS.md"
EMPTY = "# Benchmarks\n\nEach section is written by the command that it names.\n"


def percentile(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, round(0.95 * len(values)))]


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Write median and 95th percentile."""
    return f"{statistics.median(values):.{digits}f} / {percentile(values):.{digits}f}"


def ratio(values: Sequence[float], ground: Sequence[float]) -> str:
    """Write how many times the median of ``ground`` the median of values is."""
    return f"×{statistics.median(values) / statistics.median(ground):.1f}"


def share(values: Sequence[bool] | NDArray[np.bool_], digits: int = 0) -> str:
    """Write how many are true, in percent."""
    return f"{sum(values) / len(values):.{digits}%}" if len(values) else "–"


def dotted(values: Iterable[float]) -> str:
    """Write shares in one cell."""
    return " · ".join(f"{value:.3f}" for value in values)


def row(*cells: object) -> str:
    """Write a row; whole numbers with commas."""
    shown = (f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
    return f"| {' | '.join(shown)} |"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1) -> str:
    """Write a table; all columns but the first ``left`` are aligned to the right."""
    marks = ["---"] * left + ["---:"] * (len(heads) - left)
    return "\n".join([row(*heads), f"|{'|'.join(marks)}|", *(row(*cells) for cells in rows)])


def publish(title: str, *parts: str) -> None:
    """Print a section of paragraphs, lists and tables, and replace or append it in the results."""
    report = "\n\n".join([f"## {title}", *map(wrapped, parts)])
    print(report)
    before = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else EMPTY
    sections = re.split(r"(?m)^(?=## )", before)
    kept = [part.rstrip() for part in sections if not part.startswith(f"## {title}\n")]
    RESULTS.write_text("\n\n".join([*filter(None, kept), report]) + "\n", encoding="utf-8")


def wrapped(part: str) -> str:
    """Wrap a paragraph at 100 columns; leave headings, tables and lists."""
    if part.lstrip()[:1] in ("#", "|", "-", ""):
        return part
    text = " ".join(part.split())
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)
