"""Prometheus metrics, counted in files that all processes of a data directory share.

Each process writes to the files of the first free slot. A slot outlives its process: who takes it
next counts on, so that no count ever falls and the files stay as many as processes run at once.
"""

import contextlib
import fcntl
import itertools
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from django.conf import settings
from prometheus_client import CollectorRegistry, Counter, Histogram, values
from prometheus_client.multiprocess import MultiProcessCollector

from kbsite.database import replicas
from transcripts.core import stages
from transcripts.core.stages import FinishedStage
from transcripts.core.work.disk import make_private_folder, write_whole

FOLDER: Final = Path(settings.DATA_DIR) / "metrics"
KINDS: Final = ("counter", "histogram")
RESERVED: Final = 4 * 1024**2  # bytes of a file; far more than our metrics need
FAST: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 600)


def _take_slot() -> int:
    """Return the first slot that no living process has. Its lock ends with this process."""
    make_private_folder(FOLDER)
    for slot in itertools.count():
        lock = os.open(FOLDER / f"{slot}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return slot
    raise AssertionError("there is always another slot")


def _is_readable(path: Path) -> bool:
    """Tell whether a file is whole: a power cut may have left half of a page."""
    with contextlib.suppress(Exception):
        MultiProcessCollector.merge([str(path)])
        with path.open("rb") as file:
            used = int.from_bytes(file.read(4), sys.byteorder, signed=True)
        return 0 <= used <= RESERVED <= path.stat().st_size
    return False


def _share_counts() -> None:
    with contextlib.suppress(OSError):  # a full disk: this process counts for itself
        slot = _take_slot()
        # They are mapped into memory, so they are written in full: where a full disk had no room
        # for a page, the process would die.
        for path in (FOLDER / f"{kind}_{slot}.db" for kind in KINDS):
            if not _is_readable(path):
                write_whole(path, bytes(RESERVED))
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(FOLDER)
        values.ValueClass = values.MultiProcessValue(lambda: slot)


_share_counts()
own = CollectorRegistry()  # of this process

REQUESTS: Final = Histogram(
    "cuebase_request_seconds",
    "Time from a request to the head of its response.",
    ("method", "route", "status"),
    registry=own,
    buckets=FAST,
)
STAGES: Final = Histogram(
    "cuebase_stage_seconds",
    "Time of a stage of some work: search, answer, lecture, model, mcp or task.",
    ("work", "stage", "outcome"),
    registry=own,
    buckets=FAST,
)
TOKENS: Final = Counter(
    "cuebase_model_tokens", "Tokens of language models.", ("model", "kind"), registry=own
)
READS: Final = Counter(
    "cuebase_reads", "Reads by the server of the database that answered.", ("server",), registry=own
)
COST: Final = Counter(
    "cuebase_model_cost",
    "Cost of language models by LLM_PRICES, in their currency.",
    ("model",),
    registry=own,
)


@cache
def watch(role: str) -> None:
    """Count the stages of this process, a "server" or a "worker", and trace it if configured.

    Call it before the first connection to the database, which is traced from its beginning.
    """
    stages.watchers.append(observe)
    replicas.watchers.append(lambda server: READS.labels(server).inc())
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:  # else its libraries would only cost time
        import_module("kbsite.telemetry.traces").start(role)


def observe(stage: FinishedStage) -> None:
    """Count a finished stage."""
    outcome = "failed" if stage.is_failed else "ok"
    STAGES.labels(stage.work, stage.name, outcome).observe(stage.seconds)
    for kind, count in stage.tokens.items():
        TOKENS.labels(stage.name, kind).inc(count)
    if stage.tokens and settings.LLM_PRICES:
        prices = dict(zip(("input", "cached", "output"), settings.LLM_PRICES, strict=True))
        cost = sum(prices[kind] * count for kind, count in stage.tokens.items())
        COST.labels(stage.name).inc(cost / 1_000_000)


def counted() -> CollectorRegistry:
    """Return the counts of all processes of this data directory."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return own
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(FOLDER))
    return registry
