"""Texts become vectors: the models of this machine, and a deterministic fake for tests."""

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from citations.providers import weights
from citations.providers.encoder import Encoder

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
QUERIES_KEPT = 256


class Embedder(Protocol):
    """A model that embeds. All vectors have length 1; ``dimensions`` values each."""

    @property
    def provider(self) -> str:
        """The provider's name in the settings."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts to be found, shape (n, dimensions). Raises ``ModelError``."""

    def embed_query(self, text: str) -> Vector:
        """Return the vector of what is looked for, shape (dimensions,). Raises ``ModelError``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """What is known of a local provider's usual model."""

    model: str
    dimensions: int
    instruction: str = ""  # what it wants before a query


LOCAL: dict[str, LocalModel] = {
    "local": LocalModel(model=weights.MINILM, dimensions=384),
    "bge": LocalModel(model="BAAI/bge-m3", dimensions=1024),
    "bge-base": LocalModel(model="BAAI/bge-base-en-v1.5", dimensions=768, instruction="Represent this sentence for searching relevant passages: "),
}


class LocalEmbedder:
    """A model on this machine. Raises ``ModelMissing`` where its weights are not here."""

    def __init__(self, *, provider: str, model: str) -> None:
        self.provider = provider
        self.model = model
        self._encoder = Encoder(weights.find(model))
        self._instruction = next((known.instruction for known in LOCAL.values() if known.model == model), "")
        self._queries = RecentQueries(self._embed_query)

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        return self._encoder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts to be found."""
        return self._encoder.vectors(texts)

    def embed_query(self, text: str) -> Vector:
        """Return the vector of what is looked for."""
        return self._queries.get(text)

    def _embed_query(self, text: str) -> Vector:
        vector: Vector = self._encoder.vectors([self._instruction + text])[0]
        return vector


class RecentQueries:
    """The vectors of the queries asked last, so that paging and filtering do not embed again. Thread safe."""

    def __init__(self, embed: Callable[[str], Vector], *, size: int = QUERIES_KEPT) -> None:
        self._embed = embed
        self._size = size
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vector:
        """Return a query's vector, which is not to be written to."""
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        vector = self._embed(text)
        vector.setflags(write=False)
        with self._lock:
            self._kept[text] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector


class HashEmbedder:
    """A fake for tests: each word has a direction of its own, and a text's vector is their sum. Texts that share words are near each other."""

    provider = "fake"

    def __init__(self, *, model: str = "words", dimensions: int = 64) -> None:
        self.model = model
        self.dimensions = dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts; those of another ``model`` point elsewhere."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([self._embed(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Return the same vector that a document of that text has."""
        return self._embed(text)

    def _embed(self, text: str) -> Vector:
        words = re.findall(r"\w+", text.casefold()) or [""]
        total = np.sum([_direction(self.model, word, self.dimensions) for word in words], axis=0)
        length = np.linalg.norm(total)
        return (total / length if length else _direction(self.model, "", self.dimensions)).astype(np.float32)


@lru_cache(maxsize=20_000)
def _direction(model: str, word: str, dimensions: int) -> NDArray[np.float64]:
    seed = hashlib.blake2b(f"{model}\0{word}".encode("utf-8", "replace"), digest_size=8).digest()
    vector = np.random.default_rng(int.from_bytes(seed)).standard_normal(dimensions)
    return vector / np.linalg.norm(vector)
