"""Analyse windows: the embedding of their speech, whether it is on topic, its keywords, and how
near passages are to what the windows before cited.

Without the embedding model, gate and keywords are skipped. A lecture stays in a section for
minutes. A passage near a recent citation may therefore be cited with weaker signs of its own, and
comes before an equal one elsewhere. The weights were chosen by ``bench/lectures.py`` on pairs of
lectures and books.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, NamedTuple, TypeVar

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
from citations.models import Citation, Window, WindowOutcome
from citations.passages import SignShare
from citations.providers import registry
from citations.providers.topic_gate import Head
from citations.search import judge
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance

logger = logging.getLogger(__name__)
T = TypeVar("T")

TERMS: Final = 5  # keywords of a window

WINDOWS: Final = 5  # previous ones that count
FADING: Final = 0.8  # of a window's weight, for the one before it
NEIGHBOURS: Final = 2  # passages on either side of a cited one that count like it
SECTION: Final = 0.5  # weight of the other passages of its section
ORDER: Final = 1.0  # added to the judge's sum at most
LIKELIHOOD: Final = 3.0  # added to the log-odds at most
FLOOR: Final = 0.8  # of the likelihood after that: three in four cited below it were wrong
SIGN: Final = "cited recently"


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


class RecentCitation(NamedTuple):
    """A passage that a previous window cited; ``age`` counts windows from 1."""

    age: int
    source: int
    ordinal: int
    heading: str


def recent_citations(window: Window) -> list[RecentCitation]:
    """Return what the windows before this one cited, without chunks that are gone."""
    cited = Citation.objects.filter(
        session=window.session_id,
        window_index__gte=window.index - WINDOWS,
        window_index__lt=window.index,
        chunk__isnull=False,
    )
    columns = ("window_index", "source_id", "chunk__ordinal", "chunk__heading")
    return [
        RecentCitation(window.index - index, *passage)
        for index, *passage in cited.order_by().values_list(*columns)
    ]


def nearness(candidate: Candidate, recent: Sequence[RecentCitation]) -> float:
    """Return how near a passage is to the recent citations: 0 to 1, for the last passage."""
    own = (citation for citation in recent if citation.source == candidate.source)
    weights = (FADING ** (cited.age - 1) * _closeness(candidate, cited) for cited in own)
    return max(weights, default=0.0)


def preferred(relevance: Relevance, near: float, *, model: str) -> Relevance:
    """Raise the relevance of a passage, which an embedding model found, by its nearness."""
    share = SignShare(SIGN, near, ORDER * near)
    floor = max(FLOOR, judge.trained(model).live.floor.least)
    return judge.raised(relevance, share, LIKELIHOOD * near, floor=floor)


def _closeness(candidate: Candidate, cited: RecentCitation) -> float:
    if abs(candidate.ordinal - cited.ordinal) <= NEIGHBOURS:
        return 1.0
    return SECTION if candidate.heading and candidate.heading == cited.heading else 0.0
