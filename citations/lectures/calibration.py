"""How near is near enough: the distance from which on a lecture cites nothing, found on the library itself.

Talk that has nothing to do with a library has a nearest passage, too. How near that is depends on the model, whose vectors may fill a narrow cone, and on
the library, for among many passages one is always somewhat near. So such talk is looked up as a window of a lecture is, and the distance is set so that
of a hundred of its windows only so many as are wanted would be cited. What the gate and the cross-encoder refuse besides is not counted.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
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
from citations.providers.embedding import Embedder
from citations.text import sentences
from citations.vectors import search as vector_search
from citations.vectors import space as vector_space
from transcripts.errors import InvalidInput
from transcripts.sanitize import clean

FALSE_CITATIONS: Final = 5.0  # of a hundred windows of talk about something else
OWN: Final = Path(__file__).with_name("asides.txt")  # talk about exams, weather and dogs
LEAST_WINDOWS: Final = 20  # fewer say nothing about one in twenty
MOST_WINDOWS: Final = 2_000
MOST_TEXT: Final = 2_000_000  # characters
COMPARED: Final = 60  # passages of the library that are looked up to see what the distance keeps
SMALL: Final = 200  # passages; a library that has fewer will soon be another one
EDGE: Final = 1e-6  # what lies exactly there is too far


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceCalibration:
    """A distance and how it was found: squared L2 distances, 0 to 4; ``nearest_off_topic`` is the least, the 5th, 50th and 95th percentile.

    ``kept`` is the share of the library's own passages that have another passage within that distance, None where there is only one.
    """

    max_distance: float
    false_citations: float
    windows: int
    within: int  # of the off-topic windows, how many are cited all the same
    chunks: int
    nearest_off_topic: tuple[float, float, float, float]
    kept: float | None

    @property
    def is_small(self) -> bool:
        """Whether the library is so small that it should be done again when it has grown."""
        return self.chunks < SMALL

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def calibrate(
    *, false_citations: float = FALSE_CITATIONS, off_topic: str = ""
) -> DistanceCalibration:
    """Set the distance of the space that is searched, so that of a hundred windows that have nothing to do with the library so many would be cited.

    ``off_topic`` is such talk, paragraph by paragraph; without it our own is used. Raises ``NothingToCalibrate``, ``InvalidInput``, and what embedding
    raises.
    """
    if not 0 <= false_citations <= 50:
        raise InvalidInput("The false citations of a hundred windows are a number from 0 to 50.")
    space = vector_space.active()
    chunks = Embedding.objects.filter(space=space).count() if space else 0
    if space is None or not chunks:
        raise NothingToCalibrate(
            "Nothing is embedded yet.",
            hint="Add documents or videos first; `kb status` shows how far they are.",
        )
    found = _measured(space, chunks, _talk(off_topic), false_citations)
    space.max_distance, space.calibrated_at, space.calibration = (
        found.max_distance,
        timezone.now(),
        found.to_json(),
    )
    space.save(update_fields=("max_distance", "calibrated_at", "calibration"))
    return found


def forget() -> None:
    """Go back to the distance of the settings."""
    space = vector_space.locked()
    if space is not None:
        space.max_distance, space.calibrated_at, space.calibration = None, None, {}
        space.save(update_fields=("max_distance", "calibrated_at", "calibration"))


def border(distances: Sequence[float], false_citations: float) -> float:
    """Return the distance up to which at most ``false_citations`` of a hundred of these lie."""
    ordered = sorted(distances)
    within = int(len(ordered) * false_citations / 100)
    return max(0.0, ordered[within] - EDGE)


def _measured(
    space: EmbeddingSpace, chunks: int, talk: Sequence[str], false_citations: float
) -> DistanceCalibration:
    embedder = vector_space.embedder_of(space)
    resolved = ResolvedFilter(sources=None, chunks=chunks)
    distances = [_nearest(vector, space, resolved) for vector in _vectors(embedder, _phrased(talk))]
    max_distance = border(distances, false_citations)
    least, low, middle, high = (
        round(float(one), 4) for one in np.quantile(distances, (0, 0.05, 0.5, 0.95))
    )
    return DistanceCalibration(
        max_distance=max_distance,
        false_citations=false_citations,
        windows=len(distances),
        within=sum(distance <= max_distance for distance in distances),
        chunks=chunks,
        nearest_off_topic=(least, low, middle, high),
        kept=_kept(space, resolved, embedder, max_distance),
    )


# Talk


def _talk(text: str) -> list[str]:
    """Cut talk into windows, each paragraph by itself."""
    if len(text) > MOST_TEXT:
        raise InvalidInput(f"The talk is too long: at most {MOST_TEXT:,} characters are read.")
    paragraphs = (
        clean(text, MOST_TEXT).split("\n\n")
        if text.strip()
        else OWN.read_text(encoding="utf-8").split("\n\n")
    )
    made = [window for paragraph in paragraphs for window in _windows(paragraph)][:MOST_WINDOWS]
    if len(made) < LEAST_WINDOWS:
        raise InvalidInput(
            f"That is too little talk: {len(made)} windows, at least {LEAST_WINDOWS} are needed.",
            hint="A text of 2,000 words that has nothing to do with the library will do.",
        )
    return made


def _windows(paragraph: str) -> list[str]:
    buffer, full = windows.feed(windows.Buffer(), [windows.Utterance(0, paragraph)])
    return [
        window.text
        for window in (*full, *windows.flush(buffer)[1])
        if windows.count_words(window.text) >= windows.LEAST_WORDS
    ]


def _phrased(texts: Sequence[str]) -> list[str]:
    """Say texts as a lecture's windows are looked up."""
    extractor = (
        registry.keywords()
        if lecture_pipeline.FORM is lecture_pipeline.WindowQueryForm.ENRICHED
        else None
    )
    return (
        [
            lecture_pipeline.enriched(text, extractor.extract(text, count=window_analysis.TERMS))
            for text in texts
        ]
        if extractor
        else list(texts)
    )


# Distances


def _vectors(embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    return [embedder.embed_query(text) for text in texts]


def _nearest(
    vector: NDArray[np.float32], space: EmbeddingSpace, resolved: ResolvedFilter, *, beside: int = 0
) -> float:
    """Return the distance to the nearest chunk but one; 4, the greatest there is, where there is none."""
    near = vector_search.search(vector, space=space, limit=2 if beside else 1, resolved=resolved)
    return next(
        (lecture_pipeline.distance_of(one.cosine) for one in near if one.chunk != beside), 4.0
    )


def _kept(
    space: EmbeddingSpace, resolved: ResolvedFilter, embedder: Embedder, max_distance: float
) -> float | None:
    """Say how many of the library's own passages would still be found from what stands in another one."""
    if resolved.chunks < 2:
        return None
    chosen = (
        Chunk.objects.filter(embeddings__space=space)
        .order_by("digest")
        .values_list("pk", "text")[:COMPARED]
    )  # as good as at random
    excerpts = [(pk, _excerpt(text)) for pk, text in chosen]
    made = zip(excerpts, _vectors(embedder, _phrased([text for _, text in excerpts])), strict=True)
    return round(
        sum(
            _nearest(vector, space, resolved, beside=pk) <= max_distance for (pk, _), vector in made
        )
        / len(excerpts),
        3,
    )


def _excerpt(text: str) -> str:
    """Return some sentences, as many as a window has, from the beginning."""
    spans = sentences.split(text)
    stop = next(
        (
            stop
            for (_, stop), number in zip(spans, count(1), strict=False)
            if number >= 3 or windows.count_words(text[:stop]) >= 60
        ),
        len(text),
    )
    return text[:stop].strip()
