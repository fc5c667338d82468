"""Who speaks in a recording whose captions name speakers, and what each says. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from citations.reading.spoken_text import SpokenSentence, SpokenText

MOST: Final = 12  # speakers to choose from


@dataclass(frozen=True, slots=True)
class Speech:
    """What somebody says until another speaker begins."""

    name: str
    sentences: tuple[SpokenSentence, ...]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody who speaks, and how many times."""

    name: str
    count: int


def speeches(text: SpokenText) -> list[Speech]:
    """Return what named speakers say, in order; what others say belongs to none."""
    turns = groupby(text.sentences, key=lambda sentence: text.turns.turn_at(sentence.first))
    return [Speech(turn.name, tuple(sentences)) for turn, sentences in turns if turn.name]


def speakers(every: Sequence[Speech]) -> list[Speaker]:
    """Return who speaks most, in order of their first turn."""
    counts = Counter(speech.name for speech in every)
    frequent = dict(counts.most_common(MOST))
    return [Speaker(name, count) for name, count in counts.items() if name in frequent]
