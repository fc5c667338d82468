"""Finished stages of work, reported to observers: metrics and traces of servers and workers.

Nothing watches in a command, and no library for it is loaded here.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedStage:
    """A stage of some work, such as "lexical" of a "search", that ended just now."""

    work: str
    name: str
    seconds: float
    is_failed: bool = False
    tokens: Mapping[str, int] = field(default_factory=dict)  # of a model's call, by kind


watchers: list[Callable[[FinishedStage], None]] = []


def finish(work: str, name: str, *, milliseconds: float) -> None:
    """Tell that a stage ended well."""
    tell(FinishedStage(work=work, name=name, seconds=milliseconds / 1000))


def tell(stage: FinishedStage) -> None:
    for watch in watchers:
        watch(stage)


@contextmanager
def timed(work: str, name: str) -> Iterator[dict[str, int]]:
    """Time a block as a stage, failed if it raises; the block may fill in the tokens."""
    started, tokens, is_failed = perf_counter(), dict[str, int](), False
    try:
        yield tokens
    except Exception:  # not GeneratorExit: who reads a stream may stop
        is_failed = True
        raise
    finally:
        seconds = perf_counter() - started
        tell(
            FinishedStage(work=work, name=name, seconds=seconds, is_failed=is_failed, tokens=tokens)
        )
