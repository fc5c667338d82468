"""Summarize a text in a few of its own sentences, and name it. Pure.

Sentences are central when their words, weighted by rarity in the source, are those of the whole
(centroid, Radev et al., 2004). Maximal marginal relevance (Carbonell and Goldstein, 1998) keeps
them from repeating one another.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from citations.text.sentences import Span
from transcripts.tokenizer import tokenize

Words = Counter[str]

# By level: the number of sentences, and of their characters.
GISTS: Final = {1: (2, 500), 2: (4, 1_000), 3: (8, 2_000)}
DIVERSITY: Final = 0.3
FEW_WORDS: Final = 6  # content words; sentences with fewer rate lower
LONG: Final = 300  # characters
TITLE_WORDS: Final = 3
# Spoken fillers, and what is left of words with an apostrophe.
FILLERS: Final = frozenset(Path(__file__).with_name("fillers.txt").read_text().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, its start in the source, its content words, and their weight vector's length."""

    text: str
    start: int
    words: Words
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gist:
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The sentences' spans in the source's text."""
        return tuple(
            (sentence.start, sentence.start + len(sentence.text)) for sentence in self.sentences
        )


def sentences_of(
    text: str, offset: int, *, split: Callable[[str], list[Span]], stops: frozenset[str]
) -> list[tuple[str, int, Words]]:
    """Return the sentences of a text at ``offset``: text, start, words without ``stops``."""
    rows = []
    for first, last in split(text):
        if sentence := text[first:last].strip():
            start = offset + last - len(text[first:last].lstrip())
            rows.append((sentence, start, words_of(sentence, stops)))
    return rows


def words_of(text: str, stops: frozenset[str]) -> Words:
    return Words(
        word
        for word in tokenize(text)
        if word not in stops and word not in FILLERS and not word.isdigit()
    )


def weigh(
    passages: Sequence[Sequence[tuple[str, int, Words]]],
) -> tuple[dict[str, float], list[list[Sentence]]]:
    """Return each word's rarity among the passages, log(1 + passages / passages with it), and the
    weighted sentences.
    """
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
    """Choose up to ``most`` sentences of ``room`` characters, at least one, for all ``words``."""
    length = _length(words, rarity) or 1.0
    weights = {word: count * rarity[word] ** 2 / length for word, count in words.items()}
    worth = [_worth(sentence, weights) for sentence in sentences]
    likeness = [0.0] * len(sentences)
    chosen: list[int] = []
    while len(chosen) < min(most, len(sentences)):
        best = max(
            (index for index in range(len(sentences)) if index not in chosen),
            key=lambda index: (1 - DIVERSITY) * worth[index] - DIVERSITY * likeness[index],
        )
        room -= len(sentences[best].text)
        if chosen and room < 0:
            break
        chosen.append(best)
        likeness = [
            max(known, _cosine(sentence, sentences[best], rarity))
            for known, sentence in zip(likeness, sentences, strict=True)
        ]
    return Gist(sentences=tuple(sentences[index] for index in sorted(chosen)))


def titles(siblings: Sequence[Words]) -> list[str]:
    """Name each sibling by the words that it has often and its siblings rarely."""
    spread = Counter(word for words in siblings for word in words)
    rarity = {word: math.log(1 + len(siblings) / count) for word, count in spread.items()}
    return [
        named({word: count * rarity[word] for word, count in words.items()}) for words in siblings
    ]


def named(worth: Mapping[str, float]) -> str:
    return ", ".join(sorted(worth, key=lambda word: (-worth[word], word))[:TITLE_WORDS])


def _worth(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """Rate a sentence by its closeness to the whole; short and very long ones rate lower."""
    product = sum(count * weights.get(word, 0.0) for word, count in sentence.words.items())
    closeness = product / (sentence.length or 1.0)
    return (
        closeness * min(1.0, len(sentence.words) / FEW_WORDS) * min(1.0, LONG / len(sentence.text))
    )


def _cosine(sentence: Sentence, other: Sentence, rarity: Mapping[str, float]) -> float:
    shared = sentence.words.keys() & other.words.keys()
    return sum(sentence.words[word] * other.words[word] * rarity[word] ** 2 for word in shared) / (
        (sentence.length * other.length) or 1.0
    )


def _length(words: Words, rarity: Mapping[str, float]) -> float:
    return math.sqrt(sum((count * rarity[word]) ** 2 for word, count in words.items()))
