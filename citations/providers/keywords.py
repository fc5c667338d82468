"""What a passage is about, in a few of its own words: KeyBERT's choice, at a fraction of its cost.

KeyBERT (Grootendorst, 2020) embeds a text and all of its words and pairs of words, and chooses by maximal marginal relevance (Carbonell and
Goldstein, 1998): near to the text, and far from each other. Of its time nearly all goes into embedding some seventy pairs that are never chosen.
Here a word's vector is made once a process; that of a pair is taken to lie between its words' until the pair is about to be chosen, and is only
then made. So one choice costs the embedding of a dozen short texts, or of none. All single words have a direction in common that longer texts do not
have; most of it is taken off, or pairs would seem to be more like each other than they are.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.providers.embedding import Embedder, Vector, Vectors
from citations.providers.stopwords import stop_words

COUNT: Final = 5
DIVERSITY: Final = 0.5  # KeyBERT's usual value
NEAREST: Final = 14  # pairs whose vectors are made before anything is chosen
COMMON: Final = (
    0.8  # of the words' common direction that a pair does not have; measured, see bench/keywords.py
)
ROUNDS: Final = 3  # after which a pair is believed to be where its words are
MOST_WORDS: Final = 400  # of a text; what comes behind them is not read
LONGEST_WORD: Final = 40  # characters; longer ones are addresses, or a script without blanks
WORDS_KEPT: Final = 30_000  # 23 MB with 384 dimensions
PAIRS_KEPT: Final = 10_000

_WORD = re.compile(r"\b\w\w+\b")


class Keywords(Protocol):
    """Something that finds keywords."""

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return at most ``count`` words and pairs of words of the text, lower case, the nearest to its meaning first. Raises ``ModelError``."""

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Learn the words of texts that are like those to come. Raises ``ModelError``."""


class Extractor:
    """KeyBERT's keywords over an embedding model. Thread safe; what it has learnt is bounded."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._words = _Kept(embedder, WORDS_KEPT)
        self._pairs = _Kept(embedder, PAIRS_KEPT)

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return keywords. ``vector`` is the text's own in this embedder's space, where it is there already; else the text is embedded."""
        words = _words(text, stop_words(language))
        if not words or count < 1:
            return []
        pairs = sorted(set(map(" ".join, pairwise(words))))
        singles = sorted(set(words))
        vectors = self._words.vectors(singles)
        about = self._embedder.embed_query(text) if vector is None else vector
        sketch = _Sketch(
            about, singles, vectors, pairs, self._pairs, common=COMMON * self._words.mean()
        )
        chosen = sketch.choose(count)
        return [
            sketch.terms[place]
            for place in sorted(chosen, key=lambda place: -sketch.nearness[place])
        ]

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Learn the words of texts, the first ``WORDS_KEPT`` of them."""
        stops, seen = stop_words(language), set[str]()
        for text in texts:
            seen.update(_words(text, stops))
            if len(seen) >= WORDS_KEPT:
                break
        self._words.learn(sorted(seen))


class _Sketch:
    """Words and pairs of a text around its vector; pairs stand where their words are until they are looked at closely."""

    def __init__(
        self,
        about: Vector,
        words: Sequence[str],
        vectors: Vectors,
        pairs: Sequence[str],
        kept: "_Kept",
        *,
        common: Vector,
    ) -> None:
        self.terms = [*words, *pairs]
        self._kept = kept
        self._about = about
        place_of = {word: place for place, word in enumerate(words)}
        halves = np.array(
            [[place_of[word] for word in pair.split()] for pair in pairs], dtype=np.intp
        ).reshape(-1, 2)
        between = vectors[halves[:, 0]] + vectors[halves[:, 1]] - 2 * common
        between /= np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-9)
        self._vectors: Vectors = np.concatenate([vectors, between])
        self._is_exact = np.arange(len(self.terms)) < len(words)
        self._place(
            [place for place in range(len(words), len(self.terms)) if self.terms[place] in kept]
        )
        self.nearness: NDArray[np.float32] = self._vectors @ about

    def choose(self, count: int) -> list[int]:
        """Return the places of the terms that are chosen."""
        self._place(np.argsort(-self.nearness)[:NEAREST])
        chosen = self._by_relevance(count)
        for _ in range(ROUNDS):
            if self._is_exact[chosen].all():
                break
            self._place(chosen)
            chosen = self._by_relevance(count)
        return chosen

    def _place(self, places: Iterable[int]) -> None:
        """Put pairs where they belong."""
        vague = [int(place) for place in places if not self._is_exact[place]]
        if vague:
            self._vectors[vague] = self._kept.vectors([self.terms[place] for place in vague])
            self._is_exact[vague] = True
            self.nearness = self._vectors @ self._about

    def _by_relevance(self, count: int) -> list[int]:
        """Choose by maximal marginal relevance: (1 - d) nearness to the text - d nearness to what is chosen already."""
        chosen = [int(np.argmax(self.nearness))]
        likeness = self._vectors @ self._vectors[chosen[0]]
        while len(chosen) < min(count, len(self.terms)):
            worth = (1 - DIVERSITY) * self.nearness - DIVERSITY * likeness
            worth[chosen] = -np.inf
            chosen.append(int(np.argmax(worth)))
            likeness = np.maximum(likeness, self._vectors @ self._vectors[chosen[-1]])
        return chosen


class _Kept:
    """Vectors of terms in half precision, made once; the ones that were not asked for longest are forgotten. Thread safe."""

    def __init__(self, embedder: Embedder, most: int) -> None:
        self._embedder = embedder
        self._most = most
        self._vectors: OrderedDict[str, NDArray[np.float16]] = OrderedDict()
        self._lock = threading.Lock()
        self._sum = np.zeros(embedder.dimensions, dtype=np.float64)  # of all that were ever made
        self._count = 0

    def __contains__(self, term: str) -> bool:
        return term in self._vectors

    def vectors(self, terms: Sequence[str]) -> Vectors:
        """Return the terms' vectors, shape (n, dimensions)."""
        found = self._found(terms)
        missing = [term for term in terms if term not in found]
        if missing:
            found |= self._made(missing)
        return np.stack([found[term] for term in terms]).astype(np.float32)

    def learn(self, terms: Sequence[str], *, at_once: int = 256) -> None:
        """Make the vectors of terms that are not there."""
        missing = [term for term in terms if term not in self]
        for start in range(0, len(missing), at_once):
            self._made(missing[start : start + at_once])

    def mean(self) -> Vector:
        """Return the mean of the vectors that were made so far."""
        with self._lock:
            mean: Vector = (self._sum / max(self._count, 1)).astype(np.float32)
        return mean

    def _found(self, terms: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        with self._lock:
            found = {term: self._vectors[term] for term in terms if term in self._vectors}
            for term in found:
                self._vectors.move_to_end(term)
        return found

    def _made(self, terms: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        vectors = self._embedder.embed_documents(terms)
        made = dict(zip(terms, vectors.astype(np.float16), strict=True))
        with self._lock:
            self._sum += vectors.sum(axis=0)
            self._count += len(terms)
            self._vectors |= made
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return made


def _words(text: str, stops: frozenset[str]) -> list[str]:
    """Return the words that may be part of a keyword, in order, as scikit-learn's CountVectorizer finds them."""
    words = (
        word
        for word in _WORD.findall(text.lower())
        if word not in stops and len(word) <= LONGEST_WORD
    )
    return [word for word, _ in zip(words, range(MOST_WORDS), strict=False)]
