"""Speech becomes windows: two or three whole sentences, the last of which begins the next window. Pure.

What the sender's numbers say is the order. An utterance that comes twice counts once, and the first of the two is kept. One that is missing is
waited for until ``PATIENCE`` others behind it are there; then speech goes on without it. If it comes after all, it stands where its number says, or,
where that has become a window already, at the earliest place that has not: no word is lost, and none is said twice but those of the sentence that two
windows share.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from citations.text import sentences

LEAST_WORDS: Final = 30  # what is shorter waits for more, however many sentences it has
ENOUGH_WORDS: Final = 50  # two sentences of so many are a window; shorter ones wait for the third
MOST_WORDS: Final = 150
MOST_SENTENCES: Final = 3
PATIENCE: Final = 5  # utterances that may come before one that is missing

_MOST_RANGES = (
    400  # of numbers seen; whoever leaves out more than that has what is very late ignored
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of speech, of any length. ``number`` is the sender's and orders them; ``start`` and ``end`` are ms, None where nobody knows."""

    number: int
    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class SpeechWindow:
    """What is looked up together. ``first`` and ``last`` are the numbers of its utterances; ``start`` and ``end`` are ms, None where nobody knows."""

    index: int
    text: str
    first: int
    last: int
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """What was said since the last window."""

    index: int = 0  # of the next window
    overlap: tuple[Utterance, ...] = ()  # the last sentence of the window before
    fresh: tuple[Utterance, ...] = ()  # what is in no window yet, in order
    reached: int = -1  # the highest number that is in a window
    seen: tuple[tuple[int, int], ...] = ()  # ranges of numbers that have come, both ends included

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> "Buffer":
        """Make the buffer that ``to_json`` wrote; an empty mapping is an empty buffer."""
        return cls(
            index=state.get("index", 0),
            overlap=tuple(Utterance(**one) for one in state.get("overlap", ())),
            fresh=tuple(Utterance(**one) for one in state.get("fresh", ())),
            reached=state.get("reached", -1),
            seen=tuple((first, last) for first, last in state.get("seen", ())),
        )

    @property
    def following(self) -> int:
        """The number after all that have come."""
        return self.seen[-1][1] + 1 if self.seen else 0

    def to_json(self) -> dict[str, Any]:
        """Return plain values that JSON has, too."""
        return asdict(self)


def feed(buffer: Buffer, utterances: Iterable[Utterance]) -> tuple[Buffer, list[SpeechWindow]]:
    """Take what was said; return the buffer as it is then, and the windows that are full. Takes linear time."""
    buffer = _taken(buffer, utterances)
    return _cut(buffer, _ready(buffer), is_last=False)


def flush(buffer: Buffer) -> tuple[Buffer, list[SpeechWindow]]:
    """Make windows of all that is left, whatever is missing and however short the last one becomes. Speech may go on afterwards."""
    return _cut(buffer, len(buffer.fresh), is_last=True)


def count_words(text: str) -> int:
    """Count words; in scripts that put no blanks between them two letters count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)

# What has come

_Range = tuple[int, int]  # of numbers, both ends included


def _taken(buffer: Buffer, utterances: Iterable[Utterance]) -> Buffer:
    """Put utterances in their places among those that are in no window yet, but those whose numbers have come before."""
    new: dict[int, Utterance] = {}
    for utterance in utterances:
        if not _has_come(buffer.seen, utterance.number):
            new.setdefault(
                utterance.number, replace(utterance, text=" ".join(utterance.text.split()))
            )
    said = (utterance for utterance in new.values() if utterance.text)
    fresh = sorted((*buffer.fresh, *said), key=lambda one: one.number)
    return replace(
        buffer,
        fresh=tuple(fresh),
        seen=_merged([*buffer.seen, *((number, number) for number in new)]),
    )


def _has_come(seen: Sequence[_Range], number: int) -> bool:
    place = bisect_right(seen, number, key=lambda one: one[0])
    return place > 0 and number <= seen[place - 1][1]


def _merged(seen: Sequence[_Range]) -> tuple[_Range, ...]:
    ranges: list[_Range] = []
    for first, last in sorted(seen):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    many = max(len(ranges) - _MOST_RANGES, 0)
    return ((ranges[0][0], ranges[many][1]), *ranges[many + 1 :]) if many else tuple(ranges)


def _ready(buffer: Buffer) -> int:
    """Count the fresh utterances before the first one that is still waited for."""
    reached = buffer.reached
    for place, utterance in enumerate(buffer.fresh):
        if len(buffer.fresh) - place < PATIENCE and _is_gap(buffer.seen, reached, utterance.number):
            return place
        reached = max(reached, utterance.number)
    return len(buffer.fresh)


def _is_gap(seen: Sequence[_Range], before: int, after: int) -> bool:
    """Say whether a number between two that have come has not. Nothing is missing before the very first."""
    first_of = next((first for first, last in seen if first <= after <= last), after)
    return 0 <= before < first_of


# Windows

_Group = tuple[int, int]  # sentences, from and to


def _cut(buffer: Buffer, ready: int, *, is_last: bool) -> tuple[Buffer, list[SpeechWindow]]:
    line = _Line((*buffer.overlap, *buffer.fresh[:ready]))
    spans = _sentences(line, len(buffer.overlap), is_last=is_last)
    shared = 1 if buffer.overlap else 0
    groups = _groups(
        [count_words(line.text[start:stop]) for start, stop in spans], shared, is_last=is_last
    )
    if not groups:
        return buffer, []
    windows = [
        _window(buffer.index + place, line.between(spans[first][0], spans[stop - 1][1]))
        for place, (first, stop) in enumerate(groups)
    ]
    start, stop = spans[groups[-1][1] - 1]
    left = replace(
        buffer,
        index=buffer.index + len(windows),
        overlap=line.between(start, stop),
        fresh=(*line.between(stop, len(line.text)), *buffer.fresh[ready:]),
        reached=max(buffer.reached, *(window.last for window in windows)),
    )
    return left, windows


def _groups(words: Sequence[int], shared: int, *, is_last: bool) -> list[_Group]:
    """Put sentences of so many words each together to windows. The first ``shared`` ones are in the window before, too."""
    groups: list[_Group] = []
    first, new = 0, shared  # the first sentence of the window, and the first that is in no other
    for place in range(shared, len(words)):
        if place > new and sum(words[first : place + 1]) > MOST_WORDS:
            groups.append((first, place))
            first, new = place - 1, place
        if sum(words[first : place + 1]) > MOST_WORDS:
            first = place
        if _is_full(words[first : place + 1]):
            groups.append((first, place + 1))
            first, new = place, place + 1
    return [*groups, (first, len(words))] if is_last and new < len(words) else groups


def _is_full(words: Sequence[int]) -> bool:
    total = sum(words)
    return total >= LEAST_WORDS and (
        len(words) >= MOST_SENTENCES or (len(words) == MOST_SENTENCES - 1 and total >= ENOUGH_WORDS)
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

_UNDECIDED = re.compile(r"(?:\.\.|…)[\"'”’»)\]]*$")  # the thought may go on in what is said next


def _sentences(line: "_Line", overlap: int, *, is_last: bool) -> list[sentences.Span]:
    """Return the spans of whole sentences; the first is that of the first ``overlap`` pieces, if there are any."""
    begin = line.starts[overlap] if overlap < len(line.starts) else len(line.text)
    pauses = {place - begin: pause for place, pause in line.pauses().items() if place > begin}
    spans = [
        (start + begin, stop + begin) for start, stop in sentences.split(line.text[begin:], pauses)
    ]
    if spans and not is_last and not _is_whole(line.text[spans[-1][0] :]):
        spans.pop()
    return [(0, begin), *spans] if overlap else spans


def _is_whole(text: str) -> bool:
    """Say whether a sentence is over, whatever comes next: not after “Dr.”, nor after “no.”, which a number may follow."""
    text = text.rstrip()
    return not _UNDECIDED.search(text) and all(
        sentences.split(f"{text} {following}")[-1][0] == len(text) + 1 for following in ("Xy", "5")
    )


class _Line:
    """Pieces of speech in one line, with a blank between them."""

    def __init__(self, pieces: Sequence[Utterance]) -> None:
        self.pieces = pieces
        self.text = " ".join(piece.text for piece in pieces)
        self.starts: list[int] = []
        place = 0
        for piece in pieces:
            self.starts.append(place)
            place += len(piece.text) + 1

    def pauses(self) -> dict[int, int]:
        """Return the silence in ms before the character at an offset, where it is known."""
        found = {}
        for before, after, place in zip(
            self.pieces, self.pieces[1:], self.starts[1:], strict=False
        ):
            if before.end is not None and after.start is not None and after.start > before.end:
                found[place] = after.start - before.end
        return found

    def between(self, start: int, stop: int) -> tuple[Utterance, ...]:
        """Return the pieces, the first and the last of them shortened, that the text from ``start`` to ``stop`` is made of."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = bisect_right(self.starts, stop - 1)
        parts = (
            _part(self.pieces[place], start - self.starts[place], stop - self.starts[place])
            for place in range(first, last)
        )
        return tuple(part for part in parts if part.text)


def _part(piece: Utterance, start: int, stop: int) -> Utterance:
    """Shorten an utterance to the characters from ``start`` to ``stop``, and its time in proportion."""
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
