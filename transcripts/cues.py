"""The cue, the unit of every transcript, and the grouping of cues by time. Times are whole milliseconds from the start of the video."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """One spoken word and the moment it starts."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Cue:
    """Text spoken from ``start`` to ``end`` (ms, end >= start); ``words`` where the format times them."""

    start: int
    end: int
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class CueGroup:
    """Neighbouring cues read as one: their texts joined by blanks, from the first cue's start to the last cue's end (ms)."""

    start: int
    end: int
    text: str
    first: int  # position of the first cue
    count: int


def group_by_time(cues: Sequence[Cue], seconds: int) -> list[CueGroup]:
    """Cut cues (in time order) into groups of about ``seconds``.

    A group starts at its first cue's start; a cue belongs to it while it starts within ``seconds`` of that. So a pause never makes an empty
    group, and the groups' borders follow the speech rather than the clock. This is the plugin's algorithm.
    """
    limit = seconds * 1000
    groups: list[CueGroup] = []
    first = 0
    for position, cue in enumerate(cues):
        if cue.start >= cues[first].start + limit:
            groups.append(_group(cues, first, position))
            first = position
    if cues:
        groups.append(_group(cues, first, len(cues)))
    return groups


def _group(cues: Sequence[Cue], first: int, stop: int) -> CueGroup:
    members = cues[first:stop]
    return CueGroup(
        start=members[0].start,
        end=members[-1].end,
        text=" ".join(cue.text for cue in members),
        first=first,
        count=len(members),
    )
