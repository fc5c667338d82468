"""Breakpoints: how far the subject changes between sentences, by the vectors of their words. Pure.

The sentences before a gap are compared with those behind it (Hearst, "TextTiling: Segmenting text
into multi-paragraph subtopic passages", 1997), the nearest of them most. Words count by their
rarity among the sentences of the source, and their vectors are taken relative to the mean of its
words: what all of it is about tells no part from another.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

WIDTH: Final = 12  # sentences on either side of a gap
FADING: Final = 0.85  # weight of a sentence, relative to the one that is nearer to the gap
BATCH: Final = 4_096  # sentences whose vectors are in memory
DIGITS: Final = 4  # of a distance: smaller differences are noise of the arithmetic

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]


class WordVectors(Protocol):
    """Vectors of words, or of the parts of words that a model reads."""

    def ids(self, texts: Sequence[str]) -> Iterator[Ids]:
        """Yield for each text the numbers of its words."""

    def rows(self, ids: Ids) -> Vectors:
        """Return the vectors of words by their numbers, shape (n, dimensions)."""


def distances(sections: Sequence[Sequence[str]], words: WordVectors) -> Iterator[list[float]]:
    """Yield for the sentences of each section their cosine distances to the next one: of the
    weighted sums of up to ``WIDTH`` sentences on either side, within the section. 0 where no word
    tells.
    """
    texts = [text for section in sections for text in section]
    weighted = _WeightedWords.of(list(words.ids(texts)), words)
    first = 0
    for section in sections:
        stop = first + len(section)
        yield [
            distance
            for start in range(first, stop - 1, BATCH)
            for distance in weighted.distances(range(first, stop), start, start + BATCH)
        ]
        first = stop


@dataclass(frozen=True, slots=True, eq=False)
class _WeightedWords:
    """The words of all sentences in one array: sentence i has ``words[ends[i] : ends[i + 1]]``,
    which are rows of ``vectors``.
    """

    words: Ids
    ends: Ids
    vectors: Vectors

    @classmethod
    def of(cls, sentences: Sequence[Ids], words: WordVectors) -> Self:
        ends, n = np.cumsum([0, *map(len, sentences)]), max(1, len(sentences))
        every = np.concatenate([np.zeros(0, np.int64), *sentences])
        different, places = np.unique(every, return_inverse=True)
        pairs = np.unique(places * n + np.repeat(np.arange(len(sentences)), np.diff(ends)))
        having = np.bincount(pairs // n, minlength=len(different))
        rarity = np.maximum(0, np.log((n + 1) / (having + 0.5)))
        share = rarity * np.bincount(places, minlength=len(different))
        vectors = words.rows(different)
        mean = share @ vectors / max(float(share.sum()), 1e-9)
        return cls(places, ends, ((vectors - mean) * rarity[:, None]).astype(np.float32))

    def distances(self, section: range, start: int, stop: int) -> list[float]:
        """Return the distances at the ends of sentences from ``start`` to before ``stop``."""
        gaps = range(start, min(stop, section.stop - 1))
        sums = self._sums(section, range(gaps.start + 1 - WIDTH, gaps.stop + WIDTH))
        left, right = np.zeros((2, len(gaps), self.vectors.shape[1]))
        for away in range(WIDTH):
            nearest = WIDTH - 1
            left += FADING**away * sums[nearest - away :][: len(gaps)]
            right += FADING**away * sums[nearest + 1 + away :][: len(gaps)]
        lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
        is_told = lengths > 1e-6
        cosines = (left * right).sum(axis=1) / np.where(is_told, lengths, 1)
        return [round(value, DIGITS) for value in np.where(is_told, 1 - cosines, 0.0).tolist()]

    def _sums(self, section: range, sentences: range) -> NDArray[np.float64]:
        """Return the sums of the vectors of sentences, 0 outside of the section."""
        sums = np.zeros((len(sentences), self.vectors.shape[1]))
        for row, sentence in enumerate(sentences):
            if sentence in section:
                own = self.words[self.ends[sentence] : self.ends[sentence + 1]]
                sums[row] = self.vectors[own].sum(axis=0)
        return sums
