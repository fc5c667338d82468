"""What is said in windows: its vector, whether it is about the subject at all, and its keywords. Without the model for that, none of it is asked."""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final, TypeVar

from citations import conf
from citations.errors import ModelError
from citations.lectures.citation_storage import Vector, WindowRun, each, timed
from citations.models import WindowOutcome
from citations.providers import registry

logger = logging.getLogger(__name__)
T = TypeVar("T")

TERMS: Final = 5  # keywords of a window
SENSE, GATE, KEYWORDS = STAGES = ("sense", "gate", "keywords")


def make_sense(runs: Sequence[WindowRun]) -> None:
    """Embed what is said with the model that the gate and the keywords go by; without it, neither is asked."""
    with timed(SENSE, runs) as open_:
        for run, vector in zip(open_, _sense([run.window.text for run in open_]), strict=False):
            run.sense = vector


def leave_out_asides(runs: Sequence[WindowRun]) -> None:
    """Let the gate decide about asides."""
    gate = _there(registry.gate, runs)
    if gate is None:
        return
    limit = conf.live_off_topic()

    def look(run: WindowRun) -> None:
        if run.sense is None:
            return
        run.window.off_topic = gate.off_topic(run.sense)
        if run.window.off_topic > limit:
            run.decide(WindowOutcome.OFF_TOPIC)

    with timed(GATE, runs) as open_:
        each(
            open_,
            look,
            failing=lambda run: run.notes.append(
                "It was not asked whether this is about the subject."
            ),
        )


def find_keywords(runs: Sequence[WindowRun]) -> None:
    """Find the words that stand for what is said; what goes wrong is logged, and leaves a window without them."""
    extractor = _there(registry.keywords, runs)
    for run in runs:
        if extractor is None or run.sense is None:
            continue
        started = perf_counter()
        try:
            run.window.keywords = extractor.extract(
                run.window.text,
                vector=run.sense,
                language=run.window.session.language or "en",
                count=TERMS,
            )
        except Exception:
            logger.exception(
                "window %s of lecture %s has no keywords", run.window.index, run.window.session_id
            )
        run.window.stages[KEYWORDS] = round((perf_counter() - started) * 1000, 3)


def _sense(texts: Sequence[str]) -> Sequence[Vector]:
    try:
        model = registry.live_encoder() if texts else None
        return list(model.embed_documents(texts)) if model else []
    except ModelError as error:
        logger.warning("Lectures have neither gate nor keywords: %s %s", error.message, error.hint)
    except Exception:
        logger.exception("lectures have neither gate nor keywords")
    return []


def _there(model: Callable[[], T | None], runs: Sequence[WindowRun]) -> T | None:
    """Return a model that goes by the vectors of what is said; None where there are none, or it cannot be loaded."""
    try:
        return model() if any(run.sense is not None for run in runs) else None
    except ModelError as error:
        logger.warning("Lectures do without: %s %s", error.message, error.hint)
        return None
