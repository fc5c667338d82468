"""The cue, the unit of every transcript: its groups by time, and the names of who speaks in it.

Times are whole milliseconds from the start of the video. Captions write speakers before what is
said: “Speaker 0: Yes.”
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

LOWER: Final = "".join(filter(str.islower, map(chr, range(0x600))))  # Latin, Greek, Cyrillic
_LABEL: Final = r"(?P<before>^|[.!?…\"”)\]]\s+|>>\s*)(?P<name>{names})(?=:(?:\s|$))"


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word and the time at which it starts; who heard one may be unsure of it."""

    start: int
    text: str
    is_unsure: bool = False


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
    firsts: list[int] = []
    for position, cue in enumerate(cues):
        if not firsts or cue.start >= cues[firsts[-1]].start + seconds * 1000:
            firsts.append(position)
    return [
        CueGroup(
            start=cues[first].start,
            end=cues[stop - 1].end,
            text=" ".join(cue.text for cue in cues[first:stop]),
            first=first,
            count=stop - first,
        )
        for first, stop in pairwise([*firsts, len(cues)])
    ]


def named(cues: Iterable[Cue], names: Mapping[str, str]) -> list[Cue]:
    """Return cues in which speakers have other names: ``names`` maps old ones to new ones.

    The timed words of such a cue go without those that its label was made of.
    """
    change = renaming(names)
    labels = {"".join(f"{name}:".split()) for name in names}

    def without_label(words: tuple[Word, ...]) -> tuple[Word, ...]:
        beginning = ""
        for count, word in enumerate(words, start=1):
            beginning += word.text.strip()
            if beginning in labels:
                return words[count:]
        return words

    return [
        cue
        if (text := change(cue.text)) == cue.text
        else replace(cue, text=text, words=without_label(cue.words))
        for cue in cues
    ]


def renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what changes the names of speakers in a part of a transcript."""
    if not names:
        return str
    old_names = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    label = re.compile(_LABEL.format(names=old_names))
    return lambda text: label.sub(lambda match: match["before"] + names[match["name"]], text)


def renamed(names: Mapping[str, str], speaker: str, name: str) -> dict[str, str]:
    """Return the names by the labels of the file, once who is called ``speaker`` has a new one."""
    labels = [label for label, given in names.items() if given == speaker] or [speaker]
    changed = {**names, **dict.fromkeys(labels, name)}
    return {label: given for label, given in changed.items() if given != label}
