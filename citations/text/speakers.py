"""Who speaks at a character of a transcript whose captions name speakers. Pure."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Final

FEWEST: Final = 2  # turns: a word before a single colon names nobody
# “Ann Lee:”, “PhD D:”, “Dr. Lee:”. A longer word before a full stop ends the sentence before it.
_WORD: Final = r"(?:[\w'’-]{1,3}\.|[\w'’-]+)"
_LABEL: Final = re.compile(
    rf"(?<!\S)(?:>>\s*)?(?P<name>(?=[^\W\d_a-z]){_WORD}(?: {_WORD}){{0,2}}):\s"
)


class Turns:
    """The turns of a transcript: where each begins, and who speaks."""

    def __init__(self, text: str) -> None:
        labels = _labels(text)
        counts = Counter(name for _, name in labels)
        turns = [turn for turn in labels if counts[turn[1]] >= FEWEST]
        self._starts: Sequence[int] = [start for start, _ in turns]
        self._names: Sequence[str] = [name for _, name in turns]

    def speaker_at(self, position: int) -> str:
        """Return who speaks at a character; "" before the first turn, or if nobody is named."""
        turn = bisect_right(self._starts, position) - 1
        return self._names[turn] if turn >= 0 else ""


def begins_turn(sentence: str, text: str) -> bool:
    """Tell whether a sentence begins with a speaker: “Ann Lee:”, whom the text around it names
    again, or with whom it names somebody else. “Note:” hardly comes twice.
    """
    return any(start == 0 for start, _ in _labels(f"{sentence} ")) and len(_labels(text)) > 1


def _labels(text: str) -> list[tuple[int, str]]:
    """Return where a text may name a speaker, and the name, whose last word has a capital, too."""
    labels = ((match.start(), match["name"]) for match in _LABEL.finditer(text))
    return [(start, name) for start, name in labels if not name.split()[-1][0].islower()]
