"""The cue, the unit of every transcript, and the grouping of cues by time.

Times are whole milliseconds from the start of the video.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word and the time at which it starts."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Cue:
    """Text spoken from ``start`` to ``end`` (ms, end >= start), with ``words`` where timed."""

    start: int
    end: int
    text: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class CueGroup:
    """Neighbouring cues joined by blanks, from the first cue's start to the last cue's end (ms)."""

    start: int
    end: int
    text: str
    first: int  # position of the first cue
    count: int


def group_by_time(cues: Sequence[Cue], seconds: int) -> list[CueGroup]:
    """Split cues (in time order) into groups of about ``seconds``.

    A group starts with its first cue. A cue belongs to it if it starts within ``seconds`` of it.
    A pause therefore never makes an empty group, and boundaries follow the speech rather than the
    clock. This is the plugin's algorithm.
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
