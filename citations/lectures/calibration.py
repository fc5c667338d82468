"""Calibrate the distance beyond which a lecture cites nothing.

Off-topic talk has a nearest passage, too. How near depends on the model and on the size of what is
searched, which for a lecture is its collection. So off-topic talk is looked up in each collection
like the windows of a lecture, and the distance is set so that a given percentage of its windows
would be cited. The gate and the cross-encoder are not taken into account.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from citations.errors import NothingToCalibrate
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import window_analysis, windows
from citations.library.filters import ResolvedFilter
from citations.models import Chunk, Embedding, EmbeddingSpace
from citations.providers import registry
from citations.text import sentences
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import InvalidInput
from transcripts.models import Collection
from transcripts.sanitize import clean

FALSE_CITATIONS: Final = 5.0  # percent of the off-topic windows
DEFAULT_TALK: Final = Path(__file__).with_name("off_topic_talk.txt")
MIN_WINDOWS: Final = 20  # fewer do not show one in twenty
MAX_WINDOWS: Final = 2_000
MAX_TEXT: Final = 2_000_000  # characters
SAMPLED_CHUNKS: Final = 60  # to measure how many on-topic passages stay in resolved
SMALL: Final = 200  # chunks; such a collection changes quickly
MARGIN: Final = 1e-6  # the distance itself is too far


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceCalibration:
    """A calibrated squared L2 distance, 0 to 4, and how it was found.

    ``nearest_off_topic`` holds the minimum, 5th, 50th and 95th percentile of the distances.
    ``kept`` is the share of the collection's own passages with another passage within the
    distance; None if there is only one.
    """

    max_distance: float
    false_citations: float
    windows: int
    within: int  # off-topic windows that are cited nevertheless
    chunks: int
    nearest_off_topic: tuple[float, float, float, float]
    kept: float | None

    @property
    def is_small(self) -> bool:
        """Whether to calibrate again once the collection has grown."""
        return self.chunks < SMALL

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def calibrate(
    *, false_citations: float = FALSE_CITATIONS, off_topic: str = ""
) -> dict[str, DistanceCalibration]:
    """Set the distance of each collection so that this percentage of off-topic windows is cited;
    return the calibrations by slug.

    ``off_topic`` is the talk, in paragraphs; empty: a built-in text. Raises
    ``NothingToCalibrate``, ``InvalidInput``, and errors of the embedding model.
    """
    if not 0 <= false_citations <= 50:
        raise InvalidInput("False citations are a percentage from 0 to 50.")
    space = vector_space.active()
    collections = _embedded(space) if space else {}
    if space is None or not collections:
        raise NothingToCalibrate(
            "Nothing is embedded yet.",
            hint="Add documents or videos first; `kb status` shows their progress.",
        )
    embedder = vector_space.embedder_of(space)
    vectors = [embedder.embed_query(query) for query in _queries(_split_talk(off_topic))]
    calibrations = {
        collection: _measure(space, resolved, vectors, false_citations)
        for collection, resolved in collections.items()
    }
    space.calibrated_at = timezone.now()
    space.calibration = {
        str(key.pk): calibration.to_json() for key, calibration in calibrations.items()
    }
    space.save(update_fields=("calibrated_at", "calibration"))
    return {collection.slug: calibration for collection, calibration in calibrations.items()}


def forget() -> None:
    """Return to the distance of the settings."""
    space = vector_space.locked()
    if space is not None:
        space.calibrated_at, space.calibration = None, {}
        space.save(update_fields=("calibrated_at", "calibration"))


def threshold(distances: Sequence[float], false_citations: float) -> float:
    """Return the distance below which at most this percentage of ``distances`` lies."""
    ordered = sorted(distances)
    within = int(len(ordered) * false_citations / 100)
    return max(0.0, ordered[within] - MARGIN)


def _embedded(space: EmbeddingSpace) -> dict[Collection, ResolvedFilter]:
    """Return the collections with vectors, and what a lecture of each searches."""
    filters = {}
    for collection in Collection.objects.order_by("slug"):
        own = Embedding.objects.filter(space=space, source__collection=collection)
        if chunks := own.count():
            sources = frozenset(own.values_list("source", flat=True).distinct())
            filters[collection] = ResolvedFilter(sources=sources, chunks=chunks)
    return filters


def _measure(
    space: EmbeddingSpace,
    resolved: ResolvedFilter,
    vectors: Sequence[NDArray[np.float32]],
    false_citations: float,
) -> DistanceCalibration:
    distances = [_nearest(vector, space, resolved) for vector in vectors]
    max_distance = threshold(distances, false_citations)
    minimum, low, middle, high = (
        round(float(quantile), 4) for quantile in np.quantile(distances, (0, 0.05, 0.5, 0.95))
    )
    return DistanceCalibration(
        max_distance=max_distance,
        false_citations=false_citations,
        windows=len(distances),
        within=sum(distance <= max_distance for distance in distances),
        chunks=resolved.chunks,
        nearest_off_topic=(minimum, low, middle, high),
        kept=_share_kept(space, resolved, max_distance),
    )


def _split_talk(text: str) -> list[str]:
    """Split talk into windows, each paragraph separately."""
    if len(text) > MAX_TEXT:
        raise InvalidInput(f"The talk is longer than {MAX_TEXT:,} characters.")
    paragraphs = (
        clean(text, MAX_TEXT).split("\n\n")
        if text.strip()
        else DEFAULT_TALK.read_text(encoding="utf-8").split("\n\n")
    )
    texts = [window for paragraph in paragraphs for window in _windows(paragraph)][:MAX_WINDOWS]
    if len(texts) < MIN_WINDOWS:
        raise InvalidInput(
            f"The talk makes only {len(texts)} windows; at least {MIN_WINDOWS} are needed.",
            hint="Give about 2,000 words that have nothing to do with the library.",
        )
    return texts


def _windows(paragraph: str) -> list[str]:
    buffer, full = windows.feed(windows.Buffer(), [windows.Utterance(0, paragraph)])
    return [
        window.text
        for window in (*full, *windows.flush(buffer)[1])
        if windows.count_words(window.text) >= windows.MIN_WORDS
    ]


def _queries(texts: Sequence[str]) -> list[str]:
    """Phrase texts as the queries of a lecture's windows."""
    is_enriched = lecture_pipeline.FORM is lecture_pipeline.WindowQueryForm.ENRICHED
    extractor = registry.keywords() if is_enriched else None
    if extractor is None:
        return list(texts)
    keywords = [extractor.extract(text, count=window_analysis.TERMS) for text in texts]
    return list(map(lecture_pipeline.enriched, texts, keywords))


def _nearest(
    vector: NDArray[np.float32], space: EmbeddingSpace, resolved: ResolvedFilter, *, beside: int = 0
) -> float:
    """Return the distance to the nearest chunk other than ``beside``; 4, the maximum, if none."""
    hits = vector_search.search(vector, space=space, limit=2 if beside else 1, resolved=resolved)
    return next(
        (lecture_pipeline.distance_of(hit.cosine) for hit in hits if hit.chunk != beside), 4.0
    )


def _share_kept(
    space: EmbeddingSpace, resolved: ResolvedFilter, max_distance: float
) -> float | None:
    """Return the share of the collection's own passages that another one still finds."""
    if resolved.chunks < 2 or resolved.sources is None:
        return None
    embedder = vector_space.embedder_of(space)
    own = Chunk.objects.filter(embeddings__space=space, source__in=resolved.sources)
    chunks = own.order_by("digest")  # pseudo-random
    sample = list(chunks.values_list("pk", "text")[:SAMPLED_CHUNKS])
    queries = _queries([_excerpt(text) for _, text in sample])
    distances = [
        _nearest(embedder.embed_query(query), space, resolved, beside=pk)
        for (pk, _), query in zip(sample, queries, strict=True)
    ]
    return round(sum(distance <= max_distance for distance in distances) / len(distances), 3)


def _excerpt(text: str) -> str:
    """Return the first sentences, about as many as a window has."""
    for number, (_, stop) in enumerate(sentences.split(text), start=1):
        if number >= 3 or windows.count_words(text[:stop]) >= 60:
            return text[:stop].strip()
    return text.strip()
