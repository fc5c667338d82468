"""Who speaks where in a transcript whose captions name speakers. Pure."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Final, NamedTuple

from transcripts.text.cues import LOWER

MIN_TURNS: Final = 2  # turns of each of two speakers: a word before colons names nobody
# “Ann Lee:”, “PhD D:”, “Dr. Lee:”, “MAN #2:”. Another word before a full stop ends the sentence
# before it. The last word begins with no small letter, but for “Anne d'Arcy:”: “The reason is
# simple:” names nobody.
_WORD: Final = r"(?:(?:Dr|Hon|Mr|Ms|Mrs|Prof|St|[A-Z])\.|#\d+|[\w'’-]+)"
_NAME: Final = rf"(?=[^\W\d_{LOWER}]){_WORD}(?:(?: {_WORD}){{0,2}} (?![{LOWER}](?!['’])){_WORD})?"
LABEL: Final = re.compile(rf"(?:^|(?<=\s))(?:>>\s*)?{_NAME}:(?=\s)")  # before what somebody says
_ANY_LABEL: Final = re.compile(  # looks ahead: of “is Ann Lee:”, each word may begin a name
    rf"(?<!\S)(?=(?P<turn>>>)\s*(?:({_NAME}):\s)?|({_NAME}):\s)"
)
_END: Final = '.!?…"”)]'  # marks behind which somebody else may begin


class SpeakerTurn(NamedTuple):
    """Where somebody begins to speak."""

    start: int
    name: str  # "" of somebody without a name


class Turns:
    """The turns of a transcript, in order, and where else somebody may begin to speak.

    Attributes:
        labels: The characters at which ">>" or a name stands, though the name comes once.
        starts: Those at which the turns begin; none where only one speaker is named.
    """

    def __init__(self, text: str, cues: Sequence[int] = ()) -> None:
        """Read a text whose cues begin at the characters ``cues``, in order."""
        labels = list(_labels(text, cues))
        self.labels: Set[int] = {label.start for label in labels}
        counts = Counter(label.name for label in labels if label.name)
        speakers = {name for name, count in counts.items() if count >= MIN_TURNS}
        turns = [label for label in labels if not label.name or label.name in speakers]
        self._turns = turns if len(speakers) > 1 else []
        self.starts = [turn.start for turn in self._turns]

    def turn_at(self, position: int) -> SpeakerTurn:
        """Return whose turn a character is in; without a name if nobody is named for it."""
        number = bisect_right(self.starts, position) - 1
        return self._turns[number] if number >= 0 else SpeakerTurn(0, "")

    @property
    def names(self) -> frozenset[str]:
        """Return who speaks."""
        return frozenset(turn.name for turn in self._turns if turn.name)

    @property
    def nbytes(self) -> int:
        return 100 * (len(self._turns) + len(self.labels))

    def has_single_speaker(self, first: int, last: int) -> bool:
        """Tell whether nobody else begins to speak between two characters."""
        return bisect_right(self.starts, first) == bisect_left(self.starts, last)


def begins_turn(sentence: str, text: str) -> bool:
    """Tell whether a sentence begins with a speaker: “Ann Lee:”, whom the text around it names
    again, or with whom it names somebody else. “Note:” hardly comes twice.
    """
    named = [label for label in _labels(f"{sentence} ") if label.start == 0 and label.name]
    return bool(named) and sum(bool(label.name) for label in _labels(text)) > 1


def label_length(text: str, speaker: str) -> int:
    """Return how many characters of a text name who says it, before the speech; 0 if none do."""
    label = re.match(rf"\s*(?:>>\s*)?{re.escape(speaker)}:\s+(?=\S)", text) if speaker else None
    return label.end() if label else 0


def _labels(text: str, cues: Sequence[int] = ()) -> Iterator[SpeakerTurn]:
    """Yield where somebody may begin to speak: at ">>", or where a sentence or cue begins with a
    name. A name ends in the cue in which it begins.
    """
    end = 0  # of the name before: “Hon. Ann Lee:” is one
    for match in _ANY_LABEL.finditer(text):
        start, stop = match.start(), max(match.end(2), match.end(3))
        is_whole = start >= end and bisect_right(cues, start) >= bisect_left(cues, stop)
        name = (match[2] or match[3] or "") if is_whole else ""
        before = text[max(0, start - 2) : start].rstrip()
        begins_cue = bisect_left(cues, start) < bisect_right(cues, start)
        if match["turn"] or (name and (begins_cue or not before or before[-1] in _END)):
            yield SpeakerTurn(start, name)
            end = max(end, stop)
