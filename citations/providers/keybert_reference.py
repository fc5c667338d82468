"""KeyBERT's keywords by KeyBERT itself: for who wants exactly its choice and has the time. Importing this loads torch: seconds, and hundreds of megabytes."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from keybert import KeyBERT
from keybert.backend import BaseEmbedder

from citations.providers.embedding import Embedder, Vector, Vectors
from citations.providers.keywords import COUNT, DIVERSITY, MOST_WORDS
from citations.providers.stopwords import stop_words

PAIRS: Final = (1, 2)  # words of a keyword, least and most


class KeyBertBackend(BaseEmbedder):  # type: ignore[misc]
    """An embedding model of ours, as KeyBERT asks one."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, documents: Sequence[str], verbose: bool = False) -> Vectors:
        """Return the vectors of texts, shape (n, dimensions). Raises ``ModelError``."""
        return self._embedder.embed_documents(list(documents))


class KeyBertKeywords:
    """The library's own keywords over an embedding model of ours. Thread safe; it learns nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self._keybert = KeyBERT(model=KeyBertBackend(embedder))

    def extract(
        self, text: str, *, vector: Vector | None = None, language: str = "en", count: int = COUNT
    ) -> list[str]:
        """Return keywords of the first ``MOST_WORDS`` words. ``vector`` is the text's own in the embedder's space, where it is there already."""
        if count < 1:
            return []
        found = self._keybert.extract_keywords(
            " ".join(text.split()[:MOST_WORDS]),
            keyphrase_ngram_range=PAIRS,
            stop_words=sorted(stop_words(language)),
            use_mmr=True,
            diversity=DIVERSITY,
            top_n=count,
            doc_embeddings=None if vector is None else np.asarray(vector)[np.newaxis],
        )
        return [term for term, _ in found]

    def warm(self, texts: Iterable[str], *, language: str = "en") -> None:
        """Learn nothing: every window is embedded anew, whatever was said before."""
