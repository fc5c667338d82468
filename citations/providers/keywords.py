"""Finds keywords as KeyBERT does, at a fraction of its cost.

KeyBERT (Grootendorst, 2020) embeds a text with all of its words and word pairs, and chooses by
maximal marginal relevance (Carbonell and Goldstein, 1998). Here a word's vector is made once a
process, and a pair's is only computed when the mean of its words' is about to be chosen: that costs
the embedding of a dozen short texts or of none. Single words share a direction that longer texts
lack; most of it is subtracted, or else pairs would seem more similar than they are.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.providers.embedding import Embedder, Vector, Vectors
from citations.providers.languages import stop_words

COUNT: Final = 5
DIVERSITY: Final = 0.5  # KeyBERT's usual value
NEAREST: Final = 14  # pairs computed before the first choice
COMMON: Final = 0.8  # share of the words' common direction that is subtracted
ROUNDS: Final = 3  # of choosing and computing
MAX_WORDS: Final = 400  # of a text that are read
MAX_WORD: Final = 40  # characters; longer ones are addresses, or a script without spaces
WORDS_KEPT: Final = 30_000  # 23 MB with 384 dimensions
PAIRS_KEPT: Final = 10_000
AT_ONCE: Final = 256  # terms that are embedded at once

_WORD = re.compile(r"\b\w\w+\b")


class Keywords(Protocol):
    """Finds keywords."""

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return at most ``count`` words and word pairs in lower case, the most relevant first.

        ``vector`` is the text's embedding if known. Raises ``ModelError``.
        """

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Embed the words of similar texts in advance. Raises ``ModelError``."""


class Extractor:
    """KeyBERT's keywords over an embedding model. Thread safe, with a bounded cache."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._words = _VectorCache(embedder, WORDS_KEPT)
        self._pairs = _VectorCache(embedder, PAIRS_KEPT)

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return keywords; ``vector`` is the text's own in this embedder's space."""
        words = _words(text, stop_words(language))
        if not words or count < 1:
            return []
        pairs = sorted(set(map(" ".join, pairwise(words))))
        singles = sorted(set(words))
        vectors = self._words.vectors(singles)
        target = self._embedder.embed_query(text) if vector is None else vector
        common = COMMON * self._words.mean()
        terms = _Terms(target, singles, vectors, pairs, self._pairs, common=common)
        chosen = sorted(terms.choose(count), key=lambda index: -terms.relevance[index])
        return [terms.terms[index] for index in chosen]

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Embed the words of texts, at most ``WORDS_KEPT``."""
        stops, words = stop_words(language), set[str]()
        for text in texts:
            words.update(_words(text, stops))
            if len(words) >= WORDS_KEPT:
                break
        self._words.embed_missing(sorted(words))


class _Terms:
    """Words and pairs of a text, with estimated vectors for pairs until they are computed."""

    def __init__(
        self,
        target: Vector,
        words: Sequence[str],
        vectors: Vectors,
        pairs: Sequence[str],
        cache: "_VectorCache",
        *,
        common: Vector,
    ) -> None:
        self.terms = [*words, *pairs]
        self._cache = cache
        self._target = target
        index_of = {word: index for index, word in enumerate(words)}
        halves = np.array(
            [[index_of[word] for word in pair.split()] for pair in pairs], dtype=np.intp
        ).reshape(-1, 2)
        means = vectors[halves[:, 0]] + vectors[halves[:, 1]] - 2 * common
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        self._vectors: Vectors = np.concatenate([vectors, means])
        self._is_exact = np.arange(len(self.terms)) < len(words)
        self.relevance: NDArray[np.float32] = self._vectors @ target
        pair_indexes = range(len(words), len(self.terms))
        self._compute(index for index in pair_indexes if self.terms[index] in cache)

    def choose(self, count: int) -> list[int]:
        """Return the indexes of the chosen terms."""
        self._compute(np.argsort(-self.relevance)[:NEAREST])
        chosen = self._by_relevance(count)
        for _ in range(ROUNDS):
            if self._is_exact[chosen].all():
                break
            self._compute(chosen)
            chosen = self._by_relevance(count)
        return chosen

    def _compute(self, indexes: Iterable[int]) -> None:
        estimated = [int(index) for index in indexes if not self._is_exact[index]]
        if estimated:
            self._vectors[estimated] = self._cache.vectors([self.terms[i] for i in estimated])
            self._is_exact[estimated] = True
            self.relevance = self._vectors @ self._target

    def _by_relevance(self, count: int) -> list[int]:
        """Choose by maximal marginal relevance.

        (1 - d) relevance to the text - d similarity to the nearest chosen term.
        """
        chosen = [int(np.argmax(self.relevance))]
        similarity = self._vectors @ self._vectors[chosen[0]]
        while len(chosen) < min(count, len(self.terms)):
            scores = (1 - DIVERSITY) * self.relevance - DIVERSITY * similarity
            scores[chosen] = -np.inf
            chosen.append(int(np.argmax(scores)))
            similarity = np.maximum(similarity, self._vectors @ self._vectors[chosen[-1]])
        return chosen


class _VectorCache:
    """A least recently used cache of terms' vectors in half precision. Thread safe."""

    def __init__(self, embedder: Embedder, most: int) -> None:
        self._embedder = embedder
        self._most = most
        self._vectors: OrderedDict[str, NDArray[np.float16]] = OrderedDict()
        self._lock = threading.Lock()
        self._sum = np.zeros(embedder.dimensions, dtype=np.float64)  # of all vectors computed
        self._count = 0

    def __contains__(self, term: str) -> bool:
        return term in self._vectors

    def vectors(self, terms: Sequence[str]) -> Vectors:
        """Return the terms' vectors, shape (n, dimensions)."""
        with self._lock:
            vectors = {term: self._vectors[term] for term in terms if term in self._vectors}
            for term in vectors:
                self._vectors.move_to_end(term)
        missing = [term for term in terms if term not in vectors]
        if missing:
            vectors |= self._embed(missing)
        return np.stack([vectors[term] for term in terms]).astype(np.float32)

    def embed_missing(self, terms: Sequence[str]) -> None:
        """Embed the terms that are not in the cache."""
        missing = [term for term in terms if term not in self]
        for start in range(0, len(missing), AT_ONCE):
            self._embed(missing[start : start + AT_ONCE])

    def mean(self) -> Vector:
        """Return the mean of all vectors computed so far."""
        with self._lock:
            mean: Vector = (self._sum / max(self._count, 1)).astype(np.float32)
        return mean

    def _embed(self, terms: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        vectors = self._embedder.embed_documents(terms)
        new = dict(zip(terms, vectors.astype(np.float16), strict=True))
        with self._lock:
            self._sum += vectors.sum(axis=0)
            self._count += len(terms)
            self._vectors |= new
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)
        return new


def _words(text: str, stops: frozenset[str]) -> list[str]:
    """Return the words of keywords in order, as scikit-learn's CountVectorizer tokenizes."""
    words = (word for word in _WORD.findall(text.lower()) if word not in stops)
    return list(islice((word for word in words if len(word) <= MAX_WORD), MAX_WORDS))
