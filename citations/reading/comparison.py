"""How far two captions of one recording have the same words, such as heard ones and YouTube's."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz.distance import Levenshtein

from transcripts.text import tokenizer
from transcripts.text.cues import Cue

WINDOW: Final = 60_000  # ms that are compared at once: hours at once would take gigabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Of ``words``, how many differ; ``worst`` is the minute (ms) where the most do."""

    words: int
    differing: int
    worst: int

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.differing / max(1, self.words)))


def compare(cues: Sequence[Cue], others: Sequence[Cue]) -> Comparison:
    """Count the words of ``cues`` that are missing, added or others in ``others``, minute by
    minute; a few at the borders of minutes count, though they are the same.
    """
    own, other = _windows(cues), _windows(others)
    numbers = sorted({*own, *other})
    counts = {number: Levenshtein.distance(own[number], other[number]) for number in numbers}
    return Comparison(
        words=sum(map(len, own.values())),
        differing=sum(counts.values()),
        worst=WINDOW * max(counts, key=lambda number: counts[number], default=0),
    )


def _windows(cues: Sequence[Cue]) -> defaultdict[int, list[str]]:
    words: defaultdict[int, list[str]] = defaultdict(list)
    for cue in cues:
        words[cue.start // WINDOW] += tokenizer.tokenize(cue.text, shortest=1)
    return words
