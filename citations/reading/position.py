"""The position at which a transcript is opened: a match, a sentence, or a moment."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Final

from citations.reading.spoken_text import SentenceMatches
from citations.reading.transcript import TranscriptText

Span = tuple[int, int]  # characters [first, last)

CLIP: Final = 20_000  # ms that a clip lasts, or a little more, where nothing is marked
MAX_DISTANCE: Final = 15 * 60_000  # ms between a sentence and the moment of its link, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where to open a transcript, in ms, and what to mark there.

    ``begin`` is None for the start. ``latest`` is the last millisecond that is meant: a whole
    second is rounded. ``number`` is the match (from 1) that is marked; of no match, ``previous``
    and ``next`` are those before and after the position.
    """

    begin: int | None = None
    latest: int = 0
    until: int | None = None
    marked: Span | None = None
    matches: SentenceMatches = SentenceMatches()
    number: int | None = None
    previous: int | None = None
    next: int | None = None

    @property
    def from_ms(self) -> int:
        return self.begin or 0

    @property
    def media_fragment(self) -> str:
        """Where a media file is to begin and end, as browsers read it in an address."""
        if self.begin is None:
            return ""
        end = f",{self.until / 1000:.3f}" if self.until else ""
        return f"#t={self.begin / 1000:.3f}{end}"


def find_position(
    text: TranscriptText,
    *,
    query: str = "",
    number: int | None = None,
    span: Span | None = None,
    moment: float | None = None,
    until: float | None = None,
    near: int | None = None,
) -> Position:
    """Return the position of match ``number``, of ``span``, of ``moment`` (s), or else of the first
    match after ``near`` (ms); ``until`` ends a clip.

    Characters that are not said near ``moment`` are of an earlier transcript, and ignored.
    """
    matches = text.find(query) if query else SentenceMatches()
    if number is None and span is None and moment is None and matches.numbers:
        starts = [text.sentences[each].start for each in matches.numbers]
        number = bisect_left(starts, near or 0) % len(starts) + 1
    if number is not None and matches.numbers:
        number = min(number, len(matches.numbers))
        sentence = text.sentences[matches.numbers[number - 1]]
        return _at(text, matches, sentence.start, (sentence.first, sentence.last))
    begin = near if moment is None else round(moment * 1000)
    if span and span[1] <= len(text.text):
        start = text.time_at(span[0])
        if begin is None or abs(start - begin) <= MAX_DISTANCE:
            return _at(text, matches, start, span)
    if begin is None:
        return Position(matches=matches, next=1 if matches.numbers else None)
    end = None if until is None or until * 1000 <= begin else round(until * 1000)
    marked = text.span_between(begin, end) if end else None
    latest = begin + (999 if float(moment or 0).is_integer() else 0)
    return _at(text, matches, begin, marked, latest=latest, until=end)


def clip_at(text: TranscriptText, position: Position) -> Span | None:
    """Return from when until when (ms) a clip of a position is, in whole sentences: those of what
    is marked or meant, else of the next ``CLIP``. None where nothing is said.
    """
    if not text.sentences:
        return None
    if position.until is not None:
        ends = (position.latest, max(position.until - 1, position.latest))
        first, last = (text.sentences[text.sentence_at_time(ms)] for ms in ends)
        return first.start, last.end
    if position.marked:
        marked = [text.sentence_at(place) for place in (position.marked[0], position.marked[1] - 1)]
        return text.sentences[marked[0]].start, text.sentences[marked[1]].end
    start = text.sentences[text.sentence_at_time(position.latest)].start
    later = (sentence.start for sentence in text.sentences if sentence.start >= start + CLIP)
    return start, next(later, max(text.duration, start + 1))


def _at(
    text: TranscriptText,
    matches: SentenceMatches,
    begin: int,
    marked: Span | None,
    *,
    latest: int | None = None,
    until: int | None = None,
) -> Position:
    sentence = text.sentence_at(marked[0]) if marked else text.sentence_at_time(begin)
    before = bisect_left(matches.numbers, sentence)
    after = bisect_right(matches.numbers, sentence)
    return Position(
        begin=begin,
        latest=begin if latest is None else latest,
        until=until,
        marked=marked,
        matches=matches,
        number=after if after > before else None,
        previous=before or None,
        next=after + 1 if after < len(matches.numbers) else None,
    )
