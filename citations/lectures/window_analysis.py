"""Analyse the speech of windows: its embedding, whether it is on topic, its keywords.

Without the embedding model, gate and keywords are skipped.
"""

import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Final, TypeVar

from citations import conf
from citations.errors import ModelError
from citations.lectures.citation_storage import Vector, WindowRun, for_each, timed
from citations.models import WindowOutcome
from citations.providers import registry

logger = logging.getLogger(__name__)
T = TypeVar("T")

TERMS: Final = 5  # keywords of a window
SENSE, GATE, KEYWORDS = ("sense", "gate", "keywords")


def embed_speech(runs: Sequence[WindowRun]) -> None:
    """Embed the speech for the gate and the keywords."""
    with timed(SENSE, runs) as open_runs:
        vectors = _embed_texts([run.window.text for run in open_runs])
        for run, vector in zip(open_runs, vectors, strict=False):
            run.embedding = vector


def drop_off_topic(runs: Sequence[WindowRun]) -> None:
    """Let the gate decide which windows are off-topic."""
    gate = _load(registry.gate, runs)
    if gate is None:
        return
    limit = conf.live_off_topic()

    def classify(run: WindowRun) -> None:
        if run.embedding is None:
            return
        run.window.off_topic = gate.off_topic(run.embedding)
        if run.window.off_topic > limit:
            run.decide(WindowOutcome.OFF_TOPIC)

    with timed(GATE, runs) as open_runs:
        for_each(
            open_runs,
            classify,
            failing=lambda run: run.notes.append("The gate failed: off-topic talk may be cited."),
        )


def find_keywords(runs: Sequence[WindowRun]) -> None:
    """Extract keywords. Errors are logged and leave a window without keywords."""
    extractor = _load(registry.keywords, runs)
    for run in runs:
        if extractor is None or run.embedding is None:
            continue
        started = perf_counter()
        try:
            run.window.keywords = extractor.extract(
                run.window.text,
                vector=run.embedding,
                language=run.window.session.language or "en",
                count=TERMS,
            )
        except Exception:
            logger.exception(
                "Window %s of lecture %s has no keywords", run.window.index, run.window.session_id
            )
        run.window.stages[KEYWORDS] = round((perf_counter() - started) * 1000, 3)


def _embed_texts(texts: Sequence[str]) -> Sequence[Vector]:
    try:
        model = registry.live_encoder() if texts else None
        return list(model.embed_documents(texts)) if model else []
    except ModelError as error:
        logger.warning("Lectures run without gate and keywords: %s %s", error.message, error.hint)
    except Exception:
        logger.exception("Lectures run without gate and keywords")
    return []


def _load(model: Callable[[], T | None], runs: Sequence[WindowRun]) -> T | None:
    """Load a model if any window has an embedding; None if it is unavailable."""
    try:
        return model() if any(run.embedding is not None for run in runs) else None
    except ModelError as error:
        logger.warning("Lectures run without a model: %s %s", error.message, error.hint)
        return None
