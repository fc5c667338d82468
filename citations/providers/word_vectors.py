"""The vectors that a model has of parts of words before it reads them: no model is run for them."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from citations.providers import weights
from citations.providers.encoders import READ_AT_ONCE, replace_surrogates, tokenizer
from citations.providers.openvino_graph import StoredWeights
from citations.text.breakpoints import Ids, Vectors

TABLE: Final = "embeddings.word_embeddings.weight"
FAKES, LENGTH = 4_096, 64  # different words of the fake, and numbers of a vector


class WordPieceVectors:
    """Those of all-MiniLM-L6-v2, whose pieces write any language. Thread safe.

    Raises ``ModelMissing`` and ``ModelError``.
    """

    def __init__(self) -> None:
        folder = weights.find(weights.MINILM)
        self._tokenizer = tokenizer(folder)
        self._table = StoredWeights(folder).encoder(TABLE)

    def ids(self, texts: Sequence[str]) -> Iterator[Ids]:
        """Yield for each text the numbers of its pieces."""
        for start in range(0, len(texts), READ_AT_ONCE):
            cleaned = [*map(replace_surrogates, texts[start : start + READ_AT_ONCE])]
            encoded = self._tokenizer.encode_batch_fast(cleaned, add_special_tokens=False)
            yield from (np.array(text.ids, np.int64) for text in encoded)

    def rows(self, ids: Ids) -> Vectors:
        """Return the vectors of pieces by their numbers."""
        vectors: Vectors = self._table[ids]
        return vectors


class HashedWordVectors:
    """A fake for tests: words have random directions."""

    def ids(self, texts: Sequence[str]) -> Iterator[Ids]:
        """Yield for each text the numbers of its words."""
        for text in texts:
            words = re.findall(r"\w+", text.casefold())
            yield np.array([sum(word.encode()) * 31 % FAKES for word in words], np.int64)

    def rows(self, ids: Ids) -> Vectors:
        """Return the vectors of words by their numbers."""
        directions = [np.random.default_rng(number).standard_normal(LENGTH) for number in ids]
        return np.array(directions, np.float32).reshape(len(ids), LENGTH)
