"""The chapters of a recording: its own, or else the parts of its outline."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from citations.models import Source
from citations.outline import storage as outline_storage
from citations.reading.spoken_text import SpokenText
from transcripts.models import Video

FIRST: Final = 2  # sentences that tell what a chapter is about where the outline does not


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingChapter:
    """A chapter; times are ms, ``summary`` is what it is about."""

    start: int
    length: int
    title: str
    summary: str = ""


def of(
    video: Video, source: Source | None, text: SpokenText, *, duration: int
) -> list[RecordingChapter]:
    """Return the chapters in order; none before the outline is made."""
    parts = outline_storage.outline(source).parts if source else ()
    summaries = {part.start or 0: part.summary for part in parts}
    titles = {int(start): str(title) for start, title in video.chapters} or {
        part.start or 0: part.title for part in parts
    }
    borders = [*sorted(titles), max(duration, max(titles, default=0))]
    return [
        RecordingChapter(
            start=start,
            length=stop - start,
            title=titles[start],
            summary=next(_within(summaries, start, stop), "") or _first_sentences(text, start),
        )
        for start, stop in pairwise(borders)
    ]


def _within(summaries: dict[int, str], start: int, stop: int) -> Iterator[str]:
    return (summaries[moment] for moment in sorted(summaries) if start <= moment < stop)


def _first_sentences(text: SpokenText, start: int) -> str:
    first = text.sentence_at_time(start)
    sentences = text.sentences[first : first + FIRST]
    return text.text[sentences[0].first : sentences[-1].last].strip() if sentences else ""
