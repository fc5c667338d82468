"""Summarize a text in a few of its own sentences. Pure.

Sentences are central when their words, weighted by rarity in the source, are those of the whole
(centroid, Radev et al., 2004). Maximal marginal relevance (Carbonell and Goldstein, 1998) keeps
them from repeating one another.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.text.sentences import Span, is_punctuated
from citations.text.statements import DEPENDENT, is_whole, standing, without_lead
from citations.text.words import FEW_WORDS, FunctionWords, Words, currency, rarity, words_of

# By level: the number of sentences, and of their characters.
GISTS: Final = {1: (2, 500), 2: (3, 750), 3: (8, 2_000)}
WORTHWHILE: Final = 0.5  # of the best sentence's worth, that another one needs
DIVERSITY: Final = 0.3
LONG_SENTENCE: Final = 300  # characters
FIT: Final = 0.3  # fitness that a sentence needs beside others
ASIDE: Final = 0.4  # fitness of a sentence of words that its source never repeats
OFTEN: Final = 2  # times that a word is repeated, from which on its source is about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, its start in the source, its content words, and whether it is not cut; weighed,
    also the length of its words' vector, and how well it stands for the whole (0 to 1).
    """

    text: str
    start: int
    words: Words
    is_whole: bool = True
    length: float = 1.0
    fitness: float = 1.0


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
    text: str,
    offset: int,
    *,
    split: Callable[[str], list[Span]],
    stops: frozenset[str],
    leading: frozenset[str] = frozenset(),
) -> list[Sentence]:
    """Return the sentences of a text at ``offset``, without ``leading`` words at the beginning."""
    rows = []
    for first, last in split(text):
        whole = text[first:last].strip()
        if sentence := without_lead(whole, leading):
            start = offset + first + text[first:last].rindex(sentence)
            words = words_of(sentence, stops)
            rows.append(Sentence(text=sentence, start=start, words=words, is_whole=is_whole(whole)))
    return rows


def weigh(
    passages: Sequence[Sequence[Sentence]], function_words: FunctionWords
) -> tuple[dict[str, float], list[list[Sentence]]]:
    """Return each word's rarity among the passages, and the weighted sentences."""
    spread = Counter(
        word for passage in passages for word in {word for row in passage for word in row.words}
    )
    counts = Counter(word for passage in passages for row in passage for word in row.words)
    has_stops = is_punctuated(row.text for passage in passages for row in passage)
    rarities = {word: rarity(count, len(passages)) for word, count in spread.items()}

    def weighed(row: Sentence) -> Sentence:
        is_cut = has_stops and not row.is_whole
        alone = DEPENDENT if is_cut else standing(row.text, function_words)
        repeated = sum(min(1.0, (counts[word] - 1) / OFTEN) for word in row.words)
        relevance = ASIDE + (1 - ASIDE) * repeated / (len(row.words) or 1)
        return replace(row, length=_length(row.words, rarities), fitness=relevance * alone)

    return rarities, [[weighed(row) for row in passage] for passage in passages]


def gist(
    sentences: Sequence[Sentence],
    words: Words,
    rarity: Mapping[str, float],
    *,
    level: int,
    introduction: Sequence[Sentence] = (),
    rate: Callable[[Sequence[Sentence]], Sequence[float]] | None = None,
) -> Gist:
    """Choose sentences for all ``words``, as many as a level has room for, and at least one.

    The first one is taken from the ``introduction``, if one stands alone there: the one that says
    most about the whole, as ``rate`` tells, or else how often the whole has its words. No sentence
    that does not stand alone is added to others.
    """
    most, room = GISTS[level]
    length = _length(words, rarity) or 1.0
    weights = {word: count * rarity[word] ** 2 / length for word, count in words.items()}
    openings = [sentence for sentence in introduction if sentence.fitness >= FIT]
    rates = rate(openings) if rate else [currency(sentence.words, words) for sentence in openings]
    rated = zip(rates, openings, strict=True)
    fittest = max(rated, key=lambda pair: pair[0] * pair[1].fitness, default=None)
    chosen = [fittest[1]] if fittest else []
    begin = chosen[0].start + 1 if chosen else 0
    candidates = [
        sentence for sentence in sentences if sentence.fitness >= FIT and sentence.start >= begin
    ]
    if not candidates and not chosen:
        return Gist(sentences=(max(sentences, key=lambda sentence: _worth(sentence, weights)),))
    worth = {sentence.start: _worth(sentence, weights) for sentence in candidates}
    likeness = dict.fromkeys(worth, 0.0)
    least = WORTHWHILE * max(worth.values(), default=0.0) if level < max(GISTS) else 0.0

    def gain(sentence: Sentence) -> float:
        alike = max((_cosine(sentence, other, rarity) for other in chosen[-1:]), default=0.0)
        likeness[sentence.start] = max(likeness[sentence.start], alike)
        return (1 - DIVERSITY) * worth[sentence.start] - DIVERSITY * likeness[sentence.start]

    while candidates and len(chosen) < most:
        best = max(candidates, key=gain)
        room -= len(best.text)
        if chosen and (room < 0 or worth[best.start] < least):
            break
        chosen.append(best)
        candidates.remove(best)
    return Gist(sentences=tuple(sorted(chosen, key=lambda sentence: sentence.start)))


def _worth(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """Rate a sentence by its closeness to the whole; short and very long ones rate lower."""
    product = sum(count * weights.get(word, 0.0) for word, count in sentence.words.items())
    closeness = product / (sentence.length or 1.0)
    shortness = min(1.0, len(sentence.words) / FEW_WORDS)
    return closeness * sentence.fitness * shortness * min(1.0, LONG_SENTENCE / len(sentence.text))


def _cosine(sentence: Sentence, other: Sentence, rarity: Mapping[str, float]) -> float:
    shared = sentence.words.keys() & other.words.keys()
    return sum(sentence.words[word] * other.words[word] * rarity[word] ** 2 for word in shared) / (
        (sentence.length * other.length) or 1.0
    )


def _length(words: Words, rarity: Mapping[str, float]) -> float:
    return math.sqrt(sum((count * rarity[word]) ** 2 for word, count in words.items()))


Vectors: TypeAlias = NDArray[Any]  # of length 1, in rows
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]


def centrality(texts: Sequence[str], *, whole: Vectors, title: str, embed: Embed) -> list[float]:
    """Rate texts by their cosine with the ``whole``, and with the title as far as the title tells
    what the whole is about: a file name tells nothing.
    """
    if not texts:
        return []
    rows = np.stack(list(embed([*texts, *([title] if title else [])])))
    sentences, heading = rows[: len(texts)], rows[len(texts) :]
    weight = np.maximum(0, heading @ whole).sum()
    rates = sentences @ whole + weight * (sentences @ heading.T).sum(axis=1)
    return [float(rate) for rate in rates]
