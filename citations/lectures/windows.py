"""Group speech into windows of two or three whole sentences that overlap by one. Pure.

The sender's numbers define the order; of repeated numbers, the first utterance counts. A missing
one is awaited until ``PATIENCE`` later ones have arrived. If it still arrives, it is placed by its
number, or, if windows already cover that, at the earliest free place: no word is lost, and only the
overlapping sentence occurs twice.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from citations.text import sentences

MIN_WORDS: Final = 30  # a shorter window waits for more sentences
ENOUGH_WORDS: Final = 50  # two sentences of so many are a window; shorter ones wait for the third
MAX_WORDS: Final = 150
MAX_SENTENCES: Final = 3
PATIENCE: Final = 5  # later utterances that end the wait for a missing one

_MAX_RANGES = 400  # of known numbers; with more gaps, very late utterances are ignored


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of speech. The sender's ``number`` defines the order; times in ms or None."""

    number: int
    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class SpeechWindow:
    """A window: ``first`` and ``last`` are numbers of utterances; times in ms, None if unknown."""

    index: int
    text: str
    first: int
    last: int
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """The state between two windows."""

    index: int = 0  # of the next window
    overlap: tuple[Utterance, ...] = ()  # the last sentence of the previous window
    fresh: tuple[Utterance, ...] = ()  # not in a window yet, in order
    reached: int = -1  # the highest number in a window
    seen: tuple[tuple[int, int], ...] = ()  # ranges of known numbers, inclusive

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> "Buffer":
        """Restore a buffer from ``to_json``; an empty mapping makes an empty buffer."""
        return cls(
            index=state.get("index", 0),
            overlap=tuple(Utterance(**values) for values in state.get("overlap", ())),
            fresh=tuple(Utterance(**values) for values in state.get("fresh", ())),
            reached=state.get("reached", -1),
            seen=tuple((first, last) for first, last in state.get("seen", ())),
        )

    @property
    def following(self) -> int:
        """The number after the highest known one."""
        return self.seen[-1][1] + 1 if self.seen else 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def feed(buffer: Buffer, utterances: Iterable[Utterance]) -> tuple[Buffer, list[SpeechWindow]]:
    """Add utterances; return the new buffer and the completed windows. Linear time."""
    buffer = _insert(buffer, utterances)
    return _make_windows(buffer, _count_ready(buffer), is_last=False)


def flush(buffer: Buffer) -> tuple[Buffer, list[SpeechWindow]]:
    """Make windows of all the rest, whatever is missing. Speech may go on afterwards."""
    return _make_windows(buffer, len(buffer.fresh), is_last=True)


def count_words(text: str) -> int:
    """Count words; in scripts without blanks, two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)

# Order

_Range = tuple[int, int]  # of numbers, inclusive


def _insert(buffer: Buffer, utterances: Iterable[Utterance]) -> Buffer:
    """Sort new utterances into the fresh ones; ignore known numbers."""
    new: dict[int, Utterance] = {}
    for utterance in utterances:
        position = bisect_right(buffer.seen, utterance.number, key=lambda range_: range_[0])
        if not (position > 0 and utterance.number <= buffer.seen[position - 1][1]):
            text = " ".join(utterance.text.split())
            new.setdefault(utterance.number, replace(utterance, text=text))
    spoken = (utterance for utterance in new.values() if utterance.text)
    fresh = sorted((*buffer.fresh, *spoken), key=lambda utterance: utterance.number)
    stretches = [*buffer.seen, *((number, number) for number in new)]
    ranges: list[_Range] = []
    for first, last in sorted(stretches):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    many = max(len(ranges) - _MAX_RANGES, 0)
    seen = ((ranges[0][0], ranges[many][1]), *ranges[many + 1 :]) if many else tuple(ranges)
    return replace(buffer, fresh=tuple(fresh), seen=seen)


def _count_ready(buffer: Buffer) -> int:
    """Count the fresh utterances before the first missing one that is still awaited."""
    reached = buffer.reached
    for index, utterance in enumerate(buffer.fresh):
        if len(buffer.fresh) - index < PATIENCE and _is_gap(buffer.seen, reached, utterance.number):
            return index
        reached = max(reached, utterance.number)
    return len(buffer.fresh)


def _is_gap(ranges: Sequence[_Range], before: int, after: int) -> bool:
    """Say whether a number between two known ones is missing. None is missing before the first."""
    first_of = next((first for first, last in ranges if first <= after <= last), after)
    return 0 <= before < first_of


# Windows

_Group = tuple[int, int]  # sentences [first, stop)


def _make_windows(
    buffer: Buffer, ready: int, *, is_last: bool
) -> tuple[Buffer, list[SpeechWindow]]:
    line = _Text((*buffer.overlap, *buffer.fresh[:ready]))
    spans = _sentences(line, len(buffer.overlap), is_last=is_last)
    shared = 1 if buffer.overlap else 0
    words = [count_words(line.text[start:stop]) for start, stop in spans]
    groups = _groups(words, shared, is_last=is_last)
    if not groups:
        return buffer, []
    windows = [
        _window(buffer.index + index, line.between(spans[first][0], spans[stop - 1][1]))
        for index, (first, stop) in enumerate(groups)
    ]
    start, stop = spans[groups[-1][1] - 1]
    rest = replace(
        buffer,
        index=buffer.index + len(windows),
        overlap=line.between(start, stop),
        fresh=(*line.between(stop, len(line.text)), *buffer.fresh[ready:]),
        reached=max(buffer.reached, *(window.last for window in windows)),
    )
    return rest, windows


def _groups(words: Sequence[int], shared: int, *, is_last: bool) -> list[_Group]:
    """Group sentences by word counts; the first ``shared`` are in the previous window, too."""
    groups: list[_Group] = []
    first, new = 0, shared  # first sentence of the window; first that is in no other
    for index in range(shared, len(words)):
        if index > new and sum(words[first : index + 1]) > MAX_WORDS:
            groups.append((first, index))
            first, new = index - 1, index
        if sum(words[first : index + 1]) > MAX_WORDS:
            first = index
        if _is_full(words[first : index + 1]):
            groups.append((first, index + 1))
            first, new = index, index + 1
    return [*groups, (first, len(words))] if is_last and new < len(words) else groups


def _is_full(words: Sequence[int]) -> bool:
    total = sum(words)
    return total >= MIN_WORDS and (
        len(words) >= MAX_SENTENCES or (len(words) == MAX_SENTENCES - 1 and total >= ENOUGH_WORDS)
    )


def _window(index: int, pieces: Sequence[Utterance]) -> SpeechWindow:
    numbers = [piece.number for piece in pieces]
    starts = [piece.start for piece in pieces if piece.start is not None]
    ends = [piece.end for piece in pieces if piece.end is not None]
    text = " ".join(piece.text for piece in pieces)
    return SpeechWindow(
        index, text, min(numbers), max(numbers), min(starts, default=None), max(ends, default=None)
    )


# Sentences

_UNDECIDED = re.compile(r"(?:\.\.|…)[\"'”’»)\]]*$")  # the sentence may continue


def _sentences(line: "_Text", overlap: int, *, is_last: bool) -> list[sentences.Span]:
    """Return the spans of whole sentences; the first one covers the first ``overlap`` pieces."""
    begin = line.starts[overlap] if overlap < len(line.starts) else len(line.text)
    pauses = {index - begin: pause for index, pause in line.pauses().items() if index > begin}
    spans = [
        (start + begin, stop + begin) for start, stop in sentences.split(line.text[begin:], pauses)
    ]
    if spans and not is_last and not _is_whole(line.text[spans[-1][0] :]):
        spans.pop()
    return [(0, begin), *spans] if overlap else spans


def _is_whole(text: str) -> bool:
    """Say whether a sentence is complete: not after “Dr.”, nor “no.”, which a number may follow."""
    text = text.rstrip()
    return not _UNDECIDED.search(text) and all(
        sentences.split(f"{text} {following}")[-1][0] == len(text) + 1 for following in ("Xy", "5")
    )


class _Text:
    """Pieces of speech joined by blanks."""

    def __init__(self, pieces: Sequence[Utterance]) -> None:
        self.pieces = pieces
        self.text = " ".join(piece.text for piece in pieces)
        self.starts: list[int] = []
        index = 0
        for piece in pieces:
            self.starts.append(index)
            index += len(piece.text) + 1

    def pauses(self) -> dict[int, int]:
        """Return known silences in ms, by the offset after each."""
        silences = {}
        for before, after, index in zip(
            self.pieces, self.pieces[1:], self.starts[1:], strict=False
        ):
            if before.end is not None and after.start is not None and after.start > before.end:
                silences[index] = after.start - before.end
        return silences

    def between(self, start: int, stop: int) -> tuple[Utterance, ...]:
        """Return the pieces that make up a span; the first and the last are shortened."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = bisect_right(self.starts, stop - 1)
        parts = (
            _part(self.pieces[index], start - self.starts[index], stop - self.starts[index])
            for index in range(first, last)
        )
        return tuple(part for part in parts if part.text)


def _part(piece: Utterance, start: int, stop: int) -> Utterance:
    """Shorten an utterance to a span of its characters, and its time in proportion."""
    length = len(piece.text)
    start, stop = max(start, 0), min(stop, length)
    text = piece.text[start:stop].strip()
    if piece.start is None or piece.end is None or (start == 0 and stop == length):
        return replace(piece, text=text)
    lasted = max(piece.end - piece.start, 0)
    return Utterance(
        piece.number,
        text,
        piece.start + lasted * start // length,
        piece.start + lasted * max(stop, start) // length,
    )
