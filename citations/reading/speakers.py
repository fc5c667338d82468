"""Who speaks in a recording whose captions name speakers, and what each says. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citations.reading.spoken_text import TURN, SpokenSentence, SpokenText
from citations.text.standalone import SPEAKER

FEWEST: Final = 2  # turns: a word before a single colon names nobody
MOST: Final = 12  # speakers to choose from


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """What somebody says until another speaker begins."""

    name: str
    sentences: tuple[SpokenSentence, ...]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody who speaks, and how many times."""

    name: str
    count: int


def turns(text: SpokenText) -> list[SpeakerTurn]:
    """Return the turns of named speakers in order; what others say belongs to none."""
    name = ""
    sentences: list[SpokenSentence] = []
    ended: list[SpeakerTurn] = []
    for sentence in text.sentences:
        named = SPEAKER.match(text.text[sentence.first : sentence.last] + " ")
        if named or text.text.startswith(TURN, sentence.first):
            ended.append(SpeakerTurn(name, tuple(sentences)))
            name, sentences = named[0].strip("> :") if named else "", []
        sentences.append(sentence)
    return [turn for turn in [*ended, SpeakerTurn(name, tuple(sentences))] if turn.name]


def speakers(every: Sequence[SpeakerTurn]) -> list[Speaker]:
    """Return who speaks at least twice, in order of their first turn."""
    counts = Counter(turn.name for turn in every)
    frequent = {name for name, count in counts.most_common(MOST) if count >= FEWEST}
    return [Speaker(name, count) for name, count in counts.items() if name in frequent]
