"""Embedding models of Voyage AI, of OpenAI and compatible servers, and of Ollama."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from citations import conf
from citations.errors import InvalidProvider, ModelServerError
from citations.providers.http import ModelServer
from citations.providers.server_errors import Refusal, ServerNames, ollama_model_missing
from transcripts.core.sanitize import clean
from transcripts.core.stages import timed

Vectors: TypeAlias = NDArray[np.float32]
_QUERIES_KEPT: Final = 256
_QUERY_TRIES: Final = 2  # a user waits for the search


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModelFacts:
    """A model's vector length, and its prefixes for queries and documents."""

    dimensions: int
    query: str = ""
    document: str = ""


_FACTS: Final = {
    "voyage": {
        f"voyage-{name}": EmbeddingModelFacts(dimensions=1024)
        for name in ("3-large", "3.5", "3.5-lite", "4-large", "4", "4-lite")
    },
    "openai": {
        "text-embedding-3-large": EmbeddingModelFacts(dimensions=3072),
        "text-embedding-3-small": EmbeddingModelFacts(dimensions=1536),
        "text-embedding-ada-002": EmbeddingModelFacts(dimensions=1536),
    },
    "ollama": {
        "mxbai-embed-large": EmbeddingModelFacts(
            dimensions=1024, query="Represent this sentence for searching relevant passages: "
        ),
        "nomic-embed-text": EmbeddingModelFacts(
            dimensions=768, query="search_query: ", document="search_document: "
        ),
        "bge-m3": EmbeddingModelFacts(dimensions=1024),
        "all-minilm": EmbeddingModelFacts(dimensions=384),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Most texts and bytes of a request, and most bytes of a text. A token has at least a byte."""

    texts: int
    together: int
    each: int


_LIMITS: Final = {
    # Of the service: 1,000 texts, 120,000 tokens, 32,000 a text.
    "voyage": RequestLimits(texts=128, together=120_000, each=32_000),
    # 2,048 texts, 300,000 tokens, 8,191 a text.
    "openai": RequestLimits(texts=256, together=300_000, each=8_190),
    # None, but 16 texts keep a processor busy for some seconds.
    "ollama": RequestLimits(texts=16, together=100_000, each=32_000),
}


def identity(provider: str, model: str = "", dimensions: int = 0) -> tuple[str, int]:
    """Return a model's name and its vectors' length. Raises ``InvalidProvider``."""
    name = (model or next(iter(_FACTS[provider]))).removesuffix(":latest")
    facts = _facts(provider, name)
    if not facts and not dimensions:
        names = ", ".join(_FACTS[provider])
        raise InvalidProvider(
            f"The length of the vectors of {name} is not known.",
            hint=f"Set EMBEDDING_DIMENSIONS, or EMBEDDING_MODEL to one of these: {names}.",
        )
    return name, dimensions or (facts.dimensions if facts else 0)


def embedder(provider: str, model: str = "", dimensions: int = 0) -> "HostedEmbedder":
    """Return the embedder of ``voyage``, ``openai`` or ``ollama``. Sends no request.

    Raises ``InvalidProvider`` for an unknown model without dimensions, a missing key or an invalid
    address.
    """
    name, length = identity(provider, model, dimensions)
    return _CLASSES[provider](provider, name, length)


def ollama_models() -> dict[str, int]:
    """Return Ollama's models with their sizes in bytes. Raises ``ModelServerError``."""
    answer = _server("ollama").get("/api/tags", _Tags, tries=1)
    return {tag.name.removesuffix(":latest"): tag.size for tag in answer.models}


class _Vector(BaseModel):
    embedding: list[float]
    index: int


class _Listed(BaseModel):
    data: list[_Vector]


class _Embeddings(BaseModel):
    embeddings: list[list[float]]


class _Tag(BaseModel):
    name: str
    size: int = 0


class _Tags(BaseModel):
    models: list[_Tag]


class HostedEmbedder(ABC):
    """An embedding model behind an API, with vectors of length 1. Thread safe.

    Raises ``ModelServerError`` without usable vectors, ``ModelRefused`` if the server refuses, and
    ``ModelMissing`` if Ollama lacks the model.
    """

    def __init__(self, provider: str, model: str, dimensions: int) -> None:
        self.provider, self.model, self.dimensions = provider, model, dimensions
        self._facts = _facts(provider, model) or EmbeddingModelFacts(dimensions=dimensions)
        self._limits = _LIMITS[provider]
        self._server = _server(provider)
        self._query = lru_cache(_QUERIES_KEPT)(self._embed_query)

    def __repr__(self) -> str:
        return f"<{self.provider}:{self.model}>"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``texts``, float32 (n, dimensions). Truncates long texts."""
        return self._embed_all([self._facts.document + text for text in texts], "document", 0)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, float32 (dimensions,), read-only and cached."""
        return self._query(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, float32 (n, dimensions), with one retry only."""
        return self._embed_all([self._facts.query + text for text in texts], "query", _QUERY_TRIES)

    def _embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_queries([text])[0]
        vector.setflags(write=False)
        return vector

    def _embed_all(self, texts: Sequence[str], kind: str, tries: int) -> Vectors:
        truncated = [_truncated(text, self._limits.each) for text in texts]
        parts = [
            self._timed_request(batch, kind, tries) for batch in _batches(truncated, self._limits)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def _timed_request(self, texts: list[str], kind: str, tries: int) -> Vectors:
        with timed("model", f"{self.provider}:{self.model}"):
            return self._checked(self._request(texts, kind, tries), len(texts))

    @abstractmethod
    def _request(self, texts: list[str], kind: str, tries: int) -> list[list[float]]: ...

    def _body(self, texts: list[str], dimensions: str, **options: Any) -> dict[str, Any]:
        """Return a request; ``dimensions`` names the field for a length that is not the default."""
        is_default = self.dimensions == self._facts.dimensions
        length = {} if is_default else {dimensions: self.dimensions}
        return {"model": self.model, "input": texts, **options, **length}

    def _listed(self, body: dict[str, Any], tries: int) -> list[list[float]]:
        answer = self._server.post("/embeddings", body, _Listed, tries=tries)
        ordered = sorted(answer.data, key=lambda vector: vector.index)
        if [vector.index for vector in ordered] != list(range(len(ordered))):
            raise self._invalid("does not number its vectors")
        return [vector.embedding for vector in ordered]

    def _checked(self, rows: list[list[float]], count: int) -> Vectors:
        """Return unit vectors. Raises ``ModelServerError`` for a wrong number or wrong values."""
        if len(rows) != count:
            raise self._invalid(f"gave {len(rows)} vectors for {count} texts")
        if other := {len(row) for row in rows} - {self.dimensions}:
            raise self._invalid(f"gives vectors of {other.pop()} numbers, not {self.dimensions}")
        vectors = np.asarray(rows, np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise self._invalid("gave a vector of zero or infinite length")
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit

    def _invalid(self, fault: str) -> ModelServerError:
        return ModelServerError(
            f"{self.model} at {self._server.names.server} {fault}.",
            hint="Check EMBEDDING_MODEL and EMBEDDING_DIMENSIONS.",
        )


class VoyageEmbedder(HostedEmbedder):
    def _request(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        options = {"input_type": kind, "truncation": True, "output_dtype": "float"}
        return self._listed(self._body(texts, "output_dimension", **options), tries)


class OpenAiEmbedder(HostedEmbedder):
    """A model of OpenAI, or of a compatible server."""

    def _request(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        return self._listed(self._body(texts, "dimensions", encoding_format="float"), tries)


class OllamaEmbedder(HostedEmbedder):
    def _request(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        try:
            return self._embed(texts, tries)
        except Refusal as refusal:
            if refusal.status != 400 or "length" not in refusal.reason:
                raise
        # One by one: how a text is truncated must not depend on its neighbours.
        return [self._embed_truncated(text, tries) for text in texts]

    def _embed_truncated(self, text: str, tries: int) -> list[float]:
        """Halve a text until the model takes it; only some versions of Ollama truncate."""
        while True:
            try:
                return next(iter(self._embed([text], tries)), [])
            except Refusal as refusal:
                if refusal.status != 400 or "length" not in refusal.reason or len(text) < 2:
                    raise
                text = text[: len(text) // 2]

    def _embed(self, texts: list[str], tries: int) -> list[list[float]]:
        body = self._body(texts, "dimensions", truncate=True)
        try:
            return self._server.post("/api/embed", body, _Embeddings, tries=tries).embeddings
        except Refusal as refusal:
            is_missing = refusal.status == 404 and refusal.reason
            raise (ollama_model_missing(self.model) if is_missing else refusal) from None


_CLASSES: Final[dict[str, type[HostedEmbedder]]] = {
    "voyage": VoyageEmbedder,
    "openai": OpenAiEmbedder,
    "ollama": OllamaEmbedder,
}


def _facts(provider: str, model: str) -> EmbeddingModelFacts | None:
    return _FACTS[provider].get(model) or _FACTS[provider].get(model.partition(":")[0])


def _server(provider: str) -> ModelServer:
    names = {
        "voyage": ServerNames(server="Voyage AI", key="VOYAGE_API_KEY", address="VOYAGE_BASE_URL"),
        "openai": ServerNames(server="OpenAI", key="OPENAI_API_KEY", address="OPENAI_BASE_URL"),
        "ollama": ServerNames(server="Ollama", key="", address="OLLAMA_BASE_URL"),
    }[provider]
    remote = conf.remote(provider)
    if (
        names.key
        and not remote.key
        and (urlsplit(remote.base_url).hostname or "") in {"api.voyageai.com", "api.openai.com"}
    ):
        raise InvalidProvider(
            f"{names.server} requires a key, and {names.key} is empty.",
            hint=f"Set {names.key}, or choose another EMBEDDING_PROVIDER.",
        )
    return ModelServer(names, remote)


def _truncated(text: str, limit: int) -> str:
    """Truncate a text to ``limit`` bytes; "." if it is empty, as servers refuse that."""
    return clean(text, limit).encode()[:limit].decode(errors="ignore") or "."


def _batches(texts: list[str], limits: RequestLimits) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == limits.texts or size + length > limits.together):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch
