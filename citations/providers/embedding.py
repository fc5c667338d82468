"""Embedding models of this machine, and a deterministic fake for tests."""

import hashlib
import logging
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.encoders import TextEncoder, TorchEncoder
from citations.providers.openvino_graph import UnknownArchitecture
from citations.providers.weights import ModelConfig

Vector: TypeAlias = NDArray[np.float32]
Vectors: TypeAlias = NDArray[np.float32]
QUERIES_KEPT: Final = 256
logger = logging.getLogger(__name__)


class DocumentVectors(np.ndarray[tuple[int, int], np.dtype[np.float32]]):
    """The vectors of documents without those of ``faults``, whose keys are the documents' indexes;
    the documents of ``cut`` were shortened.
    """

    faults: Mapping[int, ModelError] = MappingProxyType({})
    cut: Set[int] = frozenset()


class Embedder(Protocol):
    """An embedding model. All vectors have length 1 and ``dimensions`` values."""

    @property
    def provider(self) -> str:
        """The provider's name in the settings."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of documents, shape (n, dimensions), as ``DocumentVectors`` where some
        may have none. Raises ``ModelError``.
        """

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, shape (dimensions,). Raises ``ModelError``."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, shape (n, dimensions). Raises ``ModelError``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A local provider's default model, and the length of its vectors."""

    model: str
    dimensions: int


LOCAL: Final = {
    "local": LocalModel(model=weights.MINILM, dimensions=384),
    "e5-small": LocalModel(model=weights.E5_SMALL, dimensions=384),
    "bge": LocalModel(model="BAAI/bge-m3", dimensions=1024),
    "bge-base": LocalModel(model="BAAI/bge-base-en-v1.5", dimensions=768),
}
# Prefixes of queries and of documents that are on a model's card, but not in its files.
PREFIXES: Final = {
    weights.E5_SMALL: ("query: ", "passage: "),
    "BAAI/bge-base-en-v1.5": ("Represent this sentence for searching relevant passages: ", ""),
}


class LocalEmbedder:
    """A model on this machine. Thread safe.

    Raises ``ModelMissing`` without its weights, ``ModelError`` if it cannot be loaded.
    """

    def __init__(self, *, provider: str, model: str) -> None:
        self.provider = provider
        self.model = model
        folder = weights.find(model)
        config = ModelConfig.read(folder)
        self._encoder = _encoder(folder, config)
        self.dimensions = self._encoder.dimensions
        self._query, self._document = PREFIXES.get(model, (config.query, config.document))
        self._cached = lru_cache(QUERIES_KEPT)(self._embed_query)  # for paging and filtering

    def __repr__(self) -> str:
        return f"<{self.provider}:{self.model}>"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.vectors(
            [self._document + text for text in texts] if self._document else texts
        )

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query, read-only and cached."""
        return self._cached(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.vectors([self._query + text for text in texts])

    def _embed_query(self, text: str) -> Vector:
        vector: Vector = self._encoder.vectors([self._query + text])[0]
        vector.setflags(write=False)
        return vector


def identity(provider: str, model: str = "") -> tuple[str, int]:
    """Return a local model's name and its vectors' length. Raises ``ModelMissing``."""
    name = model or LOCAL[provider].model
    local_model = next((local for local in LOCAL.values() if local.model == name), None)
    if local_model:
        return name, local_model.dimensions
    folder = weights.find(name)
    config = ModelConfig.read(folder)
    return name, config.dimensions if config.pooling else TorchEncoder(folder).dimensions


def _encoder(folder: Path, config: ModelConfig) -> TextEncoder | TorchEncoder:
    if not config.pooling or not (folder / "tokenizer.json").is_file():
        return TorchEncoder(folder)
    try:
        return TextEncoder(folder, config)
    except UnknownArchitecture as reason:
        logger.warning(
            "%s runs in torch, which is slower, as we cannot build it (%s)", folder.name, reason
        )
        return TorchEncoder(folder)


class HashEmbedder:
    """A fake for tests: a text's vector is the sum of its words' random directions."""

    provider = "fake"

    def __init__(self, *, model: str = "words", dimensions: int = 64) -> None:
        self.model = model
        self.dimensions = dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts; each ``model`` has other directions."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.stack([self._embed(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        return self._embed(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_documents(texts)

    def _embed(self, text: str) -> Vector:
        words = re.findall(r"\w+", text.casefold()) or [""]
        total = np.sum([_direction(self.model, word, self.dimensions) for word in words], axis=0)
        length = np.linalg.norm(total)
        return (total / length if length else _direction(self.model, "", self.dimensions)).astype(
            np.float32
        )


@lru_cache(maxsize=20_000)
def _direction(model: str, word: str, dimensions: int) -> NDArray[np.float64]:
    seed = hashlib.blake2b(f"{model}\0{word}".encode("utf-8", "replace"), digest_size=8).digest()
    vector = np.random.default_rng(int.from_bytes(seed)).standard_normal(dimensions)
    return vector / np.linalg.norm(vector)
