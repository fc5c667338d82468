"""What a text says, in a few of its own sentences; and what it may be called. Pure.

Sentences are central when their words, weighed by how rare they are in the source, are those of the whole (the centroid of Radev et al., 2004), and they are
chosen by maximal marginal relevance (Carbonell and Goldstein, 1998), so that none says what another said.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from citations.text.sentences import Span
from transcripts.tokenizer import tokenize

Words = Counter[str]

GISTS: Final = {
    1: (2, 500),
    2: (4, 1_000),
    3: (8, 2_000),
}  # by level: sentences, and characters of them
DIVERSITY: Final = 0.3
FEW_WORDS: Final = 6  # that say something; a sentence of fewer says less than it seems to
LONG: Final = 300  # characters
TITLE_WORDS: Final = 3
FILLERS: Final = (
    frozenset(  # what is said while one thinks, and what is left of words with an apostrophe
        [
            *(
                "um",
                "uh",
                "er",
                "erm",
                "hmm",
                "mm",
                "mhm",
                "huh",
                "ah",
                "oh",
                "yeah",
                "yep",
                "okay",
                "ok",
                "like",
                "gonna",
                "wanna",
                "gotta",
                "kinda",
                "sorta",
            ),
            *(
                "just",
                "really",
                "actually",
                "basically",
                "maybe",
                "thing",
                "things",
                "stuff",
                "lot",
                "bit",
                "know",
                "think",
                "say",
                "said",
                "going",
                "let",
                "want",
            ),
            *(
                "right",
                "don",
                "doesn",
                "didn",
                "isn",
                "wasn",
                "aren",
                "weren",
                "won",
                "wouldn",
                "couldn",
                "shouldn",
                "haven",
                "hasn",
                "hadn",
                "ain",
                "ll",
                "ve",
                "re",
            ),
        ]
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence and where it starts in the source's text; its ``words`` that say something; ``length`` of their weights as a vector."""

    text: str
    start: int
    words: Words
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    """Some sentences of a text, in their order."""

    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        """Them, joined by blanks."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where they stand in the source's text."""
        return tuple(
            (sentence.start, sentence.start + len(sentence.text)) for sentence in self.sentences
        )


def sentences_of(
    text: str, offset: int, *, split: Callable[[str], list[Span]], stops: frozenset[str]
) -> list[tuple[str, int, Words]]:
    """Return the sentences of a text that starts at ``offset`` of the source's: each with its place there and its words but for ``stops``."""
    found = []
    for first, last in split(text):
        sentence = text[first:last].strip()
        if sentence:
            place = offset + first + len(text[first:last]) - len(text[first:last].lstrip())
            found.append((sentence, place, words_of(sentence, stops)))
    return found


def words_of(text: str, stops: frozenset[str]) -> Words:
    """Count the words of a text that say something."""
    return Words(
        word
        for word in tokenize(text)
        if word not in stops and word not in FILLERS and not word.isdigit()
    )


def weigh(
    passages: Sequence[Sequence[tuple[str, int, Words]]],
) -> tuple[dict[str, float], list[list[Sentence]]]:
    """Say how rare each word is among the passages of a source (the logarithm of one and the share's inverse), and how long that makes each sentence."""
    spread = Counter(
        word for passage in passages for word in {word for _, _, words in passage for word in words}
    )
    rarity = {word: math.log(1 + len(passages) / count) for word, count in spread.items()}
    return rarity, [
        [
            Sentence(text=text, start=start, words=words, length=_length(words, rarity))
            for text, start, words in passage
        ]
        for passage in passages
    ]


def gist(
    sentences: Sequence[Sentence], words: Words, rarity: Mapping[str, float], most: int, room: int
) -> Gist:
    """Choose at most ``most`` sentences with at most ``room`` characters together, at least one; ``words`` are those of the whole."""
    worth = _worths(sentences, words, rarity)
    likeness = [0.0] * len(sentences)
    chosen: list[int] = []
    while len(chosen) < min(most, len(sentences)):
        place = max(
            range(len(sentences)),
            key=lambda one: (
                -math.inf
                if one in chosen
                else (1 - DIVERSITY) * worth[one] - DIVERSITY * likeness[one]
            ),
        )
        room -= len(sentences[place].text)
        if chosen and room < 0:
            break
        chosen.append(place)
        likeness = [
            max(known, _cosine(one, sentences[place], rarity))
            for known, one in zip(likeness, sentences, strict=True)
        ]
    return Gist(sentences=tuple(sentences[place] for place in sorted(chosen)))


def titles(siblings: Sequence[Words]) -> list[str]:
    """Name each of them by the words that it has often and its siblings rarely."""
    spread = Counter(word for words in siblings for word in words)
    rarity = {word: math.log(1 + len(siblings) / count) for word, count in spread.items()}
    return [
        named({word: count * rarity[word] for word, count in words.items()}) for words in siblings
    ]


def named(worth: Mapping[str, float]) -> str:
    """Return the words that are worth most."""
    return ", ".join(sorted(worth, key=lambda word: (-worth[word], word))[:TITLE_WORDS])


def _worths(
    sentences: Sequence[Sentence], words: Words, rarity: Mapping[str, float]
) -> list[float]:
    length = _length(words, rarity) or 1.0
    weights = {word: count * rarity[word] ** 2 / length for word, count in words.items()}
    return [_worth(sentence, weights) for sentence in sentences]


def _worth(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """Rate a sentence by its nearness to the whole; short and very long ones are worth less."""
    nearness = sum(count * weights.get(word, 0.0) for word, count in sentence.words.items()) / (
        sentence.length or 1.0
    )
    return (
        nearness * min(1.0, len(sentence.words) / FEW_WORDS) * min(1.0, LONG / len(sentence.text))
    )


def _cosine(one: Sentence, other: Sentence, rarity: Mapping[str, float]) -> float:
    shared = one.words.keys() & other.words.keys()
    return sum(one.words[word] * other.words[word] * rarity[word] ** 2 for word in shared) / (
        (one.length * other.length) or 1.0
    )


def _length(words: Words, rarity: Mapping[str, float]) -> float:
    return math.sqrt(sum((count * rarity[word]) ** 2 for word, count in words.items()))
