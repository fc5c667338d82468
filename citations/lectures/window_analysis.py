"""Analyse the speech of windows: its embedding, whether it is on topic, its keywords.

Without the embedding model, gate and keywords are skipped.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, TypeVar

from django.db import InterfaceError, OperationalError

from citations import conf
from citations.errors import ModelError
from citations.lectures.stages import (
    EMBED_SPEECH,
    GATE,
    CitableSources,
    Decision,
    Vector,
    WindowSpeech,
    timed,
)
from citations.models import Window, WindowOutcome
from citations.providers import registry
from citations.providers.topic_gate import Head

logger = logging.getLogger(__name__)
T = TypeVar("T")

TERMS: Final = 5  # keywords of a window


@timed(EMBED_SPEECH)
def embed_speech(windows: Sequence[CitableSources]) -> list[WindowSpeech]:
    """Embed the speech for the gate and the keywords."""
    vectors = _embed_texts([citable.window.text for citable in windows])
    return [
        WindowSpeech(
            window=citable.window, stages=citable.stages, resolved=citable.resolved, vector=vector
        )
        for citable, vector in zip_longest(windows, vectors)
    ]


def drop_off_topic(windows: Sequence[WindowSpeech]) -> list[WindowSpeech | Decision]:
    """Let the gate decide which windows are off-topic."""
    if all(speech.vector is None for speech in windows):
        return [*windows]
    gate = _load(registry.gate)
    return _classify(windows, gate, limit=conf.live_off_topic()) if gate else [*windows]


@timed(GATE)
def _classify(
    windows: Sequence[WindowSpeech], gate: Head, *, limit: float
) -> list[WindowSpeech | Decision]:
    return [_classified(speech, gate, limit) for speech in windows]


def _classified(speech: WindowSpeech, gate: Head, limit: float) -> WindowSpeech | Decision:
    if speech.vector is None:
        return speech
    try:
        off_topic = gate.off_topic(speech.vector)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("Window %s of lecture %s", speech.window.index, speech.window.session_id)
        return replace(speech, notes=("The gate failed: off-topic talk may be cited.",))
    if off_topic <= limit:
        return replace(speech, off_topic=off_topic)
    return Decision(
        window=speech.window,
        stages=speech.stages,
        outcome=WindowOutcome.OFF_TOPIC,
        off_topic=off_topic,
    )


def find_keywords(window: Window, vector: Vector) -> list[str]:
    """Extract keywords. Errors are logged and leave a window without keywords."""
    extractor = _load(registry.keywords)
    if extractor is None:
        return []
    language = window.session.language or "en"
    try:
        return extractor.extract(window.text, vector=vector, language=language, count=TERMS)
    except Exception:
        logger.exception("Window %s of lecture %s has no keywords", window.index, window.session_id)
        return []


def _embed_texts(texts: Sequence[str]) -> Sequence[Vector]:
    try:
        model = registry.live_encoder() if texts else None
        return list(model.embed_documents(texts)) if model else []
    except ModelError as error:
        logger.warning("Lectures run without gate and keywords: %s %s", error.message, error.hint)
    except Exception:
        logger.exception("Lectures run without gate and keywords")
    return []


def _load(model: Callable[[], T | None]) -> T | None:
    """Load a model; None if it is unavailable."""
    try:
        return model()
    except ModelError as error:
        logger.warning("Lectures run without a model: %s %s", error.message, error.hint)
        return None
