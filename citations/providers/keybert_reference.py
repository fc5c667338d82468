"""Keywords by KeyBERT itself: exactly its choice, but slower.

Importing this loads torch, which takes seconds and hundreds of megabytes.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from keybert import KeyBERT
from keybert.backend import BaseEmbedder

from citations.providers.embedding import Embedder, Vector, Vectors
from citations.providers.keywords import COUNT, DIVERSITY, MAX_WORDS
from citations.providers.languages import stop_words

WORDS_RANGE: Final = (1, 2)  # of a keyword


class KeyBertBackend(BaseEmbedder):
    """Lets KeyBERT use one of our embedding models."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, documents: Sequence[str], verbose: bool = False) -> Vectors:
        """Return the vectors of texts, shape (n, dimensions). Raises ``ModelError``."""
        return self._embedder.embed_documents(list(documents))


class KeyBertKeywords:
    """KeyBERT's keywords over one of our embedding models. Thread safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._keybert = KeyBERT(model=KeyBertBackend(embedder))

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return keywords of the first ``MAX_WORDS`` words; see ``Keywords``."""
        if count < 1:
            return []
        terms = self._keybert.extract_keywords(
            " ".join(text.split()[:MAX_WORDS]),
            keyphrase_ngram_range=WORDS_RANGE,
            stop_words=sorted(stop_words(language)),
            use_mmr=True,
            diversity=DIVERSITY,
            top_n=count,
            doc_embeddings=None if vector is None else np.asarray(vector)[np.newaxis],
        )
        return [term for term, _ in terms]

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Do nothing, as KeyBERT caches nothing."""
