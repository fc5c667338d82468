"""A time chunk of a transcript as it is read: lines or paragraphs, with marks and chapters; and the
chapters of a recording.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from citations.models import Source
from citations.outline import storage as outline_storage
from citations.passages import ColoredSpan, colored_within
from citations.reading.spoken_text import SpokenText
from citations.reading.transcript import TranscriptText
from citations.text import occurrences
from citations.text.occurrences import SearchTerm
from transcripts.models import Video

Span = tuple[int, int]  # characters [first, last)

EARLY: Final = 1_000  # ms: chapters are given in whole seconds, often by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A caption or a sentence; ``quote``, ``matches``, ``highlights`` and ``unsure`` words are
    characters of its text, which begins with the name of the ``speaker``, if there is one.
    """

    start: int  # ms
    text: str
    quote: tuple[Span, ...] = ()
    matches: tuple[Span, ...] = ()
    highlights: tuple[ColoredSpan, ...] = ()
    unsure: tuple[Span, ...] = ()
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenParagraph:
    """Lines under the chapter that begins with them, if one does."""

    lines: tuple[Line, ...]
    chapter: str = ""

    @property
    def start(self) -> int:
        return self.lines[0].start


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptPart:
    """A time chunk; times are ms. ``sentences`` are the starts of those that begin in it."""

    index: int
    count: int
    start: int
    end: int
    captions: tuple[SpokenParagraph, ...]
    paragraphs: tuple[SpokenParagraph, ...]
    sentences: tuple[int, ...]

    @property
    def previous(self) -> int | None:
        return self.index - 1 if self.index else None

    @property
    def next(self) -> int | None:
        return self.index + 1 if self.index + 1 < self.count else None


def part_of(
    text: TranscriptText,
    *,
    index: int,
    terms: Sequence[SearchTerm] = (),
    marked: Span | None = None,
    highlights: Sequence[ColoredSpan] = (),
    chapters: Sequence[tuple[int, str]] = (),
) -> TranscriptPart:
    """Return the time chunk of an index. Raises ``ChunkNotFound``."""
    chunk = text.chunk(index)
    first, last = chunk.span
    matches = occurrences.find(text.text[first:last], terms)
    marks = _Marks(text, marked, [(a + first, b + first) for a, b in matches], highlights)
    cues = text.cues[chunk.first : chunk.first + chunk.count]
    starts = [start - EARLY for start, _ in chapters]
    sentences = text.paragraphs(first, last, breaks=starts)
    lines = [
        (marks.line(cue.start, offset, offset + len(cue.text)),)
        for cue, offset in zip(cues, text.offsets[chunk.first :], strict=False)
    ]
    grouped = [
        tuple(marks.line(sentence.start, sentence.first, sentence.last) for sentence in paragraph)
        for paragraph in sentences
    ]
    before = text.cues[chunk.first - 1].start if chunk.first else -EARLY
    upcoming = [(start, title) for start, title in chapters if start - EARLY > before]
    return TranscriptPart(
        index=index,
        count=len(text.chunks),
        start=chunk.start,
        end=chunk.end,
        captions=tuple(_titled(lines, upcoming)),
        paragraphs=tuple(_titled(grouped, upcoming)),
        sentences=tuple(sentence.start for paragraph in sentences for sentence in paragraph),
    )


def paragraphs_of(
    text: TranscriptText, speaker: str, *, highlights: Sequence[ColoredSpan] = ()
) -> list[SpokenParagraph]:
    """Return what a speaker says, a paragraph a turn."""
    marks = _Marks(text, None, (), highlights)
    return [
        SpokenParagraph(
            lines=tuple(
                marks.line(sentence.start, sentence.first, sentence.last)
                for sentence in speech.sentences
            )
        )
        for speech in text.speeches
        if speech.name == speaker
    ]


def _titled(
    groups: Sequence[tuple[Line, ...]], chapters: Sequence[tuple[int, str]]
) -> Iterator[SpokenParagraph]:
    """Give each chapter's title to the first lines that begin with it or later."""
    waiting = [*reversed(chapters)]
    for lines in groups:
        title = ""
        while waiting and waiting[-1][0] - EARLY <= lines[0].start:
            title = waiting.pop()[1]
        yield SpokenParagraph(lines=lines, chapter=title)


@dataclass(frozen=True, slots=True)
class _Marks:
    text: TranscriptText
    marked: Span | None
    matches: Sequence[Span]
    highlights: Sequence[ColoredSpan]

    def line(self, start: int, first: int, last: int) -> Line:
        turn = self.text.turns.turn_at(first)
        return Line(
            start=start,
            text=self.text.text[first:last],
            speaker=turn.name if turn.start == first else "",
            quote=tuple(self._within([self.marked] if self.marked else [], first, last)),
            matches=tuple(self._within(self.matches, first, last)),
            highlights=colored_within(self.highlights, first, last),
            unsure=tuple(self._within(self._unsure(first, last), first, last)),
        )

    def _unsure(self, first: int, last: int) -> Sequence[Span]:
        unsure = self.text.unsure
        return unsure[bisect_left(unsure, (first, 0)) : bisect_left(unsure, (last, 0))]

    @staticmethod
    def _within(spans: Sequence[Span], first: int, last: int) -> Iterator[Span]:
        for start, stop in spans:
            if start < last and stop > first:
                yield max(0, start - first), min(last, stop) - first


FIRST: Final = 2  # sentences that tell what a chapter is about where the outline does not


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingChapter:
    """A chapter; times are ms, ``summary`` is what it is about."""

    start: int
    length: int
    title: str
    summary: str = ""


def chapters_of(
    video: Video, source: Source | None, text: SpokenText, *, duration: int
) -> list[RecordingChapter]:
    """Return the chapters in order; none before the outline is made."""
    parts = outline_storage.outline(source).parts if source else ()
    summaries = {part.start or 0: part.summary for part in parts}
    titles = {int(start): str(title) for start, title in video.chapters} or {
        part.start or 0: part.title for part in parts
    }
    chapters = []
    for start, stop in pairwise([*sorted(titles), max(duration, max(titles, default=0))]):
        inside = [moment for moment in sorted(summaries) if start <= moment < stop]
        summary = summaries[inside[0]] if inside else ""
        first = text.sentence_at_time(start)
        sentences = text.sentences[first : first + FIRST]
        if not summary and sentences:
            summary = text.text[sentences[0].first : sentences[-1].last].strip()
        chapters.append(
            RecordingChapter(start=start, length=stop - start, title=titles[start], summary=summary)
        )
    return chapters
